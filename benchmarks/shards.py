"""Plan a made-up crawl in shards: CPU-seconds, peak memory and bytes per page of each step, in one process.

python -m benchmarks.shards [PAGES, such as 100000000] [--shards K] [--policies bayes,learned] [--folder DIR] [--keep]

Each step runs in a process of its own, so that its peak memory is its own. The folder needs about 200 bytes per page
and is deleted afterwards. With --keep it stays, and fewer --shards than there are plan the crawl of these alone.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from recrawl.fleet.planning import plan_shards
from recrawl.fleet.shard_files import ShardSet
from recrawl.fleet.synthetic_shards import MadeUp, write_synthetic

SHARE = 0.01  # of the pages: the budget


def step(folder: Path, what: str, pages: int, count: int) -> dict[str, Any]:
    """Run one step in this process, and measure it."""
    if what == "write":
        shards = write_synthetic(MadeUp(pages), folder, count)
        told: dict[str, Any] = {"visits": sum(part.visits for part in shards.parts)}
        told["bytes"] = sum(part.pages_bytes + part.visits_bytes for part in shards.parts)
    else:
        whole = ShardSet.open(folder)
        plan = plan_shards(replace(whole, parts=whole.parts[:count]), what, SHARE)
        told = {"planned": len(plan.chosen), "notes": list(plan.notes)}
        pages = plan.shards.pages
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {"step": what, "pages": pages, "cpu_s": round(used.ru_utime + used.ru_stime, 1),
            "peak_gb": round(used.ru_maxrss / 1e6, 2), **told}  # fmt: skip


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--shards", type=int, default=64)
    parser.add_argument("--policies", default="bayes,learned")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--keep", action="store_true", help="keep the shards, and use those that are there")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    args = parser.parse_args(words or [])
    if args.step:
        print(json.dumps(step(args.folder, args.step, args.pages, args.shards)))
        return
    folder = Path(tempfile.mkdtemp(prefix="shards-")) / "shards" if args.folder is None else args.folder
    steps = [*(() if (folder / "shards.json").exists() else ("write",)), *args.policies.split(",")]
    try:
        for what in steps:
            line = [sys.executable, "-m", "benchmarks.shards", str(args.pages), "--shards", str(args.shards)]
            line += ["--folder", str(folder), "--step", what]
            print(subprocess.run(line, check=True, capture_output=True, text=True).stdout.strip(), flush=True)
    finally:
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1:])
