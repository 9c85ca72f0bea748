"""The `learned` policy: look back, look around, look now, and explore.

A cycle's budget is spent in rounds. Before each round pages are scored with what all visits so far, also those of the
rounds before, have shown (predict.hazard); a round takes only so many pages of one site and directory, twice as many as
have been asked there in this cycle, so that a site-wide edit is noticed by a few visits and then followed. Only the
first round scores every page; later ones score the best candidates again, and the pages of groups in which more
changed than was expected. A share of the budget scouts groups that the scores leave out (schedule.scouts), before all
else, so that later rounds can follow; it grows or shrinks with what the scouted groups bring.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, PageIds, TieArray, grown, uniform
from recrawl.describe import evidence, history
from recrawl.describe.evidence import Evidence
from recrawl.describe.history import History
from recrawl.describe.places import DIRECTORY, LEVELS, PARENT, SECTION, SITE, Places, group_names
from recrawl.errors import InputError
from recrawl.predict.calibration import Calibration
from recrawl.predict.explain import FAR, Explanation, causes_of, effects_of, next_visit
from recrawl.predict.hazard import Hazard, Rows
from recrawl.predict.linkyield import LinkYield
from recrawl.predict.objectives import Objective, parse_objective
from recrawl.predict.prior import SAMPLE, Prior
from recrawl.remember.memory import Memory
from recrawl.remember.visits import Outcome, Visits
from recrawl.schedule.policy import Named, Policy, Setting, policies
from recrawl.schedule.rounds import longest, spread
from recrawl.schedule.scouts import Scouting, scouts
from recrawl.schedule.select import NO_PAGES, top_k

FEATURES = (*history.FEATURES, *(f"{level}:{name}" for level in LEVELS for name in evidence.FEATURES))
CANDIDATES = 4  # times the budget: how many pages later rounds score again
WARM_ROWS = 30_000  # kept of a cycle in which nearly every page is visited, changes apart
WARM_CHUNKS = 10  # such a cycle is learnt from as if it had been made in so many rounds
HOT = 1.0  # changes above what was expected, from which on a group's pages are scored again
SCOUTED = [SECTION, PARENT, DIRECTORY]
MARGIN = 0.25  # of the last round: the pages that scouts have to beat
EARLY = 6  # cycles in which the model is trained anew each time: what it knows is mostly the warm-up
FORMAT = 4  # of a saved model


@dataclass(repr=False, eq=False)
class Learned(Named):
    """See the module; the parameters are those of `recrawl policies`."""

    objective: Objective
    seed: int = 0
    rounds: int = 8
    every: int = 3  # cycles between trainings
    explore: float = 0.03
    wait: int = 0  # cycles that no page waits longer, whatever its score, if the budget allows it; 0: no limit
    site_room: int = 16  # visits to a site in a round, on top of those it already had in this cycle
    place_room: int = 8
    places: Places = field(default_factory=Places)
    history: History = field(default_factory=History)
    evidence: Evidence = field(default_factory=Evidence)

    def __post_init__(self) -> None:
        self.scouting = Scouting(self.explore)
        self.prior = Prior()
        self.hazard = Hazard(FEATURES, self.seed)
        self._tie: TieArray = np.empty(0, dtype=np.uint64)
        self._importance: FloatArray | None = None
        self._cycle = 0
        self._round = 0
        self._budget = 0
        self._score: FloatArray = np.empty(0)
        self._load_paths: Callable[[], npt.NDArray[np.object_]] | None = None
        self._surprise: FloatArray = np.empty(0)
        self._asked: list[PageIds] = []  # in this cycle
        self._threshold = 0.0  # the index of the last page that the scores chose
        self.links = LinkYield()

    # -- choosing ---------------------------------------------------------------------------------------------------

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Return the next round's pages."""
        self._meet(memory)
        if budget <= 0:
            return NO_PAGES
        if self._round == 0:
            self._budget = budget
        self._round += 1
        size = budget if self._round >= self.rounds else min(budget, max(1, round(self._budget / self.rounds)))
        eligible = memory.eligible()
        unfetched = np.flatnonzero(eligible & (self.history.first[: len(memory)] < 0))
        self._score_pages(memory, np.flatnonzero(eligible & (self.history.first[: len(memory)] >= 0)))
        first = top_k(np.zeros(len(memory)), memory, min(size, len(unfetched)), ahead=_mask(len(memory), unfetched))
        first = first[self.history.first[first] < 0]
        if len(first) == size or memory.site_room() is not None:
            return first if len(first) else self._capped_by_site(memory, size)
        return np.concatenate([first, self._best(memory, size - len(first))])

    def _capped_by_site(self, memory: Memory, size: int) -> PageIds:
        """Under a cap on sites the plain order is taken: the cap itself spreads the visits."""
        return top_k(self._ranking(memory), memory, size)

    def _score_pages(self, memory: Memory, pages: PageIds) -> None:
        """Score all pages in the first round, later the best and those where more changed than expected."""
        if self._round > 1:
            pages = self._candidates(pages)
        for part in np.array_split(pages, max(1, len(pages) // 200_000)):
            rows, prior = self._describe(part)
            self._score[part] = self.hazard.probability(rows, prior)

    def _candidates(self, pages: PageIds) -> PageIds:
        keep = np.zeros(len(pages), dtype=np.bool_)
        count = min(len(pages), CANDIDATES * self._budget)
        if count:
            keep[np.argpartition(-self._score[pages], count - 1)[:count]] = True
        hot = self._surprise > HOT
        if hot.any():
            keep |= hot[self.places.ids[pages][:, PARENT:]].any(axis=1)
        return pages[keep]

    def _ranking(self, memory: Memory) -> FloatArray:
        p = self._score[: len(memory)]
        t = np.maximum(self._cycle - self.history.last[: len(memory)], 1).astype(np.float64)
        worth = self._worth(p, t, np.arange(len(memory)))
        if memory.importance is not None:
            worth = worth * memory.importance
        if self.wait:  # the limit holds whatever the importance
            worth[longest(t, memory.eligible(), memory.tie, self.wait, self._budget)] = np.inf
        return worth

    def _worth(self, p: FloatArray, t: FloatArray, pages: PageIds) -> FloatArray:
        brings = np.ones(len(pages))
        if self.objective.needs_links:
            placed = self.places.ids[pages, SITE] >= 0
            brings[placed] = self.links.expected(pages[placed], self.places, self.evidence, self.history)
        return self.objective.index(p, t, np.broadcast_to(brings, p.shape))

    def _best(self, memory: Memory, size: int) -> PageIds:
        ranking = self._ranking(memory)
        held = ranking.copy()
        held[self.history.first[: len(memory)] < 0] = -np.inf
        order = top_k(held, memory, min(20 * size, len(memory)))
        order = order[self.history.first[order] >= 0]
        rooms = np.array([self.site_room, self.place_room])
        taken = spread(order, self.places.ids[:, [SITE, PARENT]], self.evidence.visits_now, rooms, size)
        if len(taken):
            self._threshold = float(ranking[taken].min())
        if self._round > 1:
            self.scouting.watch(marginal=taken[-max(1, int(MARGIN * len(taken))) :])
            return taken
        sent = self._choose_scouts(memory, taken, size)
        return np.concatenate([taken[: size - len(sent)], sent])

    def _choose_scouts(self, memory: Memory, taken: PageIds, size: int) -> PageIds:
        """Return this cycle's scouts: in the first round, so that the others can follow what they find."""
        count = self.scouting.due(self._budget, size)
        if not count:
            return NO_PAGES
        pages = np.flatnonzero(memory.eligible() & (self.history.first[: len(memory)] >= 0))
        quiet = self.evidence.quiet(self._cycle)
        sent = scouts(pages, self.places.ids[:, SCOUTED], taken, self.history.last, memory.tie, quiet, count)
        self.scouting.watch(sent=sent)
        return sent

    # -- learning ---------------------------------------------------------------------------------------------------

    def observe(self, visits: Visits) -> None:
        """Learn from what was just visited."""
        compared = visits.outcome < Outcome.FIRST
        new = visits.pages[visits.outcome == Outcome.FIRST]
        pages, changed = visits.pages[compared], visits.changed[compared]
        found = (visits.new_internal + visits.new_external)[compared]
        self.links.learn(pages, found, int(changed.sum()), self.places, self.history)
        warm = len(pages) > 0.6 * max(1, int((self.history.first >= 0).sum()))
        self._surprise = np.zeros(len(self.evidence.groups))
        judged = np.argsort(self._tie[pages])[:SAMPLE]
        self.prior.fit(pages[judged], changed[judged], self.places, self.evidence, self.history, self._cycle)
        for part in np.array_split(np.arange(len(pages)), WARM_CHUNKS if warm else 1):
            self._take_in(pages[part], changed[part], warm)
        self.history.begin(new, self._cycle)
        if visits.length is not None:
            self.history.read(visits.pages, visits.length)
        self._regroup(new)
        self._asked += [pages, new]
        self.scouting.observe(visits)

    def _take_in(self, pages: PageIds, changed: BoolArray, warm: bool) -> None:
        rows, prior = self._describe(pages)
        kept, weight = np.ones(len(pages), dtype=np.bool_), np.ones(len(pages))
        if warm and len(pages) * WARM_CHUNKS > WARM_ROWS:
            share = WARM_ROWS / (len(pages) * WARM_CHUNKS)
            kept = changed | (uniform(self._tie[pages], self._cycle) < share)
            weight = np.where(changed, 1.0, 1.0 / share)
        self.hazard.learn(rows[kept], prior[kept], changed[kept], weight[kept], self._cycle)
        expected = self._score[pages] if not warm else prior
        np.add.at(self._surprise, self.places.ids[pages], (changed - expected)[:, None])
        if not warm:
            self.hazard.judge(rows, prior, changed, weight)
        gap = (self._cycle - self.history.last[pages]).astype(np.float64)
        self.evidence.update(pages, self.places.ids, changed, gap, self._cycle)
        self.history.update(pages, changed, self._cycle)
        self._regroup(pages)

    # -- explaining and keeping ---------------------------------------------------------------------------------------

    def explain(self, page: int) -> Explanation:
        """Say what is thought of a page that we have a copy of, as if it were asked in the cycle that is open."""
        if not 0 <= page < len(self.history.first) or self.history.first[page] < 0:
            raise InputError(f"page {page} has not been fetched yet, so there is nothing to explain: it comes first")
        pages = np.array([page])
        rows, prior = self._describe(pages)
        chance = float(self.hazard.probability(rows, prior)[0])
        waited = int(self._cycle - self.history.last[page])
        weight = 1.0 if self._importance is None else float(self._importance[page])
        ahead = waited + np.arange(FAR, dtype=np.float64)
        pace = np.log1p(-min(chance, 1.0 - 1e-12)) / max(waited, 1)
        index = self._worth(-np.expm1(pace * ahead), np.maximum(ahead, 1.0), pages) * weight
        paths = self._paths()
        groups = group_names("" if paths is None else str(paths[page]))
        trust = self.hazard.calibration
        effects = trust.slope * trust.trust * effects_of(self.hazard.model, rows)
        causes = causes_of(
            dict(zip(FEATURES, rows[0].tolist(), strict=True)),
            dict(zip(FEATURES, effects.tolist(), strict=True)),
            groups,
            float(prior[0]),
            self.evidence.base,
            trust.slope,
        )
        due = next_visit(index, self._threshold, waited, self.wait)
        return Explanation(page, float(index[0]), chance, float(prior[0]), causes, due)

    def to_json(self) -> dict[str, Any]:
        """Return what was learnt about pages in general: the model and the share of exploring.

        What was seen of each page is not in it: that is in the store, and comes back by replaying the visits.
        """
        model = None if self.hazard.model is None else self.hazard.model.model_to_string()  # LightGBM's own text
        held = {
            "format": FORMAT,
            "features": list(FEATURES),
            "explore": self.scouting.share,
            "links": self.links.totals.tolist(),
        }
        trust = self.hazard.calibration
        prior = self.prior.to_json()
        return {**held, "prior": prior, "trust": [trust.shift, trust.slope, trust.trust], "model": model}

    def load_json(self, held: dict[str, Any]) -> None:
        """Take over what `to_json` returned."""
        from lightgbm import Booster
        from lightgbm.basic import LightGBMError

        try:
            if held["format"] != FORMAT or held["features"] != list(FEATURES):
                raise ValueError("another format or other features")
            model = None if held["model"] is None else Booster(model_str=held["model"])
            self.scouting.share, self.links.totals = float(held["explore"]), np.array(held["links"], dtype=np.float64)
            self.prior.load_json(held["prior"])
            shift, slope, trust = (float(value) for value in held["trust"])
            self.hazard.calibration = Calibration(shift, slope, trust)
            self.hazard.model = model
        except (KeyError, TypeError, ValueError, LightGBMError) as wrong:
            raise InputError(f"not a saved model of `learned`: {str(wrong).splitlines()[0]}") from None

    # -- keeping up -------------------------------------------------------------------------------------------------

    def _meet(self, memory: Memory) -> None:
        """Place pages that have become known, and open the cycle."""
        known = np.flatnonzero(memory.known)
        self._tie, self._importance = memory.tie, memory.importance
        self.history.make_room(len(memory))
        missing = self.places.missing(known)
        if len(missing):
            self._load_paths = memory.load_paths
            self.places.place(missing, memory.site, self._paths(), len(memory))
            self._score = grown(self._score, len(memory), 0.0)
            held = missing[memory.last_cycle[missing] >= 0]
            self.history.begin(held[self.history.first[held] < 0], 0)
            self._read(memory, held)
            self._regroup(missing)
        if memory.cycle != self._cycle:
            self._cycle, self._round = memory.cycle, 0
            self.scouting.adapt(self.places.ids[:, DIRECTORY], self.evidence.changes_now)
            self._settle()
            self.evidence.begin_cycle(np.unique(self.places.ids[known, SITE]))
            self._surprise = np.zeros(len(self.evidence.groups))
            self.prior.refit(self.places, self.evidence, self.history)
            if self.hazard.model is None or self._cycle % self.every == 0 or self._cycle <= EARLY:
                self.hazard.fit(self._cycle)

    def _read(self, memory: Memory, held: PageIds) -> None:
        """Take in what the copies are like that the crawl began with."""
        words = None if memory.copies is None or not len(held) else memory.copies.column("words")
        if words is not None:
            self.history.read(held, words[held])

    def _paths(self) -> npt.NDArray[np.object_] | None:
        """Read the pages' paths; they are not kept, since few are needed once pages are placed."""
        return None if self._load_paths is None else self._load_paths()

    def _regroup(self, pages: PageIds) -> None:
        """Move pages to the groups of their past, and make room for groups that are new."""
        self.places.regroup(pages, self.history)
        self.evidence.make_room(len(self.places), len(self.history.first))
        self._surprise = grown(self._surprise, len(self.evidence.groups), 0.0)

    def _settle(self) -> None:
        """Note what the groups of last cycle's pages knew when it ended: all its visits saw the same instant."""
        for pages in self._asked:
            self.evidence.settle(pages, self.places.ids)
        self._asked = []

    def _describe(self, pages: PageIds) -> tuple[Rows, FloatArray]:
        """Return the features of these pages as they are known now, and the prior chance of a change."""
        rows = np.empty((len(pages), len(FEATURES)), dtype=np.float32)
        own = len(history.FEATURES)
        self.history.describe(pages, self._cycle, rows[:, :own])
        self.evidence.describe(pages, self.places.ids, self._cycle, rows[:, own:])
        return rows, self.prior.chance(pages, self.places, self.evidence, self.history, self._cycle)


def _mask(size: int, pages: PageIds) -> BoolArray:
    mask = np.zeros(size, dtype=np.bool_)
    mask[pages] = True
    return mask


@policies.add(
    "learned", formula="chance of a change, learnt from own visits, neighbours and this cycle", source="recrawl"
)
def _learned(
    setting: Setting, objective: str = "changes", rounds: int = 8, every: int = 3, explore: float = 0.03, wait: int = 0
) -> Policy:
    if rounds < 1 or every < 1 or wait < 0 or not 0 <= explore <= 1:
        raise ValueError("rounds and every are at least 1, wait at least 0, explore between 0 and 1")
    return Learned(parse_objective(objective), setting.seed, rounds, every, explore, wait)
