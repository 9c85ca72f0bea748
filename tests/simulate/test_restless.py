"""Webs that sleep and wake: each preset does what it says, on the sites that it says."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from recrawl.columns import FloatArray, IntArray
from recrawl.recording.recording import Recording
from recrawl.simulate.synthetic.makeup import Population, Preset, Spell
from recrawl.simulate.synthetic.rhythms import Never, Poisson
from recrawl.simulate.synthetic.synthesis import synthesize

PAGES = 25_000


@cache
def web(name: str, days: float = 364.0) -> Recording:
    return synthesize(name, PAGES, days, seed=3, only=("sites", "pages", "changes"))


def in_folder(recording: Recording, folder: str) -> IntArray:
    """Return the pages of a folder, index pages apart."""
    paths = recording.page("path")
    return np.flatnonzero([p.startswith(folder + "/") and not p.endswith("/index.html") for p in paths])


def change_days(recording: Recording, pages: IntArray) -> FloatArray:
    return recording.change_day[np.isin(recording.change_page, pages)]


def test_silent_sites_wake() -> None:
    """Eight sites with 30% of the pages change nothing for a fourth of the year; each then begins on its own day."""
    crawl = web("waking")
    pages = in_folder(crawl, "manual")
    first = [change_days(crawl, pages[crawl.site[pages] == site]).min() for site in np.unique(crawl.site[pages])]
    assert len(pages) == pytest.approx(0.3 * PAGES, rel=0.02)
    assert len(first) == 8
    assert min(first) > 91
    assert max(first) < 183
    assert np.ptp(first) > 20


def test_live_pages_stand_alone_beside_a_still_archive() -> None:
    """Of the pages alone in their folders 6% change per week after 13 weeks; the archive on their site never does."""
    crawl = web("archive")
    archive, tools = in_folder(crawl, "posts"), in_folder(crawl, "tools")
    folders = [path.rsplit("/", 1)[0] for path in crawl.page("path")[tools]]
    assert len(set(folders)) == len(tools)
    assert len(archive) > 2 * len(tools) * 0.9
    assert not len(change_days(crawl, archive))
    days = change_days(crawl, tools)
    assert days.min() >= 91
    assert len(days) / len(tools) / ((364 - 91) / 7) == pytest.approx(0.066, abs=0.01)


def test_addresses_move_and_folders_are_given_up() -> None:
    """Old addresses die on the day on which the new ones are born; the busy folder falls silent on each site."""
    crawl = web("moving")
    old, new, given_up = (in_folder(crawl, name) for name in ("wiki", "docs/wiki", "events"))
    assert np.unique(crawl.died[old]).tolist() == pytest.approx([0.4 * 364], abs=0.01)
    assert np.unique(crawl.born[new]).tolist() == pytest.approx([0.4 * 364], abs=0.01)
    assert len(np.unique(crawl.site[old])) == len(np.unique(crawl.site[given_up])) == 4
    assert change_days(crawl, given_up).max() < 0.6 * 364
    assert (change_days(crawl, given_up) < 0.2 * 364).any()


def test_seasonal_sites_are_edited_for_three_weeks_of_thirteen() -> None:
    """On each site the changes lie in 21 of every 91 days."""
    crawl = web("seasonal")
    pages = in_folder(crawl, "courses")
    for site in np.unique(crawl.site[pages]):
        phase = np.unique(np.floor(change_days(crawl, pages[crawl.site[pages] == site]) % 91))
        assert 19 <= len(phase) <= 23


def test_a_small_site_is_edited_whole_every_other_day() -> None:
    """One site of 110 pages changes on every second day, nearly all of it; the other pages change rarely."""
    crawl = web("small-site", 57.0)
    pages = in_folder(crawl, "data")
    assert len(pages) == pytest.approx(110, abs=3)
    assert len(np.unique(crawl.site[pages])) == 1
    by_day = np.bincount(change_days(crawl, pages).astype(int), minlength=57)
    edited = by_day > 0.8 * len(pages)
    assert edited.sum() in (28, 29)
    assert (by_day[~edited] == 0).all()
    others = len(crawl.change_day) - by_day.sum()
    assert others / 57 / PAGES < 0.003


def test_a_small_late_site_shows_nothing_in_the_first_two_days() -> None:
    """The same edits, but none in the first two days, and no two pages of the site share a folder."""
    crawl = web("small-late", 57.0)
    pages = in_folder(crawl, "data")
    assert 2.0 < change_days(crawl, pages).min() < 5.0
    assert len({str(path).rsplit("/", 1)[0] for path in crawl.page("path")[pages]}) == len(pages)


def test_a_late_web_shows_nothing_at_first() -> None:
    """In the first two days of 57 nothing changes; afterwards all sites come alive."""
    crawl = web("late", 57.0)
    assert crawl.change_day.min() > 2
    assert len(np.unique(crawl.site[crawl.change_page[crawl.change_day > 12]])) > 0.9 * len(np.unique(crawl.site))


def test_populations_with_a_host_keep_to_their_own_sites() -> None:
    """Knobs compose: a host takes its share of the pages, in as many sites as asked, and mixes with nobody."""
    own = Population("own", 0.25, Poisson(0.1), host="h", hosts=5, spell=Spell(begins=(0.5, 0.5)))
    crawl = synthesize(Preset("two", 40, (Population("rest", 0.75, Never()), own), stray=0.5), 2_000, seed=1, only=())
    pages = in_folder(crawl, "own")
    assert np.bincount(crawl.site[pages], minlength=5)[:5].tolist() == pytest.approx([98] * 5, abs=2)
    assert not set(crawl.site[pages]) & set(crawl.site[in_folder(crawl, "rest")])
    assert change_days(crawl, pages).min() >= 20
    assert synthesize("archive", 1, 9.0, seed=1, only=()).page("path").tolist() == ["index.html"]
