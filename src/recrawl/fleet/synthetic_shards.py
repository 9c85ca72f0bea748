"""Shards of a made-up crawl, of any size, written shard by shard: to find out what a plan costs.

Sites have 1 to 4,000 pages in directories of up to 50. A page changes at a constant rate, which its directory draws
(half of them hardly ever change). After a warm-up that visits every page, each cycle visits a share of the pages at
random. All draws are hashes of page and cycle, so the pages do not depend on the number of shards.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds, spans, tie_order, uniform
from recrawl.errors import InputError
from recrawl.evaluate.work_engine import open_engine
from recrawl.fleet.shard_files import Columns, ShardPart, ShardSet, check_count, new_folder, shard_of, write_shard
from recrawl.memory import COUNTED, Memory
from recrawl.progress import Advance, silent
from recrawl.visits import Outcome, Visits

MOST_PAGES_OF_SITE = 4_000
DIRECTORY = 50  # pages
WARMUP = 2
_SIZES, _RATES, _VISITS, _CHANGES = (stream << 43 for stream in range(1, 5))


@dataclass(frozen=True)
class MadeUp:
    """How a synthetic crawl is made."""

    pages: int
    cycles: int = 20
    share: float = 0.05  # of the pages, visited in each cycle after the warm-up
    seed: int = 0


def write_synthetic(
    made: MadeUp, folder: str | Path, count: int, *, force: bool = False, jobs: int = 1, advance: Advance = silent
) -> ShardSet:
    """Write the shards of a made-up crawl."""
    check_count(count)
    if made.pages < 1 or made.cycles < WARMUP or not 0 <= made.share <= 1:
        raise InputError("a made-up crawl has at least 1 page and 2 cycles, and visits a share from 0 to 1")
    path = new_folder(folder, force=force)
    size = _site_sizes(made)
    start = np.cumsum(size) - size
    shard = np.array([shard_of(_domain(site), count) for site in range(len(size))], dtype=np.int64)
    parts: dict[int, ShardPart] = {}

    def pieces() -> list[_Piece]:
        return [_Piece(made, path, n, np.flatnonzero(shard == n), start, size) for n in range(count)]

    with open_engine("local", jobs) as engine:
        for number, part in engine.each(_write_one, pieces()):
            parts[number] = part
            advance(len(parts), count, "writing")
    listed = tuple(parts[number] for number in range(count))
    shards = ShardSet(path, made.cycles + 1, float(made.cycles + 1), 1.0, made.seed, "synthetic", listed)
    shards.write_header()
    return shards


@dataclass(frozen=True)
class _Piece:
    made: MadeUp
    folder: Path
    number: int
    sites: PageIds
    start: IntArray  # of every site's pages
    size: IntArray


def _domain(site: int) -> str:
    return f"s{site}.example"


def _site_sizes(made: MadeUp) -> IntArray:
    """Return the pages of each site: a power law, cut off where all pages are given out."""
    most = min(made.pages, MOST_PAGES_OF_SITE)
    draw = uniform(np.arange(made.pages // max(1, most // 12) + 2), made.seed + _SIZES)
    size = np.minimum(most, np.exp(draw * np.log(most + 1))).astype(np.int64)
    while size.sum() < made.pages:
        size = np.concatenate([size, size])
    last = int(np.searchsorted(np.cumsum(size), made.pages))
    size = size[: last + 1]
    size[-1] -= size.sum() - made.pages
    return size


def _write_one(piece: _Piece) -> ShardPart:
    made, sites = piece.made, piece.sites
    first = piece.start[sites]
    pages = spans(first, first + piece.size[sites])
    site = np.repeat(np.arange(len(sites)), piece.size[sites])
    place = pages - np.repeat(first, piece.size[sites])  # of a page within its site
    tie = tie_order(pages, made.seed)
    memory, visits = _crawled(made, pages, sites[site], place, tie)
    columns: Columns = {name: getattr(memory, name) for name in COUNTED if name != "gone"}
    columns |= {"page": pages, "site": site, "tie": tie, "gone": memory.gone, "barred": memory.bars.page}
    columns |= {"first_seen": np.zeros(len(pages)), "new_internal": memory.n * 0, "new_external": memory.n * 0}
    urls = _urls(sites[site], place)
    return write_shard(piece.folder, piece.number, columns, _groups(site, place), urls, visits)


def _rates(made: MadeUp, site: IntArray, place: IntArray) -> FloatArray:
    """Return each page's changes per cycle: its directory's, times a factor of its own."""
    directory = (site << 20) + place // DIRECTORY
    draw = uniform(directory, made.seed + _RATES)
    pace = np.where(draw < 0.5, 0.001, 0.002 * 250.0 ** (2.0 * draw - 1.0))
    own = 0.25 + 1.5 * uniform((site << 20) + place, made.seed + _RATES + 1)
    return np.asarray(pace * own)


def _crawled(
    made: MadeUp, pages: PageIds, site: IntArray, place: IntArray, tie: npt.NDArray[np.uint64]
) -> tuple[Memory, Columns]:
    """Return the memory after all cycles, and the visits."""
    memory = Memory(pages, np.zeros(len(pages), dtype=np.int32))
    memory.known[:] = True
    rate = _rates(made, site, place)
    rows: list[tuple[PageIds, IntArray, IntArray, IntArray]] = []
    order = np.argsort(tie)
    for cycle in range(1, made.cycles + 1):
        memory.begin_cycle()
        asked = order if cycle <= WARMUP else order[uniform(pages[order], made.seed + _VISITS + cycle) < made.share]
        gap = np.where(memory.last_cycle[asked] < 0, 0, cycle - memory.last_cycle[asked])
        changed: BoolArray = uniform(pages[asked], made.seed + _CHANGES + cycle) < -np.expm1(-rate[asked] * gap)
        outcome = np.where(gap == 0, int(Outcome.FIRST), changed).astype(np.uint8)
        none = np.zeros(len(asked), dtype=np.int32)
        memory.count(Visits(asked, np.full(len(asked), float(cycle)), outcome, none, none, none.astype(np.float64)))
        rows.append((asked, np.full(len(asked), cycle), outcome, gap))
    page, cycles, outcomes, gaps = (np.concatenate(column) for column in zip(*rows, strict=True))
    return memory, {"page": page, "cycle": cycles, "round": cycles * 0, "outcome": outcomes, "gap": gaps}


def _groups(site: IntArray, place: IntArray) -> npt.NDArray[np.int32]:
    """Return the groups of the addresses `DIRECTORY/PAGE`: section and directory are one, names are unique per site."""
    directory = np.unique((site.astype(np.int64) << 20) + place // DIRECTORY, return_inverse=True)[1]
    sites, directories = int(site.max(initial=-1)) + 1, int(directory.max(initial=-1)) + 1
    section, shape = sites + directory, 2 * sites + directories + site
    name = np.unique((site.astype(np.int64) << 20) + place % DIRECTORY, return_inverse=True)[1]
    parent = sites + directories + site
    names = 3 * sites + directories + name
    return np.stack([site, section, parent, section, names, shape], axis=1).astype(np.int32)


def _urls(site: IntArray, place: IntArray) -> object:
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = [pa.array(column).cast(pa.string()) for column in (site, place // DIRECTORY, place % DIRECTORY)]
    text = pc.binary_join_element_wise("http://s", parts[0], ".example/", parts[1], "/", parts[2], "")
    return text.cast(pa.large_string())
