"""The link graph over time: link intervals that begin and end at changes of their pages.

A page has links at the start (or at birth); each change may add some and drop some. A link lives for a geometric number
of its page's changes, such that pages keep about as many links as they began with. Internal links prefer pages of the
same topic and popular pages; external links prefer sites of the same topic. No page ever has two links to one target.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, IntArray
from recrawl.simulate.synthetic.edits import EditHistory
from recrawl.simulate.synthetic.inhabitants import TOPICS, Pages, Sites
from recrawl.simulate.synthetic.presets import Gain, Preset

OUTSIDE = -1  # a target that is no page of the recording
SAME_TOPIC = 0.6  # share of links that look for a target of the page's own topic
ELSEWHERE = 0.3  # share of links to addresses that are no page of the recording
MOST_AT_ONCE = 300  # links that one change can add


@dataclass(frozen=True)
class LinkIntervals:
    """Link intervals by page: `begin` and `end` are changes of the page, -1 for its start and for never."""

    page: npt.NDArray[np.int32]
    begin: npt.NDArray[np.int32]
    end: npt.NDArray[np.int32]
    internal: BoolArray
    target: npt.NDArray[np.int32]  # a page (for an external link on another site), or OUTSIDE

    def __len__(self) -> int:
        return len(self.page)

    def days(self, history: EditHistory, pages: Pages) -> tuple[FloatArray, FloatArray]:
        """Return when each link appeared (0 or the page's birth at the start) and vanished (NaN: never)."""
        birth = np.maximum(pages.born, 0)[self.page]
        death = np.where(np.isinf(pages.died), np.float32(np.nan), pages.died)[self.page]
        return _when(self.begin, history, birth), _when(self.end, history, death)


@dataclass(frozen=True)
class LinkCounts:
    """Links of each page at the start, and gained, lost and present after each change; internal and external."""

    first: tuple[IntArray, IntArray]
    new: tuple[IntArray, IntArray]
    lost: tuple[IntArray, IntArray]
    held: tuple[IntArray, IntArray]


def _when(change: npt.NDArray[np.int32], history: EditHistory, otherwise: FloatArray) -> FloatArray:
    if not len(history.day):
        return otherwise
    return np.asarray(np.where(change >= 0, history.day[np.maximum(change, 0)], otherwise))


def draw_links(
    preset: Preset, sites: Sites, pages: Pages, history: EditHistory, rng: np.random.Generator
) -> LinkIntervals:
    """Draw every link interval, ordered by page and beginning."""
    parts = [_announced(pages, history)]
    for internal in (True, False):
        page, begin, end = _intervals(preset, internal, pages, history, rng)
        choose = _internal_targets if internal else _external_targets
        target = choose(sites, pages, page, rng)
        if internal:
            target[~_alive(pages, history, page, begin, target)] = OUTSIDE
        parts.append(LinkIntervals(page, begin, end, np.full(len(page), internal), target))
    whole = _join(parts)
    target = _without_repeats(whole.page, whole.target, len(pages))
    order = np.argsort(whole.page.astype(np.int64) << 32 | (whole.begin.astype(np.int64) + 1), kind="stable")
    return LinkIntervals(whole.page[order], whole.begin[order], whole.end[order], whole.internal[order], target[order])


def _join(parts: list[LinkIntervals]) -> LinkIntervals:
    columns = ("page", "begin", "end", "internal", "target")
    return LinkIntervals(*(np.concatenate([getattr(part, column) for part in parts]) for column in columns))


def _announced(pages: Pages, history: EditHistory) -> LinkIntervals:
    """List every newborn page on its hub, for good, so that a crawler that watches the hub finds it."""
    count = len(history.newborn)
    return LinkIntervals(
        pages.hub[history.newborn],
        history.announced.astype(np.int32),
        np.full(count, -1, dtype=np.int32),
        np.ones(count, dtype=np.bool_),
        history.newborn.astype(np.int32),
    )


def _intervals(
    preset: Preset, internal: bool, pages: Pages, history: EditHistory, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Draw which page has a link from which change to which change."""
    mean = preset.out_internal if internal else preset.out_external
    gains = [p.internal if internal else p.external for p in preset.populations]
    count = len(pages)
    initial = rng.poisson(mean * np.exp(rng.normal(-0.5, 1.0, count)) * np.where(pages.index, 4, 1))
    chance, scale, gained = _page_gains(gains, pages, rng)
    lucky = np.flatnonzero(rng.random(len(history.page), dtype=np.float32) < chance[history.page])
    tail = np.array([g.tail for g in gains])[pages.population[history.page[lucky]]]
    drawn = scale[history.page[lucky]] * (1 - rng.random(len(lucky))) ** (-1 / tail)
    many = np.clip(drawn, 1, MOST_AT_ONCE).astype(np.int64)
    page = np.concatenate([np.repeat(np.arange(count, dtype=np.int32), initial), np.repeat(history.page[lucky], many)])
    begin = np.concatenate([np.full(initial.sum(), -1, dtype=np.int32), np.repeat(lucky.astype(np.int32), many)])
    drop = np.clip(gained / (initial + gained + 1e-9), 0.001, 0.5)  # so that losses balance gains
    since = np.where(begin >= 0, begin, history.start[page] - 1)
    end = since + rng.geometric(drop[page])
    end[end >= history.start[page + 1]] = -1
    return page, begin, end.astype(np.int32)


def _page_gains(
    gains: list[Gain], pages: Pages, rng: np.random.Generator
) -> tuple[npt.NDArray[np.float32], FloatArray, FloatArray]:
    """Return per page the probability that a change adds links, the scale of how many, and the expected number."""
    sort = pages.population
    gaining = rng.random(len(pages)) < np.array([g.share for g in gains])[sort]
    chance = np.where(gaining, np.array([g.chance for g in gains])[sort], 0.0)
    scale = np.exp(rng.normal(0.0, 1.0, len(pages)) * np.array([g.spread for g in gains])[sort])
    mean = np.array([g.tail / (g.tail - 1) for g in gains])[sort] * scale
    return chance.astype(np.float32), scale, chance * mean


def _internal_targets(
    sites: Sites, pages: Pages, page: npt.NDArray[np.int32], rng: np.random.Generator
) -> npt.NDArray[np.int32]:
    """Choose pages of the same site: of the same topic, or popular ones (those that come first)."""
    group = pages.site.astype(np.int64) * len(TOPICS) + pages.topic
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    low, high = np.searchsorted(ordered, group), np.searchsorted(ordered, group, side="right")
    draw = rng.random(len(page))
    near = order[low[page] + (draw * (high - low)[page]).astype(np.int64)]
    site = pages.site[page]
    popular = sites.first[site] + (draw**3 * sites.size[site]).astype(np.int64)
    target = np.where(rng.random(len(page)) < SAME_TOPIC, near, popular).astype(np.int32)
    target[(rng.random(len(page)) < ELSEWHERE) | (target == page)] = OUTSIDE
    return target


def _external_targets(
    sites: Sites, pages: Pages, page: npt.NDArray[np.int32], rng: np.random.Generator
) -> npt.NDArray[np.int32]:
    """Choose pages of other sites: home pages and popular ones, of sites of the same topic."""
    order = np.argsort(sites.topic, kind="stable")
    topic = pages.topic[page]
    low = np.searchsorted(sites.topic[order], topic)
    high = np.searchsorted(sites.topic[order], topic, side="right")
    draw = rng.random(len(page))
    near = order[np.minimum(low + (draw**2 * (high - low)).astype(np.int64), len(sites) - 1)]
    site = np.where((rng.random(len(page)) < SAME_TOPIC) & (high > low), near, (draw * len(sites)).astype(np.int64))
    target = (sites.first[site] + (rng.random(len(page)) ** 3 * sites.size[site]).astype(np.int64)).astype(np.int32)
    outside = (site == pages.site[page]) | (pages.born[target] > 0) | (rng.random(len(page)) < ELSEWHERE)
    target[outside] = OUTSIDE
    return target


def _alive(
    pages: Pages,
    history: EditHistory,
    page: npt.NDArray[np.int32],
    begin: npt.NDArray[np.int32],
    target: npt.NDArray[np.int32],
) -> BoolArray:
    """Whether the target exists when the link appears (and was announced, if it is newborn)."""
    known = pages.born.copy()
    known[history.newborn] = history.day[history.announced]
    day = _when(begin, history, np.maximum(pages.born, 0)[page])
    return np.asarray((known[target] <= day) & (day < pages.died[target]))


def _without_repeats(page: npt.NDArray[np.int32], target: npt.NDArray[np.int32], pages: int) -> npt.NDArray[np.int32]:
    """Send all but the first link of a page to one target outside, to an address of its own."""
    inside = np.flatnonzero(target != OUTSIDE)
    key = page[inside].astype(np.int64) * pages + target[inside]
    order = np.argsort(key, kind="stable")
    repeat = inside[order[1:][key[order[1:]] == key[order[:-1]]]]
    target = target.copy()
    target[repeat] = OUTSIDE
    return target


def count_links(links: LinkIntervals, pages: Pages, history: EditHistory) -> LinkCounts:
    """Count the links by page at the start, and by change."""
    sides = [_count(links, links.internal == side, pages, history) for side in (True, False)]
    first, new, lost, held = ((sides[0][i], sides[1][i]) for i in range(4))
    return LinkCounts(first, new, lost, held)


def _count(
    links: LinkIntervals, mask: BoolArray, pages: Pages, history: EditHistory
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    changes = len(history.page)
    begin, end = links.begin[mask], links.end[mask]
    first = np.bincount(links.page[mask][begin < 0], minlength=len(pages)).astype(np.int32)
    new = np.bincount(begin[begin >= 0], minlength=changes).astype(np.int32)
    lost = np.bincount(end[end >= 0], minlength=changes).astype(np.int32)
    total = np.concatenate([[0], np.cumsum(new - lost)])
    held = first[history.page] + total[1:] - total[history.start[:-1]][history.page]
    return first, new, lost, held.astype(np.int32)
