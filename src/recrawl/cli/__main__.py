"""`python -m recrawl.cli`."""

import sys

from recrawl.cli import main

sys.exit(main())
