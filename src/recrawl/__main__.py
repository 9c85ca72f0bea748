"""`python -m recrawl`."""

import sys

from recrawl.cli import main

if __name__ == "__main__":
    sys.exit(main())
