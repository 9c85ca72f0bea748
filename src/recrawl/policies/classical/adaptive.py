"""Crawlers whose intervals shrink when a visit finds a change and grow when it does not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.arguments import Days, Share
from recrawl.columns import BoolArray, ByteArray, FloatArray
from recrawl.memory import Memory
from recrawl.policies.classical.intervals import Books, Intervals
from recrawl.policy import Policy, Setting, policies
from recrawl.visits import Outcome

MINUTES = 1440.0  # per day
MAX_FETCH_INTERVAL_DAYS = 90.0  # Nutch's db.fetch.interval.max, which its rule for gone pages refers to
GONE_GROWTH, GONE_SHARE = 1.5, 0.9


@dataclass(frozen=True)
class Nutch:
    """Nutch's AdaptiveFetchSchedule.

    A change multiplies the interval I by 1 - dec, none by 1 + inc. With sync, d = time since the last change found: I
    is at least d, and the next visit comes d * rate earlier, to fall in step with the page. I stays within [least,
    most]. A failed visit is repeated after `retry`, up to `retries` times in a row; then the page counts as gone:
    I *= 1.5, or 81 days where that would reach 90. (Pages that answer "gone" are never visited again in recrawl, under
    any policy.)
    """

    first_days: float = 30.0
    inc: float = 0.4
    dec: float = 0.2
    sync: bool = True
    rate: float = 0.3
    least_days: float = 60 / 86400
    most_days: float = 365.0
    retry_days: float = 1.0
    retries: int = 3

    def after(self, outcome: ByteArray, at: FloatArray, old: Books) -> Books:
        """Adapt the intervals."""
        changed, unchanged = outcome == Outcome.CHANGED, outcome == Outcome.UNCHANGED
        factor = np.where(changed, 1.0 - self.dec, np.where(unchanged, 1.0 + self.inc, 1.0))
        modified_at = np.where(changed | np.isnan(old.modified_at), at, old.modified_at)
        since = (at - modified_at) if self.sync else np.zeros(len(at))
        interval = np.clip(np.maximum(old.interval_days * factor, since), self.least_days, self.most_days)
        rows = Books(interval, at - since * self.rate + interval, modified_at, old.failures)
        return self._without_answer(outcome, at, old, rows)

    def _without_answer(self, outcome: ByteArray, at: FloatArray, old: Books, rows: Books) -> Books:
        failed = outcome == Outcome.FAILED
        gone = (outcome == Outcome.GONE) | (failed & (old.failures > self.retries))
        longer = old.interval_days * GONE_GROWTH
        longer = np.where(longer < MAX_FETCH_INTERVAL_DAYS, longer, GONE_SHARE * MAX_FETCH_INTERVAL_DAYS)
        rows.interval_days = np.where(gone, longer, np.where(failed, old.interval_days, rows.interval_days))
        rows.due_at = np.where(gone, at + longer, np.where(failed, at + self.retry_days, rows.due_at))
        rows.modified_at = np.where(gone | failed, old.modified_at, rows.modified_at)
        return rows

    def wants(self, memory: Memory) -> BoolArray | None:
        """All pages."""
        return None


@dataclass(frozen=True)
class StormCrawler:
    """StormCrawler's AdaptiveScheduler, in whole minutes.

    A change makes the interval floor((1 - dec) I + dec * least), none min(floor((1 + inc) I), most). After a failed
    visit the page is tried again after `retry` and starts anew with the first interval; after `errors` failures in a
    row it is left alone for `error`. Common Crawl's news crawl uses least=90m, most=90d, inc=0.5, dec=0.2.
    """

    first_days: float = 1.0
    inc: float = 0.5
    dec: float = 0.5
    least_days: float = 60 / MINUTES
    most_days: float = 14.0
    retry_days: float = 120 / MINUTES
    errors: int = 3
    error_days: float = 44640 / MINUTES

    def after(self, outcome: ByteArray, at: FloatArray, old: Books) -> Books:
        """Adapt the intervals."""
        minutes = np.round(old.interval_days * MINUTES)
        shorter = np.floor((1.0 - self.dec) * minutes + self.dec * self.least_days * MINUTES)
        longer = np.minimum(np.floor((1.0 + self.inc) * minutes), self.most_days * MINUTES)
        interval = np.select(
            [outcome == Outcome.CHANGED, outcome == Outcome.UNCHANGED],
            [shorter / MINUTES, longer / MINUTES],
            self.first_days,
        )
        failed = outcome == Outcome.FAILED
        wait = np.where(old.failures >= self.errors, self.error_days, self.retry_days)
        wait = np.where(outcome == Outcome.GONE, self.error_days, np.where(failed, wait, interval))
        return Books(interval, at + wait, old.modified_at, old.failures)

    def wants(self, memory: Memory) -> BoolArray | None:
        """All pages."""
        return None


@policies.add("nutch", formula="I *= 1-dec if changed, else 1+inc", source="Nutch AdaptiveFetchSchedule")
def _nutch(
    setting: Setting,
    first: Days = 30.0,
    inc: float = 0.4,
    dec: Share = 0.2,
    sync: bool = True,
    rate: float = 0.3,
    least: Days = 60 / 86400,
    most: Days = 365.0,
    retry: Days = 1.0,
    retries: int = 3,
    fill: bool = False,
) -> Policy:
    _check(inc, least, most)
    return Intervals(Nutch(first, inc, dec, sync, rate, least, most, retry, retries), fill)


@policies.add(
    "stormcrawler",
    formula="I = (1-dec)I + dec*least if changed",
    source="StormCrawler AdaptiveScheduler",
)
def _stormcrawler(
    setting: Setting,
    first: Days = 1.0,
    inc: float = 0.5,
    dec: Share = 0.5,
    least: Days = 60 / MINUTES,
    most: Days = 14.0,
    retry: Days = 120 / MINUTES,
    errors: int = 3,
    error: Days = 44640 / MINUTES,
    fill: bool = False,
) -> Policy:
    _check(inc, least, most)
    return Intervals(StormCrawler(first, inc, dec, least, most, retry, errors, error), fill)


def _check(inc: float, least: float, most: float) -> None:
    if inc < 0:
        raise ValueError(f"inc must not be negative, but is {inc:g}")
    if least > most:
        raise ValueError("least must not be longer than most")
