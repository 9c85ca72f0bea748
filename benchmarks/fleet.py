"""A fleet on one PostgreSQL: kill -9 and crashes of the database, rates of the inbox, and what a second worker brings.

python -m benchmarks.fleet kills [300]      planner and 4 workers are killed, PostgreSQL crashes 5 times
python -m benchmarks.fleet rate [20]        visits per second that one PostgreSQL carries, for so many seconds
python -m benchmarks.fleet workers [2000]   pages per second of 1 and 2 workers
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.fleet_ordeal import DELAY_S, LEASE_S, fleet_ordeal
from support.postgres_server import local_server


def kills(count: int = 300) -> None:
    """Kill -9 at random, and 5 immediate restarts of the database."""
    with tempfile.TemporaryDirectory() as folder, local_server() as postgres:
        began = time.monotonic()
        found = fleet_ordeal(Path(folder), postgres, kills=count, restarts=min(5, count))
        print(f"{count} kills in {time.monotonic() - began:.0f} s; delay {DELAY_S} s, lease {LEASE_S} s")
        print(json.dumps({**vars(found), "wrong": found.wrong[:20]}, indent=1))


if __name__ == "__main__":
    what, *rest = sys.argv[1:] or ["kills"]
    globals()[what](*map(int, rest))
