"""Scouts of `learned` over shards: each shard names a page per group that was not visited lately, the merge picks.

Groups that the round visits anyway need no scout, and which these are is known only after the merge. So a shard sends
enough: each page that is taken or sent rules out at most one candidate per level (policies/learned/scouts.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray, IntArray, PageIds
from recrawl.fleet.shard_belief import ShardBelief
from recrawl.fleet.shard_candidates import Candidates
from recrawl.memory import Memory
from recrawl.policies.learned.learned import SCOUTED, Learned
from recrawl.policies.learned.places import DIRECTORY, PARENT, SECTION, SHAPE, SITE
from recrawl.policies.learned.scouts import QUIET, longest_waiting

LEVELS = (SITE, PARENT, SECTION, DIRECTORY, SHAPE)  # of the candidates' groups; a round spreads over the first two


@dataclass(frozen=True)
class ScoutNeed:
    """How many scouts a plan sends, and the size of the round that sends them."""

    count: int
    size: int

    @classmethod
    def of(cls, policy: Learned, visits: int, size: int) -> ScoutNeed:
        """Return the need of a plan: the least share of the budget, since what scouts brought is not known here."""
        return cls(min(int(visits * policy.explore), visits), size)

    def most(self, kind: int) -> int:
        """How many candidates of one of SCOUTED are enough."""
        return len(SCOUTED[kind][0]) * (2 * self.count + self.size)


@dataclass
class ScoutCandidates:
    """A page per group, with what a visit to it would be worth; `level` is a column of the pages' groups."""

    pages: Candidates
    level: IntArray
    value: FloatArray

    def take(self, rows: PageIds) -> ScoutCandidates:
        """Return some of them."""
        return ScoutCandidates(self.pages.take(rows), self.level[rows], self.value[rows])

    def best(self, most: int) -> ScoutCandidates:
        """Return the most valuable, in their order."""
        return self.take(np.lexsort((self.level, self.pages.tie, -self.value))[:most])

    def joined(self, other: ScoutCandidates) -> ScoutCandidates:
        """Return both."""
        return ScoutCandidates(
            Candidates.joined([self.pages, other.pages]),
            np.concatenate([self.level, other.level]),
            np.concatenate([self.value, other.value]),
        )


def scouts_of_shard(
    shard: int,
    memory: Memory,
    belief: ShardBelief,
    pages: PageIds,
    score: FloatArray,
    worth: FloatArray,
    need: ScoutNeed,
) -> tuple[ScoutCandidates, ...]:
    """Return the shard's candidates for each of SCOUTED."""
    ids, quiet = belief.places.ids, belief.evidence.quiet(belief.cycle)
    nobody = np.zeros(len(quiet), dtype=np.bool_)
    out = []
    for kind, (levels, power) in enumerate(SCOUTED):
        found: list[PageIds] = []
        columns: list[IntArray] = []
        values: list[FloatArray] = []
        for level in levels:
            page, size = longest_waiting(pages, ids[:, level], belief.history.last, memory.tie, nobody)
            some = np.flatnonzero((size > 0) & (quiet >= QUIET))
            found.append(page[some])
            columns.append(np.full(len(some), LEVELS.index(level)))
            values.append(size[some] ** power * quiet[some])
        rows = np.concatenate(found)
        listed = Candidates(
            np.ones(len(rows), dtype=np.bool_),
            -worth[rows],
            memory.tie[rows],
            np.full(len(rows), shard, dtype=np.int32),
            rows.astype(np.int32),
            score[rows],
            ids[rows][:, LEVELS],
        )
        out.append(ScoutCandidates(listed, np.concatenate(columns), np.concatenate(values)).best(need.most(kind)))
    return tuple(out)


def choose_scouts(kinds: tuple[ScoutCandidates, ...], taken: Candidates, count: int) -> Candidates:
    """Return the scouts, as `Learned` chooses them: of each kind a share, none for groups that are visited anyway."""
    sent = taken.take(slice(0))
    for left, candidates in zip(range(len(kinds), 0, -1), kinds, strict=True):
        share = -(-(count - len(sent)) // left)
        asked = _keys(Candidates.joined([taken, sent]), None)
        free = candidates.take(np.flatnonzero(~np.isin(_keys(candidates.pages, candidates.level), asked))).best(10**18)
        place = free.pages.shard.astype(np.int64) << 32 | free.pages.row
        _, first = np.unique(place, return_index=True)
        sent = Candidates.joined([sent, free.pages.take(np.sort(first)[:share])])
    return sent


def _keys(pages: Candidates, level: IntArray | None) -> npt.NDArray[np.int64]:
    """Return a number per group: of the given level of each page, or of all its levels."""
    groups = pages.groups if level is None else pages.groups[np.arange(len(pages)), level][:, None]
    levels = np.arange(groups.shape[1]) if level is None else level[:, None]
    return np.asarray((pages.shard.astype(np.int64)[:, None] << 40 | levels << 36) + groups).ravel()
