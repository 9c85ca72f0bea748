"""Benchmarks: speed as a ratio to a peer in the same run. `make bench` runs all, `python -m benchmarks.NAME` one.

Each module has a `main()` that prints what it measured; BENCHMARKS.md records the figures with command and date.
Run them alone on an idle machine.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # some measure against tests/reference
