"""Score one shard by `learned`: replay its visits, describe its pages, predict, rank by the objective."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.evaluate.work_engine import Shared
from recrawl.fleet.shard_belief import ShardBelief, waited
from recrawl.fleet.shard_candidates import Candidates, Floor, best_of
from recrawl.fleet.shard_files import ShardSet
from recrawl.fleet.shard_scoring import policy_for_shards
from recrawl.fleet.shard_scouts import LEVELS, ScoutCandidates, ScoutNeed, scouts_of_shard
from recrawl.fleet.shard_training import ShardModel
from recrawl.policies.learned.belief import AT_ONCE
from recrawl.policies.learned.gains import gains_by_chance
from recrawl.policies.learned.learned import Learned
from recrawl.policies.selection import rank_keys


@dataclass(frozen=True)
class LearnedTask:
    """What a worker needs to score one shard."""

    shards: ShardSet
    policy: str
    model: Shared  # a ShardModel
    most: int
    site_cap: int
    scouts: ScoutNeed
    number: int
    floor: Floor | None


def score_learned(task: LearnedTask) -> tuple[Candidates, tuple[ScoutCandidates, ...]]:
    """Return the shard's best pages with the groups that a round spreads visits over, and candidates for scouts."""
    shards, model = task.shards, task.model.load()
    assert isinstance(model, ShardModel)
    policy = policy_for_shards(task.policy, shards.seed)
    assert isinstance(policy, Learned)
    memory = shards.memory(task.number, task.site_cap)
    belief = ShardBelief(shards, task.number, memory)
    belief.replay(model.bases, shards.cycle)
    has_copy = belief.history.first[: len(memory)] >= 0
    pages = np.flatnonzero(memory.eligible() & has_copy)
    chance = np.zeros(len(memory))
    worth = np.zeros(len(memory))
    for part in np.array_split(pages, len(pages) // AT_ONCE + 1):
        chance[part] = model.chance(belief, part)
        gains = gains_by_chance(chance[part], waited(belief, part))
        worth[part] = policy.objective.index(chance[part], np.ones(len(part)), gains)
    if memory.importance is not None:
        worth *= memory.importance
    keys = rank_keys(worth, memory, ~has_copy)
    groups = belief.places.ids[: len(memory)][:, LEVELS]
    best = best_of(task.number, memory, keys, chance, task.most, task.floor, groups)
    if not task.scouts.count:
        return best, ()
    return best, scouts_of_shard(task.number, memory, belief, pages, chance, worth, task.scouts)
