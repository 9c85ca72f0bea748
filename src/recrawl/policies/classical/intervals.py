"""Crawlers that give every page an interval and visit it when it is due.

Each keeps per page an interval and the instant it is next due, written after every visit by the rule of
that crawler. In a cycle the due pages are visited, the more important first, then the longest due; what is left of the
budget stays unspent, as in these crawlers, or with `fill` goes to the pages due next. The default constants are those
that the projects ship.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Protocol

import numpy as np

from recrawl.arguments import Days
from recrawl.columns import BoolArray, ByteArray, FloatArray, PageIds, grown
from recrawl.memory import Memory
from recrawl.policies.selection import Key, first_k
from recrawl.policy import Named, Policy, Setting, policies
from recrawl.visits import Outcome, Visits

CLOCK_SLACK_DAYS = 1e-9  # sums of cycle lengths are not exact


@dataclass
class Books:
    """State of an interval scheduler per page, as aligned columns; NaN where no visit has set it."""

    interval_days: FloatArray
    due_at: FloatArray
    modified_at: FloatArray
    failures: FloatArray  # in a row

    @classmethod
    def blank(cls, size: int) -> Books:
        """Return empty state: NaN everywhere."""
        return cls(np.full(size, np.nan), np.full(size, np.nan), np.full(size, np.nan), np.zeros(size))

    def of(self, pages: PageIds) -> Books:
        """Copy the rows of some pages."""
        return Books(*(getattr(self, column.name)[pages] for column in fields(self)))

    def write(self, pages: PageIds, rows: Books) -> None:
        """Replace the rows of some pages."""
        for column in fields(self):
            getattr(self, column.name)[pages] = getattr(rows, column.name)

    def reach(self, size: int) -> None:
        """Make room for more pages."""
        for column in fields(self):
            fill = 0.0 if column.name == "failures" else np.nan
            setattr(self, column.name, grown(getattr(self, column.name), size, fill))


class IntervalRule(Protocol):
    """How a crawler sets the next visit."""

    @property
    def first_days(self) -> float:
        """The interval that a page starts with."""

    def after(self, outcome: ByteArray, at: FloatArray, old: Books) -> Books:
        """Return the rows after visits with these outcomes; `old.interval_days` is never NaN."""

    def wants(self, memory: Memory) -> BoolArray | None:
        """Return the pages that are visited again at all; None for all of them."""


class Intervals(Named):
    """Visit the pages that are due under a rule."""

    def __init__(self, rule: IntervalRule, fill: bool = False) -> None:
        self.rule = rule
        self.fill = fill
        self.books = Books.blank(0)

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Return pages without a copy, then due pages by importance and due time, then with `fill` those due next."""
        due_at = self.due_at(memory)
        due = due_at <= at + CLOCK_SLACK_DAYS
        keys: list[Key] = [due_at]
        if memory.importance is not None:
            stage = 2 - due.astype(np.uint8) - (due_at == -np.inf)  # no copy yet, due, not due
            keys = [stage, np.where(due, -memory.importance, 0.0), due_at]
        return first_k(keys, memory, budget, among=None if self.fill else due)

    def due_at(self, memory: Memory) -> FloatArray:
        """When each page is next due: as the rule has set it, and at once (-inf) before its first visit.

        A copy that a crawl starts with is due one first interval after it was taken.
        """
        self.books.reach(len(memory))
        due_at = self.books.due_at[: len(memory)]
        due_at = np.where(np.isnan(due_at), memory.last_visit + self.rule.first_days, due_at)
        wanted = self.rule.wants(memory)
        if wanted is not None:
            due_at[~wanted & ~np.isnan(due_at)] = np.inf
        due_at[np.isnan(due_at)] = -np.inf
        return due_at

    def learn(self, memory: Memory, visits: Visits) -> None:
        """Write down when the visited pages are next due."""
        self.books.reach(len(memory))
        old = self.books.of(visits.pages)
        old.interval_days[np.isnan(old.interval_days)] = self.rule.first_days
        old.failures = np.where(visits.outcome == Outcome.FAILED, old.failures + 1.0, 0.0)
        self.books.write(visits.pages, self.rule.after(visits.outcome, visits.at, old))


@dataclass(frozen=True)
class Fixed:
    """The same interval for every page, whatever the visits find."""

    first_days: float
    relevance: float = 0.0  # pages of less importance are not visited again

    def after(self, outcome: ByteArray, at: FloatArray, old: Books) -> Books:
        """Set the next visit one interval later."""
        return Books(old.interval_days, at + self.first_days, old.modified_at, old.failures)

    def wants(self, memory: Memory) -> BoolArray | None:
        """Return the relevant pages; where importances are not given, all are."""
        if not self.relevance or memory.importance is None:
            return None
        return np.asarray(np.abs(memory.importance) >= self.relevance)


@policies.add("fixed", formula="due when the interval has passed", source="Heritrix, changedetection.io")
def _fixed(setting: Setting, every: Days = 7.0, fill: bool = False) -> Policy:
    return Intervals(Fixed(every), fill)


@policies.add("ache", formula="fixed, if |mu| >= relevance", source="ACHE")
def _ache(setting: Setting, every: Days = 1 / 24, relevance: float = 299.0, fill: bool = False) -> Policy:
    return Intervals(Fixed(every, relevance), fill)
