"""The state of knowledge about every page: its history, its groups' evidence, and the probability of a change.

Prequential: each visit first becomes a training example described by the state before it (hazard.py, prior.py); then it
updates the page's history (page_history.py) and its groups' counts (evidence.py).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, PageIds, TieArray, grown, uniform
from recrawl.memory import Memory
from recrawl.policies.learned import evidence
from recrawl.policies.learned import page_history as history
from recrawl.policies.learned.base_model import BaseModel
from recrawl.policies.learned.calibration import Calibration, logit, sigmoid
from recrawl.policies.learned.evidence import Evidence
from recrawl.policies.learned.explain import Cause, causes_of, effects_of
from recrawl.policies.learned.forest import Rows
from recrawl.policies.learned.gains import gains
from recrawl.policies.learned.hazard import Hazard
from recrawl.policies.learned.page_history import History
from recrawl.policies.learned.places import LEVELS, SITE, THEME, Places, group_names
from recrawl.policies.learned.prior import SAMPLE, Prior
from recrawl.policies.learned.themes import Themes
from recrawl.visits import Outcome, Visits

FEATURES = (*history.FEATURES, *(f"{level}:{name}" for level in LEVELS for name in evidence.FEATURES))
AT_ONCE = 200_000  # pages described at a time, which bounds the memory
WARM = 0.6  # of all pages: a round of so many is a warm-up
WARM_ROWS = 30_000  # kept of a warm-up, changes apart
WARM_CHUNKS = 10  # a warm-up is learnt from as if it had been made in so many rounds
DOUBT = 3.0  # cycles after which the crawl's own trees have half of the weight that they earn beside a base model
SURPRISED = 0.9  # of what earlier rounds of the cycle found above what was expected, with each round
EARLY = 6  # first cycles, in each of which the model is trained anew: most of its data is the warm-up


class Belief:
    """The chance of a change of every page, with its history, groups, prior and model."""

    def __init__(self, seed: int, every: int, *, trees: bool = True, base: BaseModel | None = None) -> None:
        """Start from the base model; trees are trained every so many cycles, without `trees` never."""
        self.places, self.history, self.evidence = Places(), History(), Evidence()
        self.themes, self.prior, self.base = Themes(), Prior(), base
        self.base_weight = Calibration()  # of the base model beside the prior
        self.hazard = Hazard(FEATURES, seed, calibration=Calibration(doubt=0.0 if base is None else DOUBT))
        self.every, self.trees = every, trees
        self.cycle = 0
        self.surprise: FloatArray = np.empty(0)  # by group: changes in the latest rounds, less those expected
        self._tie: TieArray = np.empty(0, dtype=np.uint64)
        self._asked: list[PageIds] = []  # in this cycle
        self._load_paths: Callable[[], npt.NDArray[np.object_]] | None = None

    # -- keeping up -------------------------------------------------------------------------------------------------

    def meet(self, memory: Memory) -> None:
        """Place pages that have become known."""
        self._tie = memory.tie
        self.history.make_room(len(memory))
        missing = self.places.missing(np.flatnonzero(memory.known))
        if len(missing):
            self._load_paths = memory.load_paths
            self.places.place(missing, memory.site, self._paths(), len(memory))
            copied = missing[memory.held()[missing]]
            self.history.begin(copied[self.history.first[copied] < 0], 0)
            self._read_copies(memory, copied)
            self._regroup(missing)

    def open_cycle(self, memory: Memory) -> None:
        """Close the cycle before, and refit what is due."""
        self.cycle = memory.cycle
        self._settle()
        self._find_themes(memory)
        self.evidence.begin_cycle(np.unique(self.places.ids[np.flatnonzero(memory.known), SITE]), self.cycle)
        self.surprise = np.zeros(len(self.evidence.groups))
        self.prior.refit(self.places, self.evidence, self.history, self.cycle)
        due = self.hazard.model is None or self.cycle % self.every == 0 or self.cycle <= EARLY
        if due:
            self.base_weight.fit()
        if self.trees and due:
            self.hazard.fit(self.cycle)

    def _paths(self) -> npt.NDArray[np.object_] | None:
        """Read the pages' paths; they are not kept, since few are needed once pages are placed."""
        return None if self._load_paths is None else self._load_paths()

    def _read_copies(self, memory: Memory, pages: PageIds) -> None:
        """Read the copies that the crawl began with."""
        words = None if memory.copies is None or not len(pages) else memory.copies.column("words")
        if words is not None:
            self.history.read(pages, words[pages])

    def _regroup(self, pages: PageIds) -> None:
        """Move pages to the groups of their past, and make room for groups that are new."""
        self.places.regroup(pages, self.history)
        self.evidence.make_room(len(self.places), len(self.history.first))
        self.surprise = grown(self.surprise, len(self.evidence.groups), 0.0)

    def _find_themes(self, memory: Memory) -> None:
        """Put the pages of sites that are due into groups by what they are about."""
        held = np.flatnonzero(self.held(memory))
        pages, themes = self.themes.group(memory.copies, held, memory.site, memory.tie)
        if len(pages):
            self.places.put_in_themes(pages, themes)
            self.evidence.make_room(len(self.places), len(self.history.first))
            self.evidence.forget(pages, THEME)

    def _settle(self) -> None:
        """Snapshot the group totals of last cycle's pages at its end: its visits count as simultaneous."""
        for pages in self._asked:
            self.evidence.settle(pages, self.places.ids)
        self._asked = []

    def held(self, memory: Memory) -> BoolArray:
        """Which pages have a copy that visits can be compared with."""
        return np.asarray(self.history.first[: len(memory)] >= 0)

    # -- predicting -------------------------------------------------------------------------------------------------

    def fill_chances(self, pages: PageIds, chance: FloatArray) -> None:
        """Write the chance of each of these pages into the column of all pages."""
        for part in np.array_split(pages, len(pages) // AT_ONCE + 1):
            chance[part] = self.hazard.probability(*self.describe(part))

    def describe(self, pages: PageIds) -> tuple[Rows, FloatArray]:
        """Return the features of these pages as they are known now, and their chance without the crawl's trees."""
        rows, prior, offset = self._described(pages)
        return rows, self._corrected(prior, offset)

    def _described(self, pages: PageIds) -> tuple[Rows, FloatArray, FloatArray | None]:
        """Return the features of these pages, p0, and what the base model adds to its log-odds."""
        rows = np.empty((len(pages), len(FEATURES)), dtype=np.float32)
        own = len(history.FEATURES)
        self.history.describe(pages, self.cycle, rows[:, :own])
        self.evidence.describe(pages, self.places.ids, self.cycle, rows[:, own:])
        prior = self.prior.chance(pages, self.places, self.evidence, self.history, self.cycle)
        return rows, prior, None if self.base is None else self.base.offset(rows)

    def _corrected(self, prior: FloatArray, offset: FloatArray | None) -> FloatArray:
        return prior if offset is None else sigmoid(logit(prior) + self.base_weight.trust * offset)

    def gains_of(self, pages: PageIds, t: FloatArray) -> FloatArray:
        """Return what a change of each page is worth in freshness and in age, t cycles after its last visit."""
        surroundings = self.prior.surroundings(pages, self.places, self.evidence, self.cycle)
        return np.asarray(gains(pages, t, *surroundings, self.history.likelihood))

    def causes(self, page: int) -> tuple[float, float, tuple[Cause, ...]]:
        """Return the chance of a page with a copy, the same without the learnt part, and the causes."""
        one = np.array([page])
        rows, known = self.describe(one)
        prior = self.prior.chance(one, self.places, self.evidence, self.history, self.cycle)
        paths, trust = self._paths(), self.hazard.calibration
        effects = trust.slope * trust.trust * effects_of(self.hazard.model, rows)
        causes = causes_of(
            dict(zip(FEATURES, rows[0].tolist(), strict=True)),
            dict(zip(FEATURES, effects.tolist(), strict=True)),
            group_names("" if paths is None else str(paths[page])),
            float(prior[0]),
            self.evidence.base,
            trust.slope,
            float((logit(known) - logit(prior))[0]),
        )
        return float(self.hazard.probability(rows, known)[0]), float(prior[0]), causes

    # -- learning ---------------------------------------------------------------------------------------------------

    def learn(self, visits: Visits, expected: FloatArray) -> None:
        """Learn from visits; `expected` is the column of the chances by which pages were chosen."""
        compared = visits.outcome < Outcome.FIRST
        new = visits.pages[visits.outcome == Outcome.FIRST]
        pages, changed = visits.pages[compared], visits.changed[compared]
        warm = len(pages) > WARM * max(1, int((self.history.first >= 0).sum()))
        self.surprise *= SURPRISED
        judged = np.argsort(self._tie[pages])[:SAMPLE]
        self.prior.fit(pages[judged], changed[judged], self.places, self.evidence, self.history, self.cycle)
        for part in np.array_split(np.arange(len(pages)), WARM_CHUNKS if warm else 1):
            self._take_in(pages[part], changed[part], None if warm else expected[pages[part]])
        self.history.begin(new, self.cycle)
        if visits.length is not None:
            self.history.read(visits.pages, visits.length)
        self._regroup(new)
        self._asked += [pages, new]

    def _take_in(self, pages: PageIds, changed: BoolArray, expected: FloatArray | None) -> None:
        """Learn from visits and update the history; without `expected` they are a warm-up, without predictions."""
        if self.trees:
            self._train_on(pages, changed, expected)
        gap = (self.cycle - self.history.last[pages]).astype(np.float64)
        self.evidence.update(pages, self.places.ids, changed, gap, self.cycle)
        self.history.update(pages, changed, self.cycle)
        self._regroup(pages)

    def _train_on(self, pages: PageIds, changed: BoolArray, expected: FloatArray | None) -> None:
        """Keep visits as training rows described by what was known before them, and record where they surprise."""
        rows, before, offset = self._described(pages)
        prior = self._corrected(before, offset)
        kept, weight = np.ones(len(pages), dtype=np.bool_), np.ones(len(pages))
        if expected is None and len(pages) * WARM_CHUNKS > WARM_ROWS:
            share = WARM_ROWS / (len(pages) * WARM_CHUNKS)
            kept = changed | (uniform(self._tie[pages], self.cycle) < share)
            weight = np.where(changed, 1.0, 1.0 / share)
        self.hazard.learn(rows[kept], prior[kept], changed[kept], weight[kept], self.cycle)
        likely = prior if expected is None else expected
        np.add.at(self.surprise, self.places.ids[pages], (changed - likely)[:, None])
        if expected is not None:
            self.hazard.judge(rows, prior, changed, weight, self.cycle)
        if offset is not None and self.cycle > 1:  # without any visit before it, a page has nothing to judge by
            self.base_weight.learn(before[kept], offset[kept], changed[kept], weight[kept], self.cycle)
