"""Look back, look around in a crawl: the new links that a visit to each page is expected to find.

Before each cycle every page is described by the new links that its own visits found and by those of the 30 pages whose
words are most like its own (linkhistory.py), and the new links to expect of a visit are learnt from all visits so far,
each described by what was known before it (linkmean.py). Related pages are found among the copies at hand, and again
when these have grown by a quarter.
"""

from __future__ import annotations

import numpy as np

from recrawl.columns import BoolArray, FloatArray, PageIds, TieArray, uniform
from recrawl.features.related import NONE, Related, related
from recrawl.memory import Memory
from recrawl.policies.links.link_forecast import LinkForecast
from recrawl.policies.links.linkhistory import FEATURES, LinkWatcher, Rows
from recrawl.policies.links.linkmean import LinkMean
from recrawl.visits import Outcome, Visits

STRENGTH = 4.0  # weight of the related pages' rate, in cycles of watching
ALL_STRENGTH = 8.0  # weight of the mean of all pages under the related pages' rate
GROWN = 1.25  # so many times the copies: related pages are looked for again
WARM_ROWS = 30_000  # kept of a cycle with more visits, visits that found something apart
MEAN = [FEATURES.index("related: mean internal"), FEATURES.index("related: mean external")]
NO_WORDS = "no words of the copies are known here: it looks back at a page's own new links, not around"


class LinkOutlook(LinkWatcher):
    """The description of every page, and the learner of new links; `every` so many cycles it is trained anew."""

    def __init__(
        self,
        seed: int,
        every: int,
        forecast: LinkForecast | None = None,
        counted: tuple[bool, bool] = (True, True),
    ) -> None:
        super().__init__(counted)
        self.seed = seed
        self.every = every
        self.notes: tuple[str, ...] = ()
        self.mean: LinkMean | LinkForecast = forecast or LinkMean(seed)
        self.rows: Rows = np.empty((0, len(FEATURES)), dtype=np.float32)
        self.prior: FloatArray = np.empty(0)  # mu0 of linkmean.py
        self._related: Related | None = None
        self._related_of = 0  # copies at hand when they were found
        self._keys: TieArray = np.empty(0, dtype=np.uint64)

    def expected(self) -> FloatArray:
        """Return the new links to expect of a visit to each page."""
        return self.mean.expected(self.rows, self.prior)

    def learn(self, memory: Memory, visits: Visits) -> None:
        """Learn from visits, described by the state before them (prequential)."""
        compared = visits.outcome < Outcome.FIRST
        pages, changed = visits.pages[compared], visits.changed[compared]
        sorts = np.column_stack([visits.new_internal, visits.new_external])[compared]
        links = (sorts * self.history.counted).sum(axis=1).astype(np.float64)
        kept, weight = self._sampled(pages, (links > 0) | changed)
        self.mean.learn(self.rows[pages[kept]], self.prior[pages[kept]], links[kept], weight, self.cycle)
        self.learn_changes(pages[kept], changed[kept], weight)
        super().learn(memory, visits)

    def learn_changes(self, pages: PageIds, changed: BoolArray, weight: FloatArray) -> None:
        """Nothing to learn: new links are all that is asked for."""

    def _sampled(self, pages: PageIds, found: BoolArray) -> tuple[BoolArray, FloatArray]:
        """Of very many visits keep those that found something, and a part of the others with more weight."""
        share = WARM_ROWS / max(len(pages), 1)
        if share >= 1.0:
            return np.ones(len(pages), dtype=np.bool_), np.ones(len(pages))
        kept = found | (uniform(self._keys[pages], self.cycle) < share)
        return kept, np.where(found, 1.0, 1.0 / share)[kept]

    def begin(self, memory: Memory, at: float) -> None:
        """Add new pages, train, find related pages, and describe all pages."""
        fresh = memory.cycle != self.cycle
        super().begin(memory, at)
        self._keys = memory.tie
        if fresh and (self.mean.model is None or self.cycle % self.every == 0):
            self.train()
        self._look_around(memory)
        self.rows = self.history.describe(memory, self._related)
        self.prior = self._expected_links(memory)

    def train(self) -> None:
        """Train anew on the visits so far."""
        self.mean.fit(self.cycle)

    def _look_around(self, memory: Memory) -> None:
        copied = np.flatnonzero(self.history.first[: len(memory)] >= 0)
        if len(copied) < max(GROWN * self._related_of, 2):
            return
        vectors = None if memory.copies is None else memory.copies.word_vectors()
        if vectors is None:
            self.notes = (NO_WORDS,)
            return
        # in the order of the pages' own keys: the result must not depend on how they are numbered
        copied = copied[np.argsort(memory.tie[copied])]
        found = related(vectors[copied], seed=self.seed)
        pages = np.full((len(memory), found.pages.shape[1]), NONE, dtype=np.int32)
        similarity = np.zeros(pages.shape, dtype=np.float32)
        pages[copied] = np.where(found.pages == NONE, NONE, copied[found.pages])
        similarity[copied] = found.similarity
        self._related, self._related_of = Related(pages, similarity, found.recall, found.compared), len(copied)

    def _expected_links(self, memory: Memory) -> FloatArray:
        """Return mu0: the own rate, shrunk to the related pages' rate, itself shrunk to that of all pages."""
        watched = self.history.watched[: len(memory)]
        total = self.history.gained(memory).sum(axis=1).astype(np.float64)
        base = (total.sum() + 0.1) / (np.maximum(watched, 0).sum() + 10.0)
        near = self.rows[:, MEAN].sum(axis=1).astype(np.float64)
        return self.shrunk(total, near, float(base))

    def shrunk(self, count: FloatArray, near: FloatArray, base: float) -> FloatArray:
        """Return what to expect of each page since its last visit, by its own counts, its related pages' and `base`."""
        known = np.where(np.isnan(near), base, (STRENGTH * near + ALL_STRENGTH * base) / (STRENGTH + ALL_STRENGTH))
        watched = np.maximum(self.history.watched[: len(count)], 0.0)
        return np.asarray((count + STRENGTH * known) / (watched + STRENGTH) * np.maximum(self.rows[:, 0], 1.0))
