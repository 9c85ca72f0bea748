"""Score one shard: a pure function of its file, the policy and, for `learned`, the model that all shards share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.errors import InputError
from recrawl.fleet.shard_candidates import Candidates, Floor, best_of
from recrawl.fleet.shard_files import ShardSet
from recrawl.policies.catalogue import make_policy
from recrawl.policies.formulas.formula import FormulaScorer
from recrawl.policies.learned.learned import Learned
from recrawl.policies.selection import rank_keys
from recrawl.policies.topk import Bayes, Estimated, LongestUnvisited, PlainRate, Random, TimesChanged, TopK
from recrawl.policy import Policy, Setting

PER_PAGE = (Bayes, Estimated, LongestUnvisited, PlainRate, Random, TimesChanged, FormulaScorer)


@dataclass(frozen=True)
class ScoringTask:
    """What a worker needs to score one shard by a formula over a page's own columns."""

    shards: ShardSet
    number: int
    policy: str
    most: int  # pages to return
    site_cap: int
    floor: Floor | None


def policy_for_shards(spec: str, seed: int) -> TopK | Learned:
    """Make a policy that can be planned in shards; InputError for one that needs all pages at once."""
    policy: Policy = make_policy(spec, Setting(seed=seed))
    if isinstance(policy, Learned):
        if policy.objective.needs_links or policy.wait:
            raise InputError(f"policy {spec!r}: in shards there is no objective links and no limit on waiting")
        return policy
    if isinstance(policy, TopK) and isinstance(policy.scorer, PER_PAGE) and not _by_directory(policy):
        return policy
    names = "age, bayes, cg, nad, sad, aad, gad, tx, rand, gp:FILE or learned"
    raise InputError(f"policy {spec!r} needs all pages at once, so it cannot be planned in shards; take {names}")


def _by_directory(policy: TopK) -> bool:
    return isinstance(policy.scorer, FormulaScorer) and "dir" in policy.scorer.formula.expression.terminals


def score_shard(task: ScoringTask) -> Candidates:
    """Return the shard's best pages, as `TopK` would choose them."""
    shards = task.shards
    policy = policy_for_shards(task.policy, shards.seed)
    assert isinstance(policy, TopK)
    memory = shards.memory(task.number, task.site_cap)
    scores = np.asarray(policy.scorer.score(memory, shards.at), dtype=np.float64)
    worth = scores * memory.importance if policy.weighted and memory.importance is not None else scores
    keys = rank_keys(worth, memory, memory.unfetched())
    return best_of(task.number, memory, keys, scores, task.most, task.floor)
