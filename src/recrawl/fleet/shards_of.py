"""Write shards of a crawl, a recording or a made-up crawl, whichever is named."""

from __future__ import annotations

from pathlib import Path

from recrawl.errors import InputError
from recrawl.extras import extras_named
from recrawl.fleet.shard_files import ShardSet, check_count
from recrawl.plan import Plan
from recrawl.progress import Advance, silent


def shards_of(
    dest: str | Path,
    count: int,
    *,
    crawl: Path | None = None,
    recording: Path | None = None,
    synthetic: int | None = None,
    cycles: int = 20,
    policy: str = "bayes",
    cycle_days: float = 1.0,
    budget: float | int = 0.05,
    warmup: int = 2,
    seed: int = 0,
    jobs: int = 1,
    force: bool = False,
    advance: Advance = silent,
) -> ShardSet:
    """Write shards of one of the three sources into a folder."""
    check_count(count)
    if jobs < 1 or seed < 0 or warmup < 0:
        raise InputError("jobs must be at least 1, seed and warm-up at least 0")
    with extras_named():
        from recrawl.fleet.shard_writing import of_crawl, of_recording, write_shards
        from recrawl.fleet.synthetic_shards import MadeUp, write_synthetic
        from recrawl.live.facade import Crawl
        from recrawl.recording.recording import Recording

        if synthetic is not None:
            share = budget if isinstance(budget, float) else budget / max(synthetic, 1)
            made = MadeUp(synthetic, cycles, share, seed)
            return write_synthetic(made, dest, count, force=force, jobs=jobs, advance=advance)
        if crawl is not None:
            return write_shards(of_crawl(Crawl.open(crawl)), dest, count, f"crawl {crawl}", force=force)
        if recording is None:
            raise InputError("name a crawl, a recording or a number of made-up pages")
        plan = Plan(cycle_days, budget, warmup, seed=seed)
        snapshot = of_recording(Recording.open(recording), plan, cycles, policy)
        return write_shards(snapshot, dest, count, f"recording {recording}", force=force)
