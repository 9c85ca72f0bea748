"""The `learned` policy: a prequentially learnt chance of change, spent in rounds with exploration.

A cycle's budget is spent in rounds (rounds.py). Before each round pages are scored with what all visits so far, also
those of the rounds before, have shown (belief.py); a round takes only so many pages of one site and directory, twice as
many as have been asked there in this cycle, so that a site-wide edit is noticed by a few visits and then followed. Only
the first round scores every page; later ones score the best candidates again, and the pages of groups in which more
changed than was expected. A share of the budget scouts groups that the scores leave out (scouts.py), beside the first
round, so that later ones can follow; it grows or shrinks with what the scouted groups bring. Sites on which less is
found than the longest unvisited first would find get visits of their own (floor.py). A change that was hardly expected
has the pages around it visited next (follow.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recrawl.columns import FloatArray, PageIds, grown
from recrawl.errors import InputError
from recrawl.memory import Memory
from recrawl.policies.learned.base_model import SHIPPED, read_base
from recrawl.policies.learned.belief import FEATURES, Belief
from recrawl.policies.learned.explain import FAR, Explanation, next_visit
from recrawl.policies.learned.floor import Floor
from recrawl.policies.learned.follow import neighbours, surprises
from recrawl.policies.learned.objectives import Objective, parse_objective
from recrawl.policies.learned.places import DIRECTORY, PARENT, SECTION, SHAPE, SITE
from recrawl.policies.learned.rounds import ROUNDS, longest, most_unfetched, round_size, rounds_of, spread
from recrawl.policies.learned.scouts import Scouting, scouts
from recrawl.policies.links.link_outlook import LinkOutlook
from recrawl.policies.selection import NO_PAGES, top_k
from recrawl.policy import Named, Policy, Setting, policies
from recrawl.visits import Visits

CANDIDATES = 4  # times the budget: how many pages later rounds score again
HOT = 0.5  # changes above what was expected, from which on a group's pages are scored again (once)
SCOUTED = (
    ([SITE], 0.0),
    ([SHAPE], 0.5),
    ([SECTION, PARENT, DIRECTORY], 1.0),
)  # levels, power: a third of the scouts each
NONE: FloatArray = np.empty((0, 2))  # gains or links that the objective does not need
MARGIN = 0.25  # share of the last round: the pages that scouts are compared with


@dataclass(repr=False, eq=False)
class Learned(Named):
    """The default policy, see the module; its parameters are listed by `recrawl policies`."""

    objective: Objective
    seed: int = 0
    rounds: int = ROUNDS  # at most
    every: int = 3  # cycles between trainings
    explore: float = 0.05  # least share of the budget for scouts
    floor: float = 1.0  # share, per site, of what the oldest-first rule would find, that is aimed at; 0: no promise
    wait: int = 0  # most cycles between visits to a page, whatever its score, if the budget allows it; 0: no limit
    base: str = SHIPPED  # the base model: a file, the shipped one, or none
    remembers_choices: ClassVar[bool] = True  # who was scouted and chosen last decides how much is scouted
    site_room: int = 16  # visits to a site in a round, on top of those it already had in this cycle
    place_room: int = 8

    def __post_init__(self) -> None:
        self.scouting = Scouting(self.explore)
        self.promise = Floor(self.floor)
        self.belief = Belief(self.seed, self.every, base=read_base(self.base, FEATURES))
        self.outlook = LinkOutlook(self.seed, self.every) if self.objective.needs_links else None
        self._importance: FloatArray | None = None
        self._round = 0
        self._budget = 0
        self._score: FloatArray = np.empty(0)  # the chance of each page when it was last scored
        self._gains: FloatArray = np.empty((0, 2))  # what a change of each page is worth, where the objective needs it
        self._links: FloatArray = np.empty(0)  # new links to expect of each page in this cycle, in the same way
        self._surprises: PageIds = NO_PAGES  # of the last round
        self._threshold = 0.0  # the index of the last page that the scores chose

    # -- choosing ---------------------------------------------------------------------------------------------------

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Return the next round's pages."""
        self.begin(memory, at)
        if self._round == 0:
            self._budget = budget
        self._round += 1
        rounds = rounds_of(self.rounds, self._budget)
        size = round_size(budget, rounds, self._round)
        eligible, held = memory.eligible(), self.belief.held(memory)
        unfetched = eligible & ~held
        self._score_pages(np.flatnonzero(eligible & held))
        most = min(budget, most_unfetched(size, self._budget, rounds), int(unfetched.sum()))
        first = top_k(np.zeros(len(memory)), memory, most, ahead=unfetched)
        first = first[~held[first]]
        if len(first) >= size or memory.site_room() is not None:
            return first if len(first) else self._capped_by_site(memory, size)
        return np.concatenate([first, self._best(memory, size - len(first), budget - len(first))])

    def chances(self, pages: PageIds) -> FloatArray:
        """Return the chance that each of these pages has changed, as it was when they were last scored."""
        return self._score[pages]

    def _capped_by_site(self, memory: Memory, size: int) -> PageIds:
        """Return the best pages; under a cap on sites no spreading is needed, the cap itself spreads the visits."""
        return top_k(self._ranking(memory), memory, size)

    def _score_pages(self, pages: PageIds) -> None:
        """Score all pages in the first round, later the best and those where more changed than expected."""
        if self._round > 1:
            pages = self._candidates(pages)
        elif self.outlook is not None:
            self._links = grown(self.outlook.expected(), len(self._score), 0.0)
        self.belief.fill_chances(pages, self._score)
        if self.objective.needs_gains:
            self._gains[pages] = self.belief.gains_of(pages, self._waited(pages))

    def _waited(self, pages: PageIds) -> FloatArray:
        return np.maximum(self.belief.cycle - self.belief.history.last[pages], 1).astype(np.float64)

    def _candidates(self, pages: PageIds) -> PageIds:
        keep = np.zeros(len(pages), dtype=np.bool_)
        count = min(len(pages), CANDIDATES * self._budget)
        if count:
            keep[np.argpartition(-self._score[pages], count - 1)[:count]] = True
        hot = self.belief.surprise > HOT
        self.belief.surprise[hot] = 0.0
        if hot.any():
            keep |= hot[self.belief.places.ids[pages][:, PARENT:]].any(axis=1)
        return pages[keep]

    def _ranking(self, memory: Memory) -> FloatArray:
        worth = self.objective.index(self._score[: len(memory)], NONE, NONE) if self.objective.by_chance else None
        if worth is None:
            pages, worth = np.flatnonzero(self.belief.held(memory)), np.zeros(len(memory))
            gains = self._gains[pages] if self.objective.needs_gains else NONE
            worth[pages] = self._worth(self._score[pages], self._waited(pages), pages, gains)
        if memory.importance is not None:
            worth = worth * memory.importance
        if self.wait:  # the limit holds whatever the importance
            t = self._waited(np.arange(len(memory)))
            worth[longest(t, memory.eligible(), memory.tie, self.wait, self._budget)] = np.inf
        return worth

    def _worth(self, p: FloatArray, t: FloatArray, pages: PageIds, gains: FloatArray) -> FloatArray:
        links = self._links[pages] * (t / self._waited(pages)) if self.objective.needs_links else NONE
        return self.objective.index(p, links, gains)

    def _best(self, memory: Memory, size: int, left: int) -> PageIds:
        ranking, held = self._ranking(memory), self.belief.held(memory)
        order = top_k(np.where(held, ranking, -np.inf), memory, min(20 * size, len(memory)))
        order = order[held[order]]
        rooms = np.array([self.site_room, self.place_room])
        taken = spread(order, self.belief.places.ids[:, [SITE, PARENT]], self.belief.evidence.visits_now, rooms, size)
        if len(taken):
            self._threshold = float(ranking[taken].min())
        sent = self._neighbours(memory, taken)[:size]
        if self._round == 1:
            chosen = np.concatenate([taken, sent])
            sent = np.concatenate([sent, self._choose_scouts(memory, chosen, left - len(sent))])
            sent = np.concatenate([sent, self._owed(memory, sent, left - len(sent))])
            size = min(left, size + len(sent))
        taken = taken[~np.isin(taken, sent)][: size - len(sent)]
        if self._round > 1:
            self.scouting.watch(marginal=taken[-max(1, int(MARGIN * len(taken))) :])
        return np.concatenate([taken, sent])

    def _neighbours(self, memory: Memory, taken: PageIds) -> PageIds:
        """Return the pages around the surprises of the last round."""
        found, self._surprises = self._surprises, NO_PAGES
        pages = np.flatnonzero(memory.eligible() & self.belief.held(memory))
        return neighbours(found, pages, taken, self.belief.places, self.belief.history.last, memory.tie)

    def _owed(self, memory: Memory, sent: PageIds, room: int) -> PageIds:
        """Return the pages that are visited for the promise per site."""
        if not self.floor or self.objective.links_only:  # it is a promise of changes
            return NO_PAGES
        may = memory.eligible() & self.belief.held(memory)
        may[sent] = False
        waited = (self.belief.cycle - self.belief.history.last[: len(memory)]).astype(np.float64)
        pages, chance = np.flatnonzero(may), self._score[: len(memory)]
        return self.promise.choose(
            pages, memory.site, chance, waited, memory.tie, self._budget, room, self.belief.cycle
        )

    def _choose_scouts(self, memory: Memory, taken: PageIds, size: int) -> PageIds:
        """Return this cycle's scouts: beside the first round, so that the others can follow what they find."""
        count = self.scouting.due(self._budget, size)
        if not count:
            return NO_PAGES
        pages = np.flatnonzero(memory.eligible() & self.belief.held(memory))
        sent = NO_PAGES
        for left, (levels, power) in zip(range(len(SCOUTED), 0, -1), SCOUTED, strict=True):
            share = -(-(count - len(sent)) // left)  # of what the levels before have left
            among = np.concatenate([taken, sent])
            sent = np.concatenate([sent, self._scouts(memory, pages, levels, among, share, power)])
        self.scouting.watch(sent=sent)
        return sent

    def _scouts(
        self, memory: Memory, pages: PageIds, levels: list[int], taken: PageIds, count: int, power: float
    ) -> PageIds:
        belief = self.belief
        groups, quiet = belief.places.ids[:, levels], belief.evidence.quiet(belief.cycle)
        return scouts(pages, groups, taken, belief.history.last, memory.tie, quiet, count, power)

    # -- learning ---------------------------------------------------------------------------------------------------

    def learn(self, memory: Memory, visits: Visits) -> None:
        """Learn from what was just visited."""
        if len(self.belief.places.missing(visits.pages)):  # found and visited within one cycle, by another's choice
            self.belief.meet(memory)
            if self.outlook is not None:
                self.outlook.begin(memory, 0.0)
        self._surprises = surprises(visits, self._score) if self._budget else NO_PAGES
        self.belief.learn(visits, self._score)
        if self.outlook is not None:
            self.outlook.learn(memory, visits)
        self.scouting.observe(visits)
        self.promise.learn(memory.site, visits)

    def begin(self, memory: Memory, at: float) -> None:
        """Place pages that have become known, and begin the cycle."""
        self._importance = memory.importance
        self.belief.meet(memory)
        self._score = grown(self._score, len(memory), 0.0)
        if self.objective.needs_gains:
            self._gains = grown(self._gains, len(memory), 0.0)
        if self.outlook is not None and memory.cycle != self.outlook.cycle:
            self.outlook.begin(memory, at)
        if memory.cycle != self.belief.cycle:
            self._round = 0
            self.scouting.adapt(self.belief.places.ids[:, DIRECTORY], self.belief.evidence.changes_now)
            self.belief.open_cycle(memory)

    @property
    def notes(self) -> tuple[str, ...]:
        """What exploring has cost and brought; whether new links are looked for without any words."""
        spent = tuple(str(part) for part in (self.scouting, self.promise) if part.visits)
        return spent if self.outlook is None else (*self.outlook.notes, *spent)

    # -- explaining ------------------------------------------------------------------------------------------------

    def explain(self, page: int) -> Explanation:
        """Explain the score of a page with a copy, as of the open cycle."""
        past = self.belief.history
        if not 0 <= page < len(past.first) or past.first[page] < 0:
            raise InputError(f"page {page} has not been fetched yet, so there is nothing to explain: it comes first")
        chance, prior, causes = self.belief.causes(page)
        waited = int(self.belief.cycle - past.last[page])
        weight = 1.0 if self._importance is None else float(self._importance[page])
        ahead = waited + np.arange(FAR, dtype=np.float64)
        pace = np.log1p(-min(chance, 1.0 - 1e-12)) / max(waited, 1)
        t, same = np.maximum(ahead, 1.0), np.full(len(ahead), page)
        gains = self.belief.gains_of(same, t)
        index = self._worth(-np.expm1(pace * ahead), t, same, gains) * weight
        due = next_visit(index, self._threshold, waited, self.wait)
        return Explanation(page, float(index[0]), chance, prior, causes, due, self.notes)


@policies.add(
    "learned", formula="chance of a change, learnt from own visits, neighbours and this cycle", source="recrawl"
)
def _learned(
    setting: Setting,
    objective: str = "changes",
    rounds: int = ROUNDS,
    every: int = 3,
    explore: float = 0.05,
    floor: float = 1.0,
    wait: int = 0,
    base: str = SHIPPED,
) -> Policy:
    if rounds < 1 or every < 1 or wait < 0 or floor < 0 or not 0 <= explore <= 1:
        raise ValueError("rounds and every are at least 1, wait and floor at least 0, explore between 0 and 1")
    return Learned(parse_objective(objective), setting.seed, rounds, every, explore, floor, wait, base)
