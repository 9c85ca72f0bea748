"""kill -9 at 200 random moments of a crawl over the replay server: what is lost, doubled or impolite (nothing)."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.kill_ordeal import DELAY_S, Ordeal, ordeal

KILLS, SEEDS = 50, (1, 2, 3, 4)


def main() -> None:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else KILLS
    total: list[Ordeal] = []
    for seed in SEEDS:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            found = ordeal(Path(folder), kills, seed)
        total.append(found)
        print(
            f"seed {seed}: {found.kills} kills, {found.visits} visits in {found.cycles} cycles, "
            f"{found.requests} requests, {found.fetched_again} fetched again, "
            f"{found.versions} versions read back, shortest gap {found.shortest_gap_s:.4f} s "
            f"(delay {DELAY_S} s), slowest restart {found.slowest_restart_s:.2f} s, "
            f"wrong: {found.wrong or 'nothing'} ({time.monotonic() - began:.0f} s)",
            flush=True,
        )
    print(f"{sum(f.kills for f in total)} kills, {sum(len(f.wrong) for f in total)} wrong")


if __name__ == "__main__":
    main()
