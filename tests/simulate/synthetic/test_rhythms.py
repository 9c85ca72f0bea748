"""Each rhythm has its character, in the window and before it."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.columns import IntArray
from recrawl.simulate.synthetic.rhythms import (
    Bursty,
    Clocks,
    Drifting,
    Never,
    Periodic,
    Played,
    Poisson,
    Rhythm,
    Tide,
    draw_tide,
    play,
)


def played(rhythm: Rhythm, pages: int = 400, days: float = 140.0, age: float = 0.0) -> tuple[Played, Clocks]:
    """Play one rhythm on some pages that live throughout."""
    rng = np.random.default_rng(5)
    clocks = Clocks.still(pages)
    rhythm.wind(clocks, np.arange(pages), rng)
    born = np.full(pages, -age, dtype=np.float32)
    return play(clocks, born, np.full(pages, np.inf, dtype=np.float32), days, rng), clocks


def counts(result: Played, pages: int = 400) -> IntArray:
    return np.bincount(result.page, minlength=pages)


def test_pages_that_never_change_never_change() -> None:
    """Neither in the window nor before it."""
    result, _ = played(Never(), age=500)
    assert len(result.page) == 0
    assert result.prior.sum() == 0


def test_daily_pages_change_at_their_hour() -> None:
    """A daily page changes once a day, at the same hour but for its jitter."""
    result, clocks = played(Periodic(jitter_days=0.02))
    late = (result.day - clocks.phase[result.page]) % 1
    assert np.minimum(late, 1 - late).max() < 0.021
    assert set(counts(result)) <= {139, 140, 141}


def test_weekly_pages_change_on_their_weekday() -> None:
    """A weekly page changes on one weekday only, and all weekdays occur."""
    result, clocks = played(Periodic(7.0, jitter_days=0.01))
    late = (result.day - clocks.phase[result.page]) % 7
    assert np.minimum(late, 7 - late).max() < 0.011
    assert set((np.floor(clocks.phase) % 7).astype(int)) == set(range(7))
    assert set(counts(result)) <= {19, 20, 21}


def test_skipped_ticks_are_the_stated_share() -> None:
    """`keep` of the ticks become changes; pages differ in theirs where `alike` is finite."""
    result, clocks = played(Periodic(keep=0.7, alike=5.0))
    assert len(result.page) / (400 * 140) == pytest.approx(clocks.keep.mean(), abs=0.01)
    assert clocks.keep.mean() == pytest.approx(0.7, abs=0.03)
    assert clocks.keep.std() == pytest.approx(np.sqrt(0.7 * 0.3 / 6), abs=0.02)


def test_working_days_rest_at_weekends() -> None:
    """With weekend 0.1, days 5 and 6 of the week see a tenth of the changes of the others."""
    result, _ = played(Periodic(weekend=0.1))
    by_day = np.bincount(np.floor(result.day).astype(int) % 7, minlength=7)
    assert by_day[5:].mean() / by_day[:5].mean() == pytest.approx(0.1, abs=0.02)


def test_the_tide_is_the_same_for_all_pages() -> None:
    """On a day with factor 0.2 a fifth of the ticks become changes, on a day with 0 none, beyond the tide all."""
    rng, clocks = np.random.default_rng(5), Clocks.still(400)
    Periodic(jitter_days=0.01).wind(clocks, np.arange(400), rng)
    born, died = np.full(400, -3, dtype=np.float32), np.full(400, np.inf, dtype=np.float32)
    result = play(clocks, born, died, 4.0, rng, Tide(-3, np.array([1.0, 0.0, 0.0, 0.2, 0.0, 1.0])))
    assert np.bincount(result.day.astype(int), minlength=4) == pytest.approx([80, 0, 400, 400], abs=25)
    assert result.prior.max() == 1
    assert result.last_prior.max() < -2 + 1e-6


def test_quiet_days_are_the_stated_share() -> None:
    """Exactly that share of the days of the window, about that share before; none without a share or a factor."""
    tide = draw_tide(0.3, 0.6, 1000, 57, np.random.default_rng(1))
    assert tide.first == -1000
    assert (tide.factor[1000:] == 0.6).sum() == 17
    assert (tide.factor[:1000] == 0.6).mean() == pytest.approx(0.3, abs=0.05)
    assert set(tide.factor) == {0.6, 1.0}
    assert len(draw_tide(0.0, 0.6, 10, 10, np.random.default_rng(1)).factor) == 0
    assert len(draw_tide(0.3, 1.0, 10, 10, np.random.default_rng(1)).factor) == 0


def test_bursts_are_clumped() -> None:
    """A bursty page's weekly counts vary far more than Poisson's, with the same mean rate as stated."""
    result, clocks = played(Bursty(Poisson(2.0), on_days=4, off_days=16))
    weekly = np.zeros((400, 20))
    np.add.at(weekly, (result.page, np.minimum((result.day / 7).astype(int), 19)), 1)
    assert weekly.var() / weekly.mean() > 4
    assert len(result.page) / (400 * 140) == pytest.approx(2.0 * 4 / 20, rel=0.1)
    assert clocks.mean_rate() == pytest.approx(0.4)


def test_a_burst_of_ticks_keeps_the_hour() -> None:
    """A periodic rhythm within bursts still changes at its own hour."""
    result, clocks = played(Bursty(Periodic(jitter_days=0.02), on_days=5, off_days=5))
    late = (result.day - clocks.phase[result.page]) % 1
    assert np.minimum(late, 1 - late).max() < 0.021
    assert len(result.page) / (400 * 140) == pytest.approx(0.5, rel=0.1)


def test_drifting_rates_drift() -> None:
    """From the first to the last quarter the rate of a page changes by about exp(3/4 of its growth)."""
    result, clocks = played(Drifting(Poisson(3.0), growth=1.5))
    first = np.bincount(result.page[result.day < 35], minlength=400)
    last = np.bincount(result.page[result.day > 105], minlength=400)
    slope = np.polyfit(clocks.growth, np.log((last + 0.5) / (first + 0.5)), 1)[0]
    assert slope == pytest.approx(0.75, abs=0.05)
    assert counts(result).mean() / 140 == pytest.approx(clocks.mean_rate().mean(), rel=0.02)


@pytest.mark.parametrize(
    "rhythm",
    [Poisson(0.3, 0.5), Periodic(keep=0.5, weekend=0.5), Periodic(7.0), Bursty(Poisson(1.0), 5, 10)],
    ids=lambda rhythm: rhythm.name,
)
def test_the_past_follows_the_same_rhythm(rhythm: Rhythm) -> None:
    """Changes before the window come at the same rate as in it, and the last of them lies before day 0."""
    result, clocks = played(rhythm, age=700)
    assert result.prior.sum() / (400 * 700) == pytest.approx(clocks.mean_rate().mean(), rel=0.05)
    assert len(result.page) / (400 * 140) == pytest.approx(clocks.mean_rate().mean(), rel=0.1)
    assert (result.last_prior[result.prior > 0] <= 0).all()
    assert np.isnan(result.last_prior[result.prior == 0]).all()
