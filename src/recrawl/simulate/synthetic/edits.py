"""All changes of a synthetic web: each page's own rhythm, mass edits of whole sites, and news of newborn pages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, IntArray, PageIds, TieArray, spans
from recrawl.simulate.synthetic.inhabitants import HISTORY_DAYS, Pages, Sites
from recrawl.simulate.synthetic.presets import Preset
from recrawl.simulate.synthetic.rhythms import Clocks, Days32, Played, draw_tide, play

ANNOUNCED_DAYS = 0.02  # a newborn page is listed on its hub about half an hour after birth
MASS_SHARE, MASS_PAGES = 0.2, 10  # an edit is a mass edit if it touches more than this share, and this many, of a site
REACH = (0.25, 1.0)  # share of a site's pages that an edit of the site touches


@dataclass(frozen=True)
class EditHistory:
    """Every change in the window by page and day; page p's are `start[p]` to `start[p + 1]`."""

    page: npt.NDArray[np.int32]
    day: Days32
    start: IntArray
    mass: BoolArray
    prior: npt.NDArray[np.int32]
    last_prior: Days32
    newborn: PageIds  # pages born in the window,
    announced: PageIds  # and for each the change of its hub that lists it


@dataclass(frozen=True)
class _Edits:
    page: IntArray
    day: Days32
    mass: BoolArray


def draw_history(
    preset: Preset, sites: Sites, pages: Pages, clocks: Clocks, days: float, rng: np.random.Generator
) -> EditHistory:
    """Draw every change, with the past of each page before the window."""
    tide = draw_tide(preset.quiet_days, preset.quiet, HISTORY_DAYS, days, rng)
    played = play(clocks, pages.born, pages.died, days, rng, tide)
    page, day = played.page, played.day
    mass = np.zeros(len(page), dtype=np.bool_)
    prior, last_prior = played.prior, played.last_prior
    newborn = np.flatnonzero(pages.born > 0)
    announced = np.empty(0, dtype=np.int64)
    if preset.mass_edits > 0 or len(newborn):
        edits = _mass_edits(preset, sites, pages, clocks, days, rng)
        prior, last_prior = _with_past(played, edits)
        now = edits.day > 0
        news = _keys(pages.hub[newborn], _announcements(pages, newborn, days, rng))
        massive = _keys(edits.page[now & edits.mass], edits.day[now & edits.mass])
        keys = np.unique(np.concatenate([_keys(page, day), _keys(edits.page[now], edits.day[now]), news]))
        page, day = (keys >> np.uint64(32)).astype(np.int32), keys.astype(np.uint32).view(np.float32)
        mass = np.isin(keys, massive)
        announced = np.searchsorted(keys, news)
    start = np.searchsorted(page, np.arange(len(pages) + 1))
    return EditHistory(page, day, start, mass, prior, last_prior, newborn, announced)


def _keys(page: IntArray, day: Days32) -> TieArray:
    """Pack page and day into one number with the same order: the bits of positive floats ascend with their value."""
    return np.asarray((page.astype(np.uint64) << np.uint64(32)) | day.astype(np.float32).view(np.uint32))


def _announcements(pages: Pages, newborn: PageIds, days: float, rng: np.random.Generator) -> Days32:
    born, died = pages.born[newborn], pages.died[newborn]
    day = np.minimum((born + rng.exponential(ANNOUNCED_DAYS, len(newborn))).astype(np.float32), np.float32(days))
    return np.where(day < died, day, born)


def _mass_edits(
    preset: Preset, sites: Sites, pages: Pages, clocks: Clocks, days: float, rng: np.random.Generator
) -> _Edits:
    """Edit whole sites at once, also before the window. Pages that never change (archives) are left alone."""
    count = rng.poisson(preset.mass_edits * (days + HISTORY_DAYS), len(sites))
    site = np.repeat(np.arange(len(sites)), count)
    at = (rng.random(len(site)) * (days + HISTORY_DAYS) - HISTORY_DAYS).astype(np.float32)
    reach = rng.uniform(*REACH, len(site))
    edit = np.repeat(np.arange(len(site)), sites.size[site])
    page = spans(sites.first[site], sites.first[site] + sites.size[site])
    alive = (pages.born[page] < at[edit]) & (at[edit] < pages.died[page])
    living = np.bincount(edit[alive], minlength=len(site))
    moving = (clocks.rate > 0) | (clocks.period > 0)
    touched = (
        alive
        & moving[page]
        & (rng.random(len(page)) < reach[edit])
        & clocks.awake_at(page, at[edit].astype(np.float64))
    )
    edit, page = edit[touched], page[touched]
    reached = np.bincount(edit, minlength=len(site))
    massive = (reached > MASS_SHARE * living) & (reached >= MASS_PAGES)
    return _Edits(page, at[edit], massive[edit])


def _with_past(played: Played, edits: _Edits) -> tuple[npt.NDArray[np.int32], Days32]:
    """Add the edits before the window to the pages' past."""
    past = edits.day <= 0
    prior = played.prior + np.bincount(edits.page[past], minlength=len(played.prior)).astype(np.int32)
    last = played.last_prior.copy()
    np.fmax.at(last, edits.page[past], edits.day[past])
    return prior, last
