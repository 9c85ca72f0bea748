"""kill -9 at 500 random moments of a crawl over the replay server: what is lost, doubled or impolite (nothing).

Crawls are killed while they run, and while they rotate WARC files, read sitemaps or train; so are `learn`, `export`,
`prune` and `upgrade`. Afterwards `recrawl run` is started 20 times and killed a second after its first
request, to see how long that takes from the start of the process.

    python -m benchmarks.crash [--kills 500] [--seeds 5] [--starts 20]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from recrawl.recording.recording import Recording
from recrawl.simulate.render import Rendering
from recrawl.simulate.replay import ReplayServer
from support.kill_ordeal import DELAY_S, PAGES, SITES, Ordeal, ordeal
from support.live_crawls import begun, seeds, settings
from support.small_recordings import random_tables

STARTS = 20


def restarts(folder: Path, starts: int) -> tuple[list[float], list[float]]:
    """Start `recrawl run` so often, kill it after its first requests; return seconds to the first, and CPU-seconds."""
    recording = Recording.from_arrays(random_tables(PAGES, 400.0, 1, sites=SITES))
    began, first_s, cpu_s = time.monotonic(), list[float](), list[float]()
    with ReplayServer(Rendering(recording), lambda: min(400.0, 5 * (time.monotonic() - began))) as server:
        crawl = begun(folder / "crawl", seeds(server), settings("learned(objective=freshness)", "25%", DELAY_S))
        words = [sys.executable, "-m", "recrawl", "run", "-C", str(crawl.path), "--every", "0.0000001", "--quiet"]
        for _ in range(starts):
            logged, started = len(server.log), time.monotonic()
            process = subprocess.Popen(words)
            while len(server.log) == logged and time.monotonic() < started + 120:
                time.sleep(0.005)
            first_s.append(time.monotonic() - started)
            ticks = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            cpu_s.append((int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK"))
            time.sleep(1.0)
            process.kill()
            process.wait()
    return first_s, cpu_s


def _line(seed: int, found: Ordeal, seconds: float) -> str:
    return (
        f"seed {seed}: {found.kills} kills {dict(found.killed_in)}, {found.visits} visits in {found.cycles} cycles, "
        f"{found.requests} requests ({found.sitemaps} for sitemaps), {found.fetched_again} fetched again, "
        f"{found.files} WARC files, {found.versions} versions read back, "
        f"shortest gap {found.shortest_gap_s:.4f} s (delay {DELAY_S} s), "
        f"to the first request {median(found.first_request_s):.2f} s (slowest {max(found.first_request_s):.2f}), "
        f"wrong: {found.wrong or 'nothing'} ({seconds:.0f} s)"
    )


def main() -> None:
    """Kill and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=5, help="crawls that share the kills")
    parser.add_argument("--starts", type=int, default=STARTS, help="of `recrawl run`, timed")
    args = parser.parse_args()
    total: list[Ordeal] = []
    for seed in range(1, args.seeds + 1):
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            total.append(ordeal(Path(folder), args.kills // args.seeds, seed, all_ways=True))
        print(_line(seed, total[-1], time.monotonic() - began), flush=True)
    phases = sum((found.killed_in for found in total), Counter[str]())
    named = ", ".join(f"{count} {phase}" for phase, count in phases.most_common())
    print(
        f"{sum(f.kills for f in total)} kills ({named}), "
        f"{sum(f.visits for f in total)} visits, {sum(len(f.wrong) for f in total)} wrong, "
        f"shortest gap {min(f.shortest_gap_s for f in total):.4f} s at a delay of {DELAY_S} s"
    )
    with tempfile.TemporaryDirectory() as folder:
        first_s, cpu_s = restarts(Path(folder), args.starts)
    print(
        f"{len(first_s)} starts of `recrawl run`: to the first request {median(first_s):.2f} s "
        f"(slowest {max(first_s):.2f}), "
        f"CPU {median(cpu_s):.2f} s (most {max(cpu_s):.2f})"
    )


if __name__ == "__main__":
    main()
