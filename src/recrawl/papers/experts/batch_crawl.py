"""The batch crawl of Radinsky & Bennett 2013, section 8.3, with the very models of Tables 1 to 3 (Fig 8).

All pages are observed for a while: `train` steps to learn from, and some to calibrate. Then the classifiers stay as
they are, and a crawler visits one page in ten per step, by a biased coin of the chance that Platt's sigmoid makes of
their answers. It knows its own copies alone: features of pages that were not visited are those of the copies at hand,
and a change shows only at a visit.

    1D                     how often the page changed in the training window
    2D                     the page's own SVM
    3D cross-correlation   20 experts by the way their words move, and the page itself, weighted votes
    3D content             20 experts by likeness of words

Experts are pages of all sites among those that are crawled, as only these are seen again. Freshness is the share of
the pages that had no change of the sort at hand since their last visit. The policies expert-1d, -2d and -3d answer the
same question by models that are trained again and again from irregular visits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from recrawl.columns import BoolArray, FloatArray, IntArray
from recrawl.errors import InputError
from recrawl.papers.experts.dynamics import dynamics_of
from recrawl.papers.experts.expert_features import own_features, related_features
from recrawl.papers.experts.expert_learners import SINGLE, Council, Describer, decisions, frequency, judgeable, vote
from recrawl.papers.experts.expert_selection import Choice, Movement, by_content
from recrawl.papers.experts.experts_protocol import FEWEST, ExpertsProtocol
from recrawl.papers.experts.snapshots import Snapshots
from recrawl.policies.experts.svm import Sigmoid, platt
from recrawl.progress import Advance, silent

CALIBRATION = 28  # steps observed beyond those that are learnt from
BUDGET = 0.1
MOST_PAGES = 120  # that are crawled, drawn by the seed: every step asks every expert of every page
FEWEST_STEPS = 14  # of crawling, below which nothing is shown
METHODS = ("1D", "2D", "3D cross-correlation", "3D content")


@dataclass(frozen=True)
class BatchCrawl:
    """Freshness of every method: pages x steps, the mean of the seeds."""

    change: str
    pages: int
    visits: int  # per step
    observed: int  # steps before the crawl
    steps: int
    seeds: int
    fresh: Mapping[str, FloatArray]

    def by_page(self, method: str, after: int = 0) -> FloatArray:
        """Mean over the steps of crawling, or over those after so many."""
        return np.asarray(self.fresh[method][:, after:].mean(axis=1))

    def by_step(self, method: str) -> FloatArray:
        """Mean over the pages."""
        return np.asarray(self.fresh[method].mean(axis=0))


@dataclass(frozen=True)
class _Voters:
    """A page's experts with their weights, the page first, and the sigmoid of their vote."""

    council: Council
    members: IntArray
    weight: FloatArray


class BatchModels:
    """The models of all pages, learnt once."""

    def __init__(self, snapshots: Snapshots, changed: BoolArray, protocol: ExpertsProtocol, cost: float) -> None:
        self.protocol, self.cost = protocol, cost
        window = protocol.window
        self.begin = protocol.train + window.back + window.interval + CALIBRATION
        whole = (snapshots.version >= 0).all(axis=1)
        self.snapshots, self.changed = snapshots.take(np.flatnonzero(whole)), changed[whole]
        if snapshots.steps - self.begin < FEWEST_STEPS or len(self.snapshots) < FEWEST:
            raise InputError(
                f"{snapshots.steps} steps of {len(self.snapshots)} pages are too few for a crawl after {self.begin} "
                "observed ones"
            )
        seen = Snapshots(
            self.snapshots.pages,
            snapshots.step_days,
            snapshots.bags,
            self.snapshots.version[:, : self.begin + 1],
        )
        self.seen = seen
        self.describer = Describer(seen, self.changed[:, : self.begin + 1], window, beside=protocol.beside)
        self.versions = [np.unique(row) for row in self.snapshots.version]
        self.products = Describer(self.snapshots, self.changed, window)  # scalar products of versions, also later ones
        rows = np.arange(len(self.snapshots))
        moving = dynamics_of(seen, self.begin - protocol.train, self.begin, moving=protocol.moving_words)
        movement = Movement(moving, words=protocol.compared_words)
        k = protocol.experts
        chosen = {
            "2D": [Choice(np.empty(0, dtype=np.int64), np.empty(0))] * len(rows),
            "3D cross-correlation": [movement.nearest(int(row), k, "cross-correlation") for row in rows],
            "3D content": by_content(seen, self.begin, k, rows, words=protocol.content_words),
        }
        self.voters = {method: [self._voters(int(row), of[row]) for row in rows] for method, of in chosen.items()}
        self.sigmoid = {method: self._calibrate(method) for method in chosen}
        labels = [self.describer.label(int(row)) for row in rows]
        last = np.array([self.begin])
        self.chance = np.array([frequency(label, last, protocol.train)[0] for label in labels])

    def _voters(self, row: int, choice: Choice) -> _Voters:
        council = self.describer.council(row, choice.experts)
        members = np.append(row, choice.experts).astype(np.int64)
        words = [self.products.words(int(e)) for e in members]
        size = np.array([len(products) for _, products in words], dtype=np.int64)
        council = council._replace(
            version=np.stack([version[: self.begin + 1] for version, _ in words]),
            products=np.concatenate([products.ravel() for _, products in words]),
            place=np.append(0, np.cumsum(size**2))[:-1],
            size=size,
        )
        return _Voters(council, members, np.append(1.0, choice.weight))

    def _answer(self, method: str, voters: _Voters, decided: FloatArray) -> FloatArray:
        return decided[SINGLE] if method == "2D" else vote(decided[4:], voters.weight)

    def _calibrate(self, method: str) -> Sigmoid:
        """Fit the sigmoid to predictions of the last observed steps, each learnt from the steps before it."""
        answers, outcomes = [np.empty(0)], [np.empty(0, dtype=np.bool_)]
        for voters in self.voters[method]:
            steps = judgeable(voters.council, self.protocol.train)
            if len(steps):
                decided = decisions(voters.council, steps, self.protocol.train, self.cost, ensembles=False)
                answers.append(self._answer(method, voters, decided))
                outcomes.append(voters.council.label[steps + voters.council.ahead] == 1)
        return platt(np.concatenate(answers), np.concatenate(outcomes))

    def chances(self, method: str, view: IntArray, moved: BoolArray) -> FloatArray:
        """The chance that each page changes at the next step, by the last states of its copy (pages x back + 1)."""
        if method == "1D":
            return self.chance
        now = Snapshots(self.snapshots.pages, self.snapshots.step_days, self.snapshots.bags, view.astype(np.int32))
        window = self.protocol.window
        own = np.stack([own_features(now, moved, row, window)[-1] for row in range(len(now))])
        number = np.array([np.searchsorted(self.versions[row], view[row, -1]) for row in range(len(now))])
        answers = np.empty(len(now))
        for row, voters in enumerate(self.voters[method]):
            members = voters.members
            beside = np.stack([related_features(now, row, int(e), window)[-1] for e in members])
            more = [np.tile(own[row], (len(members), 1))] if self.protocol.beside else []
            asked = np.hstack([own[members], beside, *more])
            council = voters.council
            extended = council._replace(
                label=np.append(council.label, np.int8(0)),
                numbers=np.concatenate([council.numbers, asked[:, None, :]], axis=1),
                version=np.hstack([council.version, number[members][:, None].astype(np.int32)]),
            )
            at = np.array([self.begin + 1])
            decided = decisions(extended, at, self.protocol.train, self.cost, ensembles=False, learnt_at=self.begin)
            answers[row] = self._answer(method, voters, decided)[0]
        return self.sigmoid[method].probability(answers)

    def crawl(self, method: str, seed: int, advance: Advance = silent) -> FloatArray:
        """Return pages x steps: whether each copy is fresh after the step's visits."""
        pages, back = len(self.snapshots), self.protocol.window.back
        draw = np.random.default_rng([seed, 83])
        view = self.snapshots.version[:, self.begin - back : self.begin + 1].copy()
        moved = self.changed[:, self.begin - back : self.begin + 1].copy()
        stale = np.zeros(pages, dtype=np.bool_)
        fresh = []
        for step in range(self.begin + 1, self.snapshots.steps + 1):
            chance = np.clip(self.chances(method, view, moved), 1e-6, 1.0 - 1e-6)
            tosses = np.ceil(np.log(1.0 - draw.random(pages)) / np.log1p(-chance))  # until the coin says yes
            visited = np.lexsort((draw.random(pages), tosses))[: visits_of(pages)]
            stale |= self.changed[:, step]
            view = np.hstack([view[:, 1:], view[:, -1:]])
            moved = np.hstack([moved[:, 1:], np.zeros((pages, 1), dtype=np.bool_)])
            view[visited, -1] = self.snapshots.version[visited, step]
            moved[visited, -1] = stale[visited]
            stale[visited] = False
            fresh.append(~stale)
            advance(step - self.begin, self.snapshots.steps - self.begin, f"crawl, {method}")
        return np.array(fresh, dtype=np.float64).T


def visits_of(pages: int) -> int:
    """One page in ten, and at least one."""
    return max(round(BUDGET * pages), 1)


def batch_crawl(
    snapshots: Snapshots,
    changed: BoolArray,
    protocol: ExpertsProtocol,
    cost: float,
    seeds: int,
    advance: Advance = silent,
) -> BatchCrawl:
    """Crawl these pages, or MOST_PAGES of them, by every method, with several seeds of the coin."""
    if len(snapshots) > MOST_PAGES:
        drawn = np.sort(np.random.default_rng(protocol.seed).permutation(len(snapshots))[:MOST_PAGES])
        snapshots, changed = snapshots.take(drawn), changed[drawn]
    batch = BatchModels(snapshots, changed, protocol, cost)
    found = {
        method: np.mean([batch.crawl(method, protocol.seed + seed, advance) for seed in range(seeds)], axis=0)
        for method in METHODS
    }
    pages, steps = found["1D"].shape
    return BatchCrawl(
        protocol.change,
        pages,
        visits_of(pages),
        batch.begin,
        steps,
        seeds,
        found,
    )
