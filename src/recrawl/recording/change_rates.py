"""How often the pages of a recording change: the share that changes in a day or a week, site by site.

A rate is the mean over a site's whole days (or weeks) of the share of the pages alive when the day begins that change
at least once in it. Two means over sites are of use: by page, which a large quiet site can dominate, and by site.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.columns import BoolArray, FloatArray, IntArray
from recrawl.recording.recording import Recording

DAY, WEEK = 1.0, 7.0


@dataclass(frozen=True)
class Periods:
    """Counts of pages in each whole period of each site: sites x periods."""

    changed: IntArray  # alive at its beginning, and changed in it
    alive: IntArray  # alive at its beginning

    def by_site(self) -> FloatArray:
        """Return each site's rate; NaN for a site without pages or whole periods."""
        there = self.alive > 0
        shares = np.divide(self.changed, self.alive, out=np.zeros(self.alive.shape), where=there)
        counted = there.sum(axis=1)
        return np.divide(shares.sum(axis=1), counted, out=np.full(len(counted), np.nan), where=counted > 0)

    def by_period(self) -> FloatArray:
        """Return the share of all pages that changed in each period; NaN where none was alive."""
        alive = self.alive.sum(axis=0)
        return np.divide(self.changed.sum(axis=0), alive, out=np.full(len(alive), np.nan), where=alive > 0)


def periods(recording: Recording, length_days: float, which: BoolArray | None = None) -> Periods:
    """Count pages by whole periods [start + k L, start + (k + 1) L); `which` picks the changes that count."""
    sites = len(recording.site_days)
    watched = np.minimum(recording.site_days, recording.end) - recording.start
    whole = np.maximum(np.floor(watched / length_days + 1e-6), 0).astype(np.int64)
    most = int(whole.max(initial=0))
    if not most or not len(recording):
        none = np.zeros((sites, most), dtype=np.int64)
        return Periods(none, none)
    page, period = _changed_in(recording, length_days, which)
    begins = recording.start + period * length_days
    counts = (recording.born[page] <= begins) & (recording.died[page] > begins)
    page, period = page[counts], period[counts]
    counted = period < whole[recording.site[page]]
    cell = recording.site[page].astype(np.int64) * most + period
    changed = np.bincount(cell[counted], minlength=sites * most).reshape(sites, most)
    alive = _alive(recording, length_days, most)
    alive[np.arange(most) >= whole[:, None]] = 0
    return Periods(changed, alive)


def _changed_in(recording: Recording, length_days: float, which: BoolArray | None) -> tuple[IntArray, IntArray]:
    """Return the distinct pairs of page and period in which the page changed, in order."""
    page, day = recording.change_page, recording.change_day
    if which is not None:
        page, day = page[which], day[which]
    period = np.floor((day - recording.start) / length_days).astype(np.int64)
    first = np.ones(len(page), dtype=np.bool_)
    first[1:] = (page[1:] != page[:-1]) | (period[1:] != period[:-1])
    return page[first], period[first]


def _alive(recording: Recording, length_days: float, most: int) -> IntArray:
    """Count the pages alive at the beginning of every period, by site: births and deaths, summed up."""
    sites = len(recording.site_days)

    def first_period(day: FloatArray) -> IntArray:
        return np.clip(np.ceil((day - recording.start) / length_days), 0, most).astype(np.int64)

    cell = recording.site.astype(np.int64) * (most + 1)
    size = sites * (most + 1)
    births = np.bincount(cell + first_period(recording.born), minlength=size)
    deaths = np.bincount(cell + first_period(recording.died), minlength=size)
    return np.cumsum((births - deaths).reshape(sites, most + 1), axis=1)[:, :most]


@dataclass(frozen=True)
class ChangeRates:
    """Rates of a set of sites, as shares; NaN where not recorded."""

    daily: float
    weekly: float
    weekly_words: float  # changes of words only
    daily_small: float  # without mass commits
    weekly_small: float
    weekly_new_internal: float
    weekly_new_external: float


def rates_by_site(recording: Recording) -> dict[str, FloatArray]:
    """Return every rate of `ChangeRates` for every site."""

    def rate(length_days: float, *columns: str, none_of: bool = False) -> FloatArray:
        """Count the changes in which one of the columns is above zero, or none of them is."""
        if not all(recording.has_change(column) for column in columns):
            return np.full(len(recording.site_days), np.nan)
        some = np.zeros(len(recording.change_day), dtype=np.bool_)
        for column in columns:
            some |= recording.change(column) > 0
        return periods(recording, length_days, ~some if none_of else some).by_site()

    return {
        "daily": periods(recording, DAY).by_site(),
        "weekly": periods(recording, WEEK).by_site(),
        "weekly_words": rate(WEEK, "d_words_added", "d_words_removed"),
        "daily_small": rate(DAY, "mass_commit", none_of=True),
        "weekly_small": rate(WEEK, "mass_commit", none_of=True),
        "weekly_new_internal": rate(WEEK, "new_internal"),
        "weekly_new_external": rate(WEEK, "new_external"),
    }


def mean_rates(by_site: dict[str, FloatArray], weights: FloatArray) -> ChangeRates:
    """Return the weighted means over the sites whose rate is known."""
    return ChangeRates(**{name: _mean(rates, weights) for name, rates in by_site.items()})


def _mean(values: FloatArray, weights: FloatArray) -> float:
    known = ~np.isnan(values) & (weights > 0)
    return float(np.average(values[known], weights=weights[known])) if known.any() else float("nan")
