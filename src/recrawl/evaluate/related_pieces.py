"""Related pages on an engine: the parts of the search are pieces of work; the neighbours are those of one process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from recrawl.evaluate.work_engine import Engine, Shared
from recrawl.features.one_thread import one_thread
from recrawl.features.related import NEIGHBOURS, NeighbourSearch, PairsFound, Related, Vectors, related
from recrawl.progress import Advance, silent

PIECES = 8  # per process of the engine: few enough to send, enough to share the work evenly


class _SearchPiece(NamedTuple):
    search: Shared  # a NeighbourSearch
    parts: list[int]


def related_on(
    engine: Engine,
    vectors: Vectors,
    k: int = NEIGHBOURS,
    *,
    exact: bool | None = None,
    seed: int = 0,
    advance: Advance = silent,
) -> Related:
    """Return the k nearest other pages of each page (see `related`): cells are found here, neighbours on the engine."""

    def run(search: NeighbourSearch, parts: Sequence[int]) -> Iterator[tuple[int, PairsFound]]:
        shared, count = engine.share(search), PIECES * engine.width
        pieces = [list(parts[first::count]) for first in range(min(count, len(parts)))]
        for number, found in engine.each(_find, (_SearchPiece(shared, piece) for piece in pieces)):
            yield from zip(pieces[number], found, strict=True)

    return related(vectors, k, exact=exact, seed=seed, advance=advance, run=run)


def _find(piece: _SearchPiece) -> list[PairsFound]:
    search: NeighbourSearch = piece.search.load()
    with one_thread(openmp=False):
        return [search.find(part) for part in piece.parts]
