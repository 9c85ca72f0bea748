"""Plan a cycle over shards: score each on its own, merge, and take the pages within budget, caps and rounds.

The plan is the same whatever the number of shards and the engine: scores depend on a page, its site and on totals that
are sums of whole numbers; the order has one tie-break; caps concern single sites.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, PageIds
from recrawl.errors import InputError
from recrawl.evaluate.work_engine import Engine, open_engine
from recrawl.fleet.shard_candidates import Candidates, Merge
from recrawl.fleet.shard_files import ShardSet
from recrawl.fleet.shard_learned import LearnedTask, score_learned
from recrawl.fleet.shard_scoring import ScoringTask, policy_for_shards, score_shard
from recrawl.fleet.shard_scouts import ScoutCandidates, ScoutNeed, choose_scouts
from recrawl.fleet.shard_totals import total_of, totals_of_shard
from recrawl.fleet.shard_training import MOST_ROWS, SampleRows, ShardModel, Shares, rows_of_shard, train
from recrawl.policies.learned.learned import Learned
from recrawl.policies.learned.rounds import most_unfetched, round_size, rounds_of, spread
from recrawl.progress import Advance, silent

REACH = 20  # times a round: how far down the order a round looks for pages of groups with room (Learned)


@dataclass(frozen=True)
class ShardedVisit:
    """A page to visit."""

    url: str
    page: int
    rank: int  # from 1
    score: float | None  # None: never fetched


@dataclass(frozen=True)
class ShardedPlan:
    """The pages to visit in a cycle, best first, as places in shards."""

    shards: ShardSet
    policy: str
    chosen: Candidates
    notes: tuple[str, ...] = ()

    def visits(self) -> Iterator[ShardedVisit]:
        """Yield the pages with their URLs, best first."""
        pages = np.empty(len(self.chosen), dtype=np.int64)
        urls = np.empty(len(self.chosen), dtype=object)
        for number in np.unique(self.chosen.shard).tolist():
            mine = np.flatnonzero(self.chosen.shard == number)
            pages[mine], urls[mine] = self.shards.urls(number, self.chosen.row[mine].astype(np.int64))
        for i, (page, url) in enumerate(zip(pages.tolist(), urls.tolist(), strict=True)):
            score = float(self.chosen.score[i])
            yield ShardedVisit(url, page, i + 1, None if np.isnan(score) else score)


def plan_shards(
    shards: ShardSet,
    policy: str = "bayes",
    budget: float | int = 0.05,
    *,
    engine: str = "local",
    jobs: int = 1,
    per_site: int = 0,
    rows: int = MOST_ROWS,
    advance: Advance = silent,
) -> ShardedPlan:
    """Return what a policy visits next: a share of the pages, or a number of them."""
    visits = budget if isinstance(budget, int) else round(budget * shards.pages)
    if not 1 <= visits <= max(1, shards.pages):
        raise InputError(f"a budget of {visits} visits is not from 1 to {shards.pages}, the pages in {shards.folder}")
    if per_site < 0:
        raise InputError(f"a cap of {per_site} visits per site is negative; 0 means no cap")
    made = policy_for_shards(policy, shards.seed)
    with open_engine(engine, jobs) as opened:
        run = PlanRun(shards, opened, advance)
        if isinstance(made, Learned):
            chosen, notes = run.learned(made, policy, visits, per_site, rows)
        else:
            chosen, notes = run.by_score(policy, visits, per_site), ()
    return ShardedPlan(shards, policy, chosen, notes)


@dataclass
class PlanRun:
    """The steps of a plan on an engine."""

    shards: ShardSet
    engine: Engine
    advance: Advance

    def by_score(self, policy: str, visits: int, per_site: int) -> Candidates:
        """Choose by a formula over a page's own columns."""
        merge = Merge(visits)

        def tasks() -> Iterator[ScoringTask]:
            for number in range(len(self.shards)):
                yield ScoringTask(self.shards, number, policy, visits, per_site, merge.floor)

        for done, (_, found) in enumerate(self.engine.each(score_shard, tasks()), 1):
            merge.add(found)
            self.advance(done, len(self.shards), "scoring")
        return merge.result()

    def learned(
        self, policy: Learned, spec: str, visits: int, per_site: int, rows: int
    ) -> tuple[Candidates, tuple[str, ...]]:
        """Train on a sample of all shards' visits, then choose."""
        count, shards = len(self.shards), self.shards
        parts = self.engine.ordered(totals_of_shard, ((shards, number) for number in range(count)))
        totals = total_of(parts, shards.cycle)
        bases, shares = totals.bases(), Shares.of(totals, rows)
        samples: list[SampleRows] = []
        pieces = ((shards, number, bases, shares) for number in range(count))
        for done, (_, sample) in enumerate(self.engine.each(rows_of_shard, pieces), 1):
            samples.append(sample)
            self.advance(done, 2 * count, "reading visits")
        model = train(SampleRows.joined(samples), bases, shards.cycle, shards.seed, policy.belief.base)
        samples.clear()
        notes = () if model.hazard.fault is None else (f"without trees: {model.hazard.fault}",)
        return self.by_model(policy, spec, model, visits, per_site), notes

    def by_model(self, policy: Learned, spec: str, model: ShardModel, visits: int, per_site: int) -> Candidates:
        """Choose by a model that is trained."""
        count, size = len(self.shards), round_size(visits, rounds_of(policy.rounds, visits), 1)
        reach = visits if per_site else visits + REACH * size
        need = ScoutNeed(0, 0) if per_site else ScoutNeed.of(policy, visits, size)
        merge, scouts = Merge(reach), list[ScoutCandidates]()
        task = partial(LearnedTask, self.shards, spec, self.engine.share(model), reach, per_site, need)

        def tasks() -> Iterator[LearnedTask]:
            for number in range(count):
                yield task(number, merge.floor)

        for done, (_, (found, more)) in enumerate(self.engine.each(score_learned, tasks()), 1):
            merge.add(found)
            both = [old.joined(new) for old, new in zip(scouts, more, strict=True)] if scouts else list(more)
            scouts = [each.best(need.most(kind)) for kind, each in enumerate(both)]
            self.advance(count + done, 2 * count, "scoring")
        order = merge.result()
        return order.take(slice(visits)) if per_site else in_rounds(order, policy, visits, tuple(scouts))


def in_rounds(order: Candidates, policy: Learned, visits: int, scouts: tuple[ScoutCandidates, ...] = ()) -> Candidates:
    """Choose round after round as `Learned` does, without answers in between.

    First visits come first; then a round takes at most so many pages of a site and of a directory, and beside the first
    round scouts are sent.
    """
    groups = _numbered(order.shard, order.groups[:, :2])
    place = order.shard.astype(np.int64) << 32 | order.row
    left = np.ones(len(order), dtype=np.bool_)
    chosen: list[Candidates] = []
    budget, rounds = visits, rounds_of(policy.rounds, visits)
    rooms = np.array([policy.site_room, policy.place_room])
    none = np.zeros(int(groups.max(initial=-1)) + 1)
    while budget > 0:
        size = round_size(budget, rounds, len(chosen) + 1)
        unfetched = min(budget, most_unfetched(size, visits, rounds))
        pages = order.take(_one_round(order, groups, left, none, rooms, size, unfetched))
        if scouts and not chosen:
            pages = _with_scouts(pages, scouts, ScoutNeed.of(policy, visits, size), size, budget)
        if not len(pages):
            break
        left &= ~np.isin(place, pages.shard.astype(np.int64) << 32 | pages.row)
        budget -= len(pages)
        chosen.append(pages)
    return Candidates.joined([order.take(slice(0)), *chosen])


def _with_scouts(
    pages: Candidates, scouts: tuple[ScoutCandidates, ...], need: ScoutNeed, size: int, left: int
) -> Candidates:
    """Add scouts to a round that is not full of first visits; `left` is what is left of the budget."""
    first, taken = pages.take(~pages.has_copy), pages.take(pages.has_copy)
    if len(first) >= size:
        return pages
    left -= len(first)
    sent = choose_scouts(scouts, taken, min(need.count, left))
    return Candidates.joined([first, taken.take(slice(left - len(sent))), sent])


def _one_round(
    order: Candidates,
    groups: npt.NDArray[np.int64],
    left: BoolArray,
    none: npt.NDArray[np.float64],
    rooms: npt.NDArray[np.int64],
    size: int,
    unfetched: int,
) -> PageIds:
    first = np.flatnonzero(left & ~order.has_copy)[:unfetched]
    if len(first) >= size:
        return first
    rest = np.flatnonzero(left & order.has_copy)[: REACH * (size - len(first))]
    return np.concatenate([first, spread(rest, groups, none, rooms, size - len(first))])


def _numbered(shard: npt.NDArray[np.int32], groups: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Number the groups of all shards together, level by level."""
    out: npt.NDArray[np.int64] = np.empty(groups.shape, dtype=np.int64)
    start = 0
    for level in range(groups.shape[1]):
        keys = shard.astype(np.int64) << 32 | groups[:, level].astype(np.int64)
        out[:, level] = np.unique(keys, return_inverse=True)[1] + start
        start = int(out[:, level].max(initial=start - 1)) + 1
    return out
