"""Small crawls in shards, for tests."""

from __future__ import annotations

from recrawl.fleet.planning import ShardedVisit, plan_shards
from recrawl.fleet.shard_files import ShardSet
from recrawl.fleet.shard_writing import Snapshot, of_recording
from recrawl.plan import Plan
from recrawl.recording.recording import Recording
from support.small_recordings import random_tables

COUNTS = (1, 7, 64)
VISITS = 60


def snapshot(pages: int = 600, cycles: int = 9, policy: str = "bayes") -> Snapshot:
    """A random web of 30 sites after some cycles."""
    web = Recording.from_arrays(random_tables(pages, 20.0, 3, sites=30))
    return of_recording(web, Plan(budget=0.15, seed=4), cycles, policy)


def planned(
    shards: ShardSet, policy: str, per_site: int = 0, engine: str = "local", visits: int = VISITS
) -> list[ShardedVisit]:
    """The whole plan."""
    return list(plan_shards(shards, policy, visits, per_site=per_site, engine=engine).visits())
