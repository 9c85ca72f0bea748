"""The names of a synthetic web: hosts of sites, paths of pages, addresses of link targets; made by Arrow, in bulk."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from recrawl.columns import BoolArray, IntArray
from recrawl.simulate.synthetic.inhabitants import HISTORY_DAYS, TOPICS, Pages, Sites
from recrawl.simulate.synthetic.presets import Preset
from recrawl.simulate.synthetic.webgraph import OUTSIDE, LinkIntervals

WINDOW_START = np.datetime64("2024-01-01")  # a Monday
TOPIC_WORDS = pa.array(TOPICS)


def hosts(sites: Sites) -> pa.Array:
    """Name every site after its topic and number: music17.example."""
    return _join(TOPIC_WORDS.take(_ints(sites.topic)), _text(np.arange(len(sites))), ".example")


def paths(preset: Preset, sites: Sites, pages: Pages) -> tuple[pa.Array, pa.Array, npt.NDArray[np.int16]]:
    """Return every page's path, ending and depth: index.html, blog/index.html, blog/2023/07/music-42.html."""
    folders, which = _folders(preset, pages)
    home = np.zeros(len(pages), dtype=np.bool_)
    home[sites.first] = True
    number = np.arange(len(pages)) - sites.first[pages.site]
    ending = np.where(pages.index, len(preset.populations), pages.folder)
    ext = pa.array([p.ext for p in preset.populations] + ["html"]).take(_ints(ending))
    name = _join(TOPIC_WORDS.take(_ints(pages.topic)), "-", _text(number))
    folder = folders.take(_ints(which))
    if any("{page}" in p.folder for p in preset.populations):
        own = _join(pc.replace_substring(folder, "{page}", ""), name)
        folder = pc.if_else(pc.ends_with(folder, "{page}"), own, folder)
    plain = _join(folder, "/", name, ".", ext)
    sections = pa.array([p.section for p in preset.populations]).take(_ints(pages.folder))
    path = _where(home, pa.scalar("index.html"), _where(pages.index, _join(sections, "/index.html"), plain))
    slashes = np.array([folder.count("/") + 1 for folder in folders.to_pylist()], dtype=np.int16)
    depth = np.where(home, 0, np.where(pages.index, 1, slashes[which]))
    return path, ext, depth.astype(np.int16)


def _folders(preset: Preset, pages: Pages) -> tuple[pa.Array, IntArray]:
    """Return all folders, and which one each page lies in; dated folders have one for every month of birth."""
    oldest = (WINDOW_START - np.timedelta64(int(HISTORY_DAYS) + 1, "D")).astype("M8[M]")
    born = (WINDOW_START + np.floor(pages.born).astype(np.int64).astype("m8[D]")).astype("M8[M]")
    month = (born - oldest).astype(np.int64)
    months = int(month.max(initial=0)) + 1
    dates = [str(oldest + np.timedelta64(m, "M")).replace("-", "/") for m in range(months)]
    names = [p.folder.replace("{month}", date) for p in preset.populations for date in dates]
    return pa.array(names), pages.folder.astype(np.int64) * months + month


def targets(
    sites: Sites, pages: Pages, links: LinkIntervals, path: pa.Array, host: pa.Array
) -> tuple[pa.Array, pa.Array]:
    """Return target_page and target of every link.

    Internal links to a page have its number and no address. All other addresses are written out: a path on the same
    site, host and path of a page elsewhere, or an address that nobody else links to, numbered by the link itself.
    """
    inside = links.target != OUTSIDE
    listed = links.internal & inside
    masks = (links.internal & ~inside, ~links.internal & inside, ~links.internal & ~inside)
    parts = (_own(pages, links, masks[0]), _abroad(pages, links, masks[1], path, host), _beyond(pages, links, masks[2]))
    place = np.zeros(len(links), dtype=np.int64)
    for mask, before in zip(masks, (0, len(parts[0]), len(parts[0]) + len(parts[1])), strict=True):
        place[mask] = before + np.arange(int(mask.sum()))
    target = pa.concat_arrays(parts).take(pa.array(place, mask=listed))
    return pa.array(links.target, mask=~listed), target


def _own(pages: Pages, links: LinkIntervals, mask: BoolArray) -> pa.Array:
    topic = pages.topic[links.page[mask]]
    return _join("/", TOPIC_WORDS.take(_ints(topic)), "/", _text(np.flatnonzero(mask)))


def _abroad(pages: Pages, links: LinkIntervals, mask: BoolArray, path: pa.Array, host: pa.Array) -> pa.Array:
    page = links.target[mask]
    return _join(host.take(_ints(pages.site[page])), "/", path.take(_ints(page)))


def _beyond(pages: Pages, links: LinkIntervals, mask: BoolArray) -> pa.Array:
    topic = pages.topic[links.page[mask]]
    number = np.flatnonzero(mask)
    return _join(TOPIC_WORDS.take(_ints(topic)), "-", _text(number % 97), ".example.org/", _text(number))


def _ints(values: IntArray) -> pa.Array:
    return pa.array(values.astype(np.int64))


def _text(numbers: IntArray) -> pa.Array:
    return pa.array(numbers.astype(np.int64)).cast(pa.string())


def _join(*parts: pa.Array | str) -> pa.Array:
    """Concatenate element by element; plain strings are the same for all."""
    return pc.binary_join_element_wise(*parts, "")


def _where(mask: BoolArray, then: pa.Array, otherwise: pa.Array) -> pa.Array:
    return pc.if_else(pa.array(mask), then, otherwise)
