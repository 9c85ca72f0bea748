"""The pages of a synthetic web: their sites, topics, sorts and lives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds
from recrawl.simulate.synthetic.makeup import Preset, Spell
from recrawl.simulate.synthetic.rhythms import Clocks, Days32

HISTORY_DAYS = 1092.0  # how far back the past of a page is known, as in recordings of real sites
HUB_PAGES = 4  # a folder of a site with at least as many pages has an index page

TOPICS = (
    "art", "books", "cinema", "cooking", "economy", "energy", "football", "gardens",
    "health", "history", "law", "music", "physics", "politics", "software", "travel",
)  # fmt: skip


@dataclass(frozen=True)
class Sites:
    """Columns of the sites; a site's pages are neighbours, `first[s]` to `first[s] + size[s]`, the home page first."""

    size: IntArray
    first: IntArray
    topic: IntArray
    kind: IntArray  # the population that most of its pages belong to

    def __len__(self) -> int:
        return len(self.size)


@dataclass(frozen=True)
class Pages:
    """Columns of the pages."""

    site: npt.NDArray[np.int32]
    topic: npt.NDArray[np.int8]
    population: npt.NDArray[np.int8]
    folder: npt.NDArray[np.int8]  # the population in whose folder the page lies
    hub: npt.NDArray[np.int32]  # the page that lists this one: the index of its folder, or the site's home page
    index: BoolArray  # whether the page is such an index or home page
    born: Days32
    died: Days32  # inf: outlives the window

    def __len__(self) -> int:
        return len(self.site)


def draw_sites(preset: Preset, pages: int, rng: np.random.Generator) -> tuple[Sites, FloatArray]:
    """Draw sites with log-normal sizes, and each site's shares of the populations.

    Sites of one topic resemble each other, and pages of one site even more: Dirichlet draws around the topic's shares,
    which are Dirichlet draws around the preset's, of concentrations `site_mix` and `topic_mix`. They are then scaled so
    that over all pages the preset's shares hold.
    """
    if any(population.host for population in preset.populations):
        return _with_hosts(preset, pages, rng)
    return _ordinary(preset, pages, np.array([p.share for p in preset.populations]), rng)


def _ordinary(preset: Preset, pages: int, share: FloatArray, rng: np.random.Generator) -> tuple[Sites, FloatArray]:
    """Draw sites on which populations with these shares mix."""
    count = min(max(round(pages / preset.site_pages), 1), pages)
    weight = np.exp(rng.normal(0.0, preset.site_spread, count))
    size = 1 + rng.multinomial(pages - count, weight / weight.sum())
    topic = rng.integers(len(TOPICS), size=count)
    of_topic = rng.standard_gamma(preset.topic_mix * share, size=(len(TOPICS), len(share))) + 1e-9
    of_topic /= of_topic.sum(axis=1, keepdims=True)
    mixture = rng.standard_gamma(preset.site_mix * of_topic[topic]) + 1e-9
    for _ in range(30):  # iterative proportional fitting
        mixture /= mixture.sum(axis=1, keepdims=True)
        mixture *= share / np.maximum(size @ mixture / pages, 1e-300)
    mixture /= mixture.sum(axis=1, keepdims=True)
    return _sites(size, topic, mixture), mixture


def _with_hosts(preset: Preset, pages: int, rng: np.random.Generator) -> tuple[Sites, FloatArray]:
    """Draw the sites that populations name as their own, and then the ordinary ones.

    The populations of one host share each of its sites as they share the web; a host too small for the web is left out.
    """
    share = np.array([p.share for p in preset.populations])
    host = np.array([p.host for p in preset.populations])
    sizes: list[int] = []
    mixtures: list[FloatArray] = []
    for name in dict.fromkeys(p.host for p in preset.populations if p.host):
        own = np.where(host == name, share, 0.0)
        copies = max(p.hosts for p in preset.populations if p.host == name)
        if each := int(own.sum() * pages / copies):
            sizes += [each] * copies
            mixtures += [own / own.sum()] * copies
    rest = np.where(host == "", share, 0.0)
    sites, mixture = _ordinary(preset, pages - sum(sizes), rest / rest.sum(), rng)
    topic = np.concatenate([rng.integers(len(TOPICS), size=len(sizes)), sites.topic])
    size = np.concatenate([np.array(sizes, dtype=np.int64), sites.size])
    mixture = np.concatenate([np.array(mixtures).reshape(-1, len(share)), mixture])
    return _sites(size, topic, mixture), mixture


def _sites(size: IntArray, topic: IntArray, mixture: FloatArray) -> Sites:
    return Sites(size, np.cumsum(size) - size, topic, mixture.argmax(axis=1))


def draw_pages(preset: Preset, sites: Sites, mixture: FloatArray, days: float, rng: np.random.Generator) -> Pages:
    """Draw every page's topic, sort, place and life."""
    site = np.repeat(np.arange(len(sites), dtype=np.int32), sites.size)
    pages = len(site)
    sorts = len(preset.populations)
    own_topic = rng.random(pages) < preset.on_topic
    topic = np.where(own_topic, sites.topic[site], rng.integers(len(TOPICS), size=pages)).astype(np.int8)
    edges = np.cumsum(mixture, axis=1)[:, :-1]
    draw = rng.random(pages)
    population = np.zeros(pages, dtype=np.int8)
    for sort in range(sorts - 1):
        population += draw > edges[site, sort]
    stray = rng.random(pages) < preset.stray
    mixed = np.flatnonzero([not p.host for p in preset.populations])  # the others keep to their own sites and folders
    stray &= np.isin(population, mixed)
    folder = np.where(stray, mixed[rng.integers(len(mixed), size=pages)], population).astype(np.int8)
    hub, index = _hubs(sites, site, folder, sorts)
    born, died = _lives(preset, index, days, rng)
    _move(preset, population, index, days, born, died)
    return Pages(site, topic, population, folder, hub, index, born, died)


def _hubs(
    sites: Sites, site: npt.NDArray[np.int32], folder: npt.NDArray[np.int8], sorts: int
) -> tuple[npt.NDArray[np.int32], BoolArray]:
    """Make the first page of every site its home, and the first of every larger folder that folder's index."""
    home = sites.first.astype(np.int32)
    index = np.zeros(len(site), dtype=np.bool_)
    index[home] = True
    key = site.astype(np.int64) * sorts + folder
    key[home] = len(sites) * sorts  # a home page lies in no folder
    _, first, inverse, count = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    large = count >= HUB_PAGES
    large[-1] = False  # the home pages
    hub = np.where(large[inverse], first[inverse], home[site]).astype(np.int32)
    index[first[large]] = True
    return np.where(index, home[site], hub).astype(np.int32), index


def _lives(preset: Preset, index: BoolArray, days: float, rng: np.random.Generator) -> tuple[Days32, Days32]:
    """Draw births and deaths; index pages exist from the start and do not die."""
    pages = len(index)
    age = np.minimum(300 * np.exp(rng.normal(0.0, 1.0, pages)), HISTORY_DAYS)
    born = (-age).astype(np.float32)
    grown = preset.births * days
    newborn = (rng.random(pages) < grown / (1 + grown)) & ~index
    moment = (rng.random(pages) * days).astype(np.float32)
    # within the window, so that a page has at least a moment to live
    born[newborn] = np.clip(moment, np.float32(1e-4 * days), np.float32(0.9999 * days))[newborn]
    died = np.full(pages, np.inf, dtype=np.float32)
    if preset.deaths > 0:
        life = rng.standard_exponential(pages) / preset.deaths
        died = (np.maximum(born, 0) + life).astype(np.float32)
        mortal = ~index & (died < days) & (died > np.maximum(born, 0))
        died[~mortal] = np.inf
    return born, died


def _move(
    preset: Preset, population: npt.NDArray[np.int8], index: BoolArray, days: float, born: Days32, died: Days32
) -> None:
    """Let populations appear and vanish as a whole; index pages stay."""
    for sort, (start, end) in enumerate(p.lives for p in preset.populations):
        pages = (population == sort) & ~index
        if start > 0:
            born[pages] = start * days
        if end < 1:
            died[pages] = end * days


def wind_clocks(preset: Preset, pages: Pages, days: float, rng: np.random.Generator) -> Clocks:
    """Set every page's change process by the rhythm of its population, and draw the spells of each site."""
    clocks = Clocks.still(len(pages))
    for sort, population in enumerate(preset.populations):
        chosen = np.flatnonzero(pages.population == sort)
        population.rhythm.wind(clocks, chosen, rng)
        if population.spell is not None:
            _cast(population.spell, clocks, chosen, pages.site[chosen], days, rng)
    return clocks


def _cast(spell: Spell, clocks: Clocks, pages: PageIds, site: IntArray, days: float, rng: np.random.Generator) -> None:
    """Draw the days on which each site's pages begin and cease to change."""
    _, which = np.unique(site, return_inverse=True)
    sites = int(which.max(initial=-1)) + 1
    if spell.begins is not None:
        clocks.begin[pages] = (days * rng.uniform(*spell.begins, size=sites))[which]
    if spell.ceases is not None:
        clocks.cease[pages] = (days * rng.uniform(*spell.ceases, size=sites))[which]
    if spell.season_days:
        clocks.season[pages], clocks.awake[pages] = spell.season_days, spell.awake_days
        clocks.begin[pages] = (-HISTORY_DAYS - spell.season_days * rng.random(sites))[which]
