"""The crawl of Radinsky & Bennett 2013, section 8.3: visit pages by a learnt chance that they have changed.

expert-1d uses how often a page changed; expert-2d has an SVM per page on the page's own changes and words;
expert-3d uses related pages as well. Classifiers are trained in batches, every so many cycles, from the policy's own
visits; pages with too few visits, or whose visits all found the same, go by their frequency. Pages are taken by the
highest chance, or by the paper's biased coin.

A world that shows no words leaves the features of content at zero, and one that cannot tell significant changes makes
`change=significant` count any change; `notes` states it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from recrawl.columns import BoolArray, FloatArray, PageIds, TieArray
from recrawl.memory import Memory
from recrawl.policies.classical.coin import Coin
from recrawl.policies.experts.visit_experts import Models, related_pages, train
from recrawl.policies.experts.visit_log import VisitLog
from recrawl.policies.topk import TopK
from recrawl.policy import NO_SIGNIFICANCE, Named, Policy, Setting, policies
from recrawl.visits import Outcome, Visits

LEAST = 8  # visits of a page, before it gets experts
MODELLED = 4_000  # pages with experts: those with most changes seen
SERIES = 60  # cycles over which seen changes are correlated

NO_WORDS = "this world shows no words: experts use changes and their sizes alone"

Chased = Literal["any", "significant", "size"]


@dataclass(repr=False, eq=False)
class Experts(Named):
    """The policy of the module; `dimensions` is 1, 2 or 3."""

    dimensions: int
    seed: int = 0
    change: str = "any"  # what to chase: any change, significant ones, or any by its expected size
    coin: bool = False
    every: int = 7  # cycles between trainings; 0: once, and never again
    experts: int = 10
    C: float = 1.0
    everywhere: bool = False  # whether experts may be pages of other sites
    log: VisitLog = field(default_factory=VisitLog)

    def __post_init__(self) -> None:
        self.notes: tuple[str, ...] = ()
        self._models: Models | None = None
        self._taught = 0  # the cycle of the last training
        self._cycle = 0
        self._tie: TieArray = np.empty(0, dtype=np.uint64)
        self._site = np.empty(0, dtype=np.int32)
        self._scored: FloatArray | None = None
        self._sizes = np.array([1.0, 1.0])  # sum over found changes of ln(1 + size), and their number
        self._picker: Policy = Coin(self, self.seed, fill=True) if self.coin else TopK(self)

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Return the pages with the highest chance that they have changed, or by coin."""
        return self._picker.choose(memory, budget, at)

    def learn(self, memory: Memory, visits: Visits) -> None:
        """Log the visits."""
        compared = visits.outcome < Outcome.FIRST
        pages = visits.pages[compared]
        words = None
        if self.dimensions > 1 and len(visits):
            if visits.words is None:
                self._note(NO_WORDS)
            else:
                words = visits.words()[compared]
        size = visits.change_size[compared]
        found = self._counted(visits)[compared]
        self.log.add(pages, self._cycle, found, size, words)
        self.log.hold(visits.pages[visits.outcome == Outcome.FIRST], self._cycle)
        self._sizes += (np.log1p(size[found]).sum(), found.sum())
        self._scored = None

    def _counted(self, visits: Visits) -> BoolArray:
        """Which visits found a change of the kind that counts."""
        if self.change != "significant":
            return visits.changed
        if visits.significant is None:
            self._note(NO_SIGNIFICANCE)
            return visits.changed
        return visits.changed & visits.significant

    def score(self, memory: Memory, at: float) -> FloatArray:
        """The chance that each page has changed since its last visit; times the size expected, where that is chased."""
        if self._scored is None:
            self._scored = self._score(memory)
        return self._scored

    def _score(self, memory: Memory) -> FloatArray:
        pages = np.flatnonzero(memory.known & (self.log.begin[: len(memory)] >= 0))
        out = np.zeros(len(memory))
        out[pages] = -np.expm1(-self.log.rate(pages) * memory.waited()[pages])
        if self._models is not None and len(self._models.panel.pages):
            out[self._models.panel.pages] = self._models.probability(self.log, memory.cycle)
        if self.change == "size":
            out[pages] *= self._expected_size(pages)
        return out

    def _expected_size(self, pages: PageIds) -> FloatArray:
        """Mean of ln(1 + size) of the changes found relative to all pages, smoothed by one change of mean size."""
        mean = self._sizes[0] / self._sizes[1]
        changed = self.log.changed[pages]
        total = np.where(changed, np.log1p(self.log.size[pages]), 0.0).sum(axis=1)
        return np.asarray((total / mean + 1.0) / (changed.sum(axis=1) + 1.0))

    def begin(self, memory: Memory, at: float) -> None:
        """Begin the cycle, and train the experts if training is due."""
        self.log.make_room(len(memory))
        self._tie, self._site = memory.tie, memory.site
        pages = np.flatnonzero(memory.held())
        self.log.hold(pages[self.log.begin[pages] < 0], 0 if self._cycle == 0 else self._cycle)
        if memory.cycle == self._cycle:
            return
        self._cycle, self._scored = memory.cycle, None
        due = self._models is None or (self.every > 0 and self._cycle - self._taught >= self.every)
        if self.dimensions > 1 and due:
            self._teach()

    def _teach(self) -> None:
        pages = self.log.mixed(LEAST)
        if not len(pages):
            return
        changes = self.log.changed[pages].sum(axis=1)
        pages = pages[np.lexsort((self._tie[pages], -changes))[:MODELLED]]
        experts = [(np.array([page]), np.ones(1)) for page in pages]
        if self.dimensions > 2:
            order = np.argsort(np.argsort(self._tie, kind="stable"), kind="stable")
            site = np.zeros_like(self._site) if self.everywhere else self._site
            experts = related_pages(self.log, pages, site, order, self._cycle, self.experts, SERIES)
        self._models = train(self.log, pages, experts, self.C)
        self._taught = self._cycle

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes = (*self.notes, text)


def _make(
    setting: Setting,
    dimensions: int,
    change: str,
    pick: str,
    every: int = 7,
    experts: int = 10,
    C: float = 1.0,
    everywhere: bool = False,
) -> Policy:
    if every < 0 or experts < 0 or C <= 0:
        raise ValueError("every and experts must not be negative, C must be positive")
    return Experts(dimensions, setting.seed, change, pick == "coin", every, experts, C, everywhere)


@policies.add("expert-1d", formula="1 - exp(-tL), L of the last visits", source="Radinsky & Bennett 2013 §5.1")
def _one(setting: Setting, change: Chased = "any", pick: Literal["top", "coin"] = "top") -> Policy:
    return _make(setting, 1, change, pick)


@policies.add("expert-2d", formula="Platt(SVM of the page's past)", source="Radinsky & Bennett 2013 §5.2")
def _two(
    setting: Setting, change: Chased = "any", pick: Literal["top", "coin"] = "top", every: int = 7, C: float = 1.0
) -> Policy:
    return _make(setting, 2, change, pick, every, C=C)


@policies.add("expert-3d", formula="Platt(vote of related pages)", source="Radinsky & Bennett 2013 §5.3")
def _three(
    setting: Setting,
    change: Chased = "any",
    pick: Literal["top", "coin"] = "top",
    every: int = 7,
    experts: int = 10,
    C: float = 1.0,
    among: Literal["site", "all"] = "site",
) -> Policy:
    return _make(setting, 3, change, pick, every, experts, C, among == "all")
