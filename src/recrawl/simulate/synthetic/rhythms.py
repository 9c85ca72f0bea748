"""Change processes of pages: rhythms as values, and the kernel that draws from them.

A rhythm sets the parameters (clocks) of a set of pages; `play` then draws every page's changes from birth to the end.
All rhythms are one process with different columns:

    candidates    Poisson with `rate` per day, or one tick every `period` days at `phase`, up to `jitter` days late
    thinned by    `keep` (share of candidates that become changes), `weekend` (a factor on days 5 and 6 of each week),
                  pauses (bursts of mean `on` days between pauses of mean `off` days, both exponential),
                  growth (the rate is multiplied by exp(growth * (t / end - 1/2)) from day 0 to the end),
                  the tide (a factor for each day, the same for all pages),
                  the spell: nothing from before `begin` or after `cease`, and of every `season` days from `begin` on
                  only what falls into the first `awake`

Day 0 is a Monday, midnight. Days are rounded to 32-bit floats, the precision of the files, and ascend strictly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, PageIds
from recrawl.compiled import kernel

Days32 = npt.NDArray[np.float32]


class Clocks(NamedTuple):
    """The parameters of each page's change process, one row per page. By default a page never changes."""

    rate: FloatArray
    period: FloatArray
    phase: FloatArray
    jitter: FloatArray
    keep: FloatArray
    weekend: FloatArray
    on: FloatArray
    off: FloatArray
    growth: FloatArray
    begin: FloatArray
    cease: FloatArray
    season: FloatArray
    awake: FloatArray

    @classmethod
    def still(cls, pages: int) -> Clocks:
        """Return clocks that stand still."""
        others = {"keep": 1.0, "weekend": 1.0, "begin": -math.inf, "cease": math.inf}
        return cls(*(np.full(pages, others.get(name, 0.0)) for name in cls._fields))

    def awake_at(self, pages: PageIds, day: FloatArray) -> BoolArray:
        """Return whether these pages could change on these days, one day per page."""
        begin, season = self.begin[pages], self.season[pages]
        inside = np.asarray((day >= begin) & (day < self.cease[pages]))
        seasonal = season > 0
        since = (day[seasonal] - begin[seasonal]) % season[seasonal]
        inside[seasonal] &= since < self.awake[pages[seasonal]]
        return inside

    def mean_rate(self, end: float = math.inf) -> FloatArray:
        """Return each page's expected changes per day of its life in the window, which ends on day `end`."""
        ticking = self.period > 0
        rate = np.where(ticking, 1.0, self.rate) / np.where(ticking, self.period, 1.0) * self.keep
        weekly_day = np.floor(self.phase) % 7 >= 5
        any_day = (5 + 2 * self.weekend) / 7
        rate *= np.where(self.period == 7, np.where(weekly_day, self.weekend, 1.0), any_day)
        rate *= np.where(self.off > 0, self.on / np.maximum(self.on + self.off, 1e-12), 1.0)
        rate *= np.where(self.season > 0, self.awake / np.where(self.season > 0, self.season, 1.0), 1.0)
        if math.isfinite(end):
            rate *= np.clip(np.minimum(self.cease, end) - np.maximum(self.begin, 0.0), 0.0, end) / end
        half = np.where(self.growth == 0, 1.0, self.growth / 2)
        return np.asarray(np.where(self.growth == 0, rate, rate * np.sinh(half) / half))


class Rhythm(Protocol):
    """A way of changing."""

    @property
    def name(self) -> str:
        """One word, for the pages table."""

    def wind(self, clocks: Clocks, pages: PageIds, rng: np.random.Generator) -> None:
        """Set the clocks of these pages."""


@dataclass(frozen=True)
class Never:
    """Pages that never change."""

    name: str = field(default="never", init=False)

    def wind(self, clocks: Clocks, pages: PageIds, rng: np.random.Generator) -> None:
        """Leave the clocks standing still."""


@dataclass(frozen=True)
class Poisson:
    """Changes at random, each page with its own constant rate: log-normal with this median and log-spread."""

    rate: float
    spread: float = 0.0
    most: float = 24.0  # changes per day
    name: str = field(default="poisson", init=False)

    def wind(self, clocks: Clocks, pages: PageIds, rng: np.random.Generator) -> None:
        """Draw the rates."""
        clocks.rate[pages] = np.minimum(self.rate * np.exp(rng.normal(0.0, self.spread, len(pages))), self.most)


@dataclass(frozen=True)
class Periodic:
    """Changes at the page's own hour of the day (period 1) or day of the week (period 7), unless a tick is skipped.

    `keep` is the mean share of ticks that are not skipped; each page draws its own from a beta distribution with
    `alike` as the sum of its parameters (0: all pages have the mean). `together`: all pages share one hour and day.
    """

    period_days: float = 1.0
    keep: float = 1.0
    alike: float = 0.0
    weekend: float = 1.0
    jitter_days: float = 0.01
    together: bool = False
    name: str = field(default="periodic", init=False)

    def wind(self, clocks: Clocks, pages: PageIds, rng: np.random.Generator) -> None:
        """Draw hours and shares."""
        clocks.period[pages] = self.period_days
        hours = rng.random(1 if self.together else len(pages))
        clocks.phase[pages] = hours * max(self.period_days - self.jitter_days, 0.0)
        clocks.jitter[pages] = self.jitter_days
        clocks.weekend[pages] = self.weekend
        alpha, beta = self.keep * self.alike, (1 - self.keep) * self.alike
        clocks.keep[pages] = rng.beta(alpha, beta, len(pages)) if alpha > 0 and beta > 0 else self.keep


@dataclass(frozen=True)
class Bursty:
    """Another rhythm that runs only in bursts: on for `on_days`, off for `off_days` on average."""

    within: Rhythm
    on_days: float
    off_days: float
    name: str = field(default="bursty", init=False)

    def wind(self, clocks: Clocks, pages: PageIds, rng: np.random.Generator) -> None:
        """Wind the rhythm within, and the switch."""
        self.within.wind(clocks, pages, rng)
        clocks.on[pages], clocks.off[pages] = self.on_days, self.off_days


@dataclass(frozen=True)
class Drifting:
    """Another rhythm whose rate rises or falls: by a factor exp(g) from day 0 to the end, g normal with `growth`."""

    within: Rhythm
    growth: float
    name: str = field(default="drifting", init=False)

    def wind(self, clocks: Clocks, pages: PageIds, rng: np.random.Generator) -> None:
        """Wind the rhythm within, and draw the growth."""
        self.within.wind(clocks, pages, rng)
        clocks.growth[pages] = rng.normal(0.0, self.growth, len(pages))


@dataclass(frozen=True)
class Played:
    """What the clocks brought: changes in the window by page and day, and each page's changes before it."""

    page: npt.NDArray[np.int32]
    day: Days32
    prior: npt.NDArray[np.int32]
    last_prior: Days32  # NaN where there is none


@dataclass(frozen=True)
class Tide:
    """How much of what would change does change, day by day, on all pages alike; `factor[0]` is of day `first`."""

    first: int = 0
    factor: FloatArray = field(default_factory=lambda: np.empty(0))  # days beyond it have 1


def draw_tide(quiet_days: float, factor: float, past: float, end: float, rng: np.random.Generator) -> Tide:
    """Make a share of the days quiet: exactly that share of the window's, each of those before it by chance."""
    if quiet_days <= 0 or factor >= 1:
        return Tide()
    before, within = math.ceil(past), math.ceil(end)
    quiet = np.concatenate(
        [rng.random(before) < quiet_days, rng.permutation(within) < math.floor(quiet_days * within + 0.5)]
    )
    return Tide(-before, np.where(quiet, factor, 1.0))


def play(
    clocks: Clocks, born: Days32, died: Days32, end: float, rng: np.random.Generator, tide: Tide | None = None
) -> Played:
    """Run every page's clock from its birth to its death or the end of the window."""
    tide = tide or Tide()
    return Played(*_play(rng, born, died, np.float32(end), tide.first, tide.factor, clocks))


@kernel
def _grown(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    wider = np.empty(2 * len(array), array.dtype)
    for i in range(len(array)):  # a slice would have numba compile the text of its error, a second of compiling
        wider[i] = array[i]
    return wider


@kernel
def _play(
    rng: np.random.Generator,
    born: Days32,
    died: Days32,
    end: np.float32,
    tide_first: int,
    tide: FloatArray,
    clocks: Clocks,
) -> tuple[npt.NDArray[np.int32], Days32, npt.NDArray[np.int32], Days32]:
    rate, period, phase, jitter, keep, weekend, on, off, growth, begin, cease, season, awake_days = clocks
    pages = len(born)
    page = np.empty(max(2 * pages, 16), np.int32)
    day = np.empty(len(page), np.float32)
    prior = np.zeros(pages, np.int32)
    last_prior = np.full(pages, np.nan, np.float32)
    size = 0
    for p in range(pages):
        if rate[p] <= 0 and period[p] <= 0:
            continue
        ticking = period[p] > 0
        tick = math.floor((born[p] - phase[p]) / period[p]) if ticking else 0.0
        peak = math.exp(abs(growth[p]) / 2)
        awake, switch = True, math.inf
        if off[p] > 0:  # a page is born awake; one that is old is in a stationary state at its first known day
            awake = born[p] > 0 or rng.random() < on[p] / (on[p] + off[p])
            switch = born[p] + rng.standard_exponential() * (on[p] if awake else off[p])
        t, before = float(born[p]), born[p]
        while True:
            if ticking:
                t = phase[p] + tick * period[p] + jitter[p] * rng.random()
                tick += 1
            else:
                t += rng.standard_exponential() / (rate[p] * peak)
            if t > end:
                break
            while switch <= t:
                awake = not awake
                switch += rng.standard_exponential() * (on[p] if awake else off[p])
            if not awake:
                if ticking:
                    tick = max(tick, math.floor((switch - phase[p]) / period[p]))
                else:
                    t = switch  # nothing happens in a pause, and Poisson candidates have no memory
                continue
            if t < begin[p] or t >= cease[p] or (season[p] > 0 and (t - begin[p]) % season[p] >= awake_days[p]):
                continue
            chance = keep[p]
            if growth[p] != 0:
                chance *= math.exp(growth[p] * (min(max(t / end, 0.0), 1.0) - 0.5)) / (peak if not ticking else 1.0)
            if weekend[p] < 1 and math.floor(t) % 7 >= 5:
                chance *= weekend[p]
            since = math.floor(t) - tide_first
            if 0 <= since < len(tide):
                chance *= tide[since]
            if chance < 1 and rng.random() >= chance:
                continue
            d = np.float32(t)
            if d <= before or d > end:
                continue
            if d >= died[p]:
                break
            before = d
            if d <= 0:
                prior[p] += 1
                last_prior[p] = d
                continue
            if size == len(page):
                page, day = _grown(page), _grown(day)
            page[size], day[size] = p, d
            size += 1
    return page[:size].copy(), day[:size].copy(), prior, last_prior
