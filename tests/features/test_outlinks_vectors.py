"""PageRank, TrustRank, and what a page is about."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.columns import FloatArray, IntArray
from recrawl.errors import InputError
from recrawl.features.pagerank import pagerank, trusted
from recrawl.features.semantic import SemanticSpace, merger, sentence_vectors
from recrawl.recording.recording import Recording
from support.real_recordings import THREE_SITES
from support.small_recordings import Tables, tables

# -- PageRank ---------------------------------------------------------------------------------------------------------


def test_four_pages_by_hand() -> None:
    """The four-page example that Brin & Page's formula is taught with: 1.49, 0.78, 1.58 and 0.15, over 4."""
    rank = pagerank(np.array([0, 0, 1, 2, 3]), np.array([1, 2, 2, 0, 2]), 4)
    assert rank == pytest.approx([0.3725, 0.1958, 0.3941, 0.0375], abs=5e-5)


def test_trust_starts_at_the_trusted_pages() -> None:
    """With d = 1/2 and walks from page 0 over 0 -> 1 -> 2, a page holds half of what the page before it holds.

    r0 = 1/2 (stuck r2) + 1/2, r1 = r0 / 2, r2 = r1 / 2, so r = (4, 2, 1) / 7; page 3 gets nothing.
    """
    rank = pagerank(np.array([0, 1]), np.array([1, 2]), 4, damping=0.5, restart=trusted(np.array([0]), 4))
    assert rank == pytest.approx([4 / 7, 2 / 7, 1 / 7, 0.0])


@given(
    size=st.integers(1, 12),
    links=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40),
    damping=st.floats(0.0, 0.95),
    seed=st.integers(0, 9),
)
def test_ranks_are_the_stationary_distribution(
    size: int, links: list[tuple[int, int]], damping: float, seed: int
) -> None:
    """Whatever the graph, stuck pages and repeated links too: the ranks are those of a dense solution and sum to 1."""
    ends = np.array([(a % size, b % size) for a, b in links], dtype=np.int64).reshape(-1, 2)
    start = np.random.default_rng(seed).random(size) + 0.01
    options = {"damping": damping, "restart": start, "tolerance": 1e-13, "max_rounds": 5000}
    rank = pagerank(ends[:, 0], ends[:, 1], size, **options)  # type: ignore[arg-type]
    assert rank.sum() == pytest.approx(1.0)
    assert rank == pytest.approx(dense(ends[:, 0], ends[:, 1], start / start.sum(), damping), abs=1e-9)


def dense(source: IntArray, target: IntArray, start: FloatArray, damping: float) -> FloatArray:
    size = len(start)
    walk = np.zeros((size, size))
    np.add.at(walk, (source, target), 1.0)
    stuck = walk.sum(axis=1) == 0
    walk[stuck] = start
    walk /= walk.sum(axis=1, keepdims=True)
    return np.asarray(np.linalg.solve(np.eye(size) - damping * walk.T, (1 - damping) * start))


def test_no_pages_and_no_links() -> None:
    """No pages have no ranks; without links each page is where walks start."""
    none = np.empty(0, dtype=np.int64)
    assert len(pagerank(none, none, 0)) == 0
    assert pagerank(none, none, 2, restart=np.array([1.0, 3.0])) == pytest.approx([0.25, 0.75])


@pytest.mark.parametrize(
    ("links", "options", "says"),
    [
        (([0], [5]), {}, "outside 0 to 2"),
        (([-1], [1]), {}, "outside 0 to 2"),
        (([0, 1], [1]), {}, "2 sources, 1 targets"),
        (([0], [1]), {"damping": 1.0}, "below 1"),
        (([0], [1]), {"restart": np.zeros(3)}, "at least one positive"),
        (([0], [1]), {"restart": np.array([1.0, -1.0, 3.0])}, "none negative"),
        (([0], [1]), {"restart": np.ones(2)}, "one weight per page"),
    ],
)
def test_bad_graphs(links: tuple[list[int], list[int]], options: dict[str, FloatArray], says: str) -> None:
    """Links to nowhere, walks that never start anew or start nowhere are refused in one line."""
    with pytest.raises(InputError, match=says):
        pagerank(np.array(links[0]), np.array(links[1]), 3, **options)  # type: ignore[arg-type]


# -- semantic vectors -------------------------------------------------------------------------------------------------

ROCKS, BIRDS = [1, 2, 3, 4], [11, 12, 13, 14]


def web(words: list[list[int]], born: list[float] | None = None, later: dict[int, list[int]] | None = None) -> Tables:
    """Pages with these words when first seen, and for some with other words in the end."""
    made = tables(28.0, [[1.0]] * len(words) if born is None else [[]] * len(words), born=born)
    rows = [(page, "start", held) for page, held in enumerate(words)]
    rows += [(page, "end", held) for page, held in (later or {}).items()]
    made["terms"] = {
        "page_id": np.array([page for page, _, _ in rows], dtype=np.int64),
        "when": np.array([when for _, when, _ in rows], dtype=object),
        "bucket": lists([held for _, _, held in rows]),
        "count": lists([[1] * len(held) for _, _, held in rows]),
        "total": np.array([len(held) for _, _, held in rows], dtype=np.int64),
    }
    return made


def lists(values: list[list[int]]) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    made = np.empty(len(values), dtype=object)
    made[:] = [np.array(value, dtype=np.int64) for value in values]
    return made


def test_pages_on_one_matter_are_near() -> None:
    """Two pages that share words are closer than two that share none, and every vector has length 1."""
    pages = [ROCKS, [*ROCKS[:3], 5], BIRDS, [*BIRDS[:3], 15], [1, 5, 2], [11, 15, 12]]
    vectors = SemanticSpace(Recording.from_arrays(web(pages)), dimensions=2).first()
    assert vectors.shape == (6, 2)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(6), abs=1e-5)
    assert vectors[0] @ vectors[1] > 0.9
    assert abs(vectors[0] @ vectors[2]) < 0.1


def test_a_page_without_text_has_no_direction() -> None:
    """A page without words gets the zero vector; so does every page of a recording without terms."""
    vectors = SemanticSpace(Recording.from_arrays(web([ROCKS, [], BIRDS, [1, 11]])), dimensions=2).first()
    assert not vectors[1].any()
    assert not SemanticSpace(Recording.from_arrays(tables(9.0, [[1.0], []])), dimensions=4).first().any()


def test_a_site_with_one_page() -> None:
    """One page is about one thing: its vector has length 1, and none if it has no words."""
    assert np.linalg.norm(SemanticSpace(Recording.from_arrays(web([ROCKS]))).first()) == pytest.approx(1.0)
    assert not SemanticSpace(Recording.from_arrays(web([[]]))).first().any()


def test_vectors_do_not_see_the_future() -> None:
    """Neither a page's last words nor the pages born later alter the vectors of the pages that are there."""
    pages = [ROCKS, [*ROCKS[:2], 7], BIRDS, [1, 11, 12], [5, 6, 11]]
    born = [0.0, 0.0, 0.0, 0.0, 5.0]
    plain = SemanticSpace(Recording.from_arrays(web(pages, born)), dimensions=3).first()
    pages[4] = [1, 2, 7, 11]
    other = SemanticSpace(Recording.from_arrays(web(pages, born, later={0: BIRDS})), dimensions=3).first()
    assert np.array_equal(plain[:4], other[:4])
    assert not np.array_equal(plain[4], other[4])


def test_the_same_seed_gives_the_same_vectors() -> None:
    """Two calls give the same bytes."""
    made = Recording.from_arrays(web([ROCKS, BIRDS, [1, 11], [2, 12, 13], [3, 4, 11]]))
    assert np.array_equal(SemanticSpace(made, 3, seed=1).first(), SemanticSpace(made, 3, seed=1).first())


def test_dimensions_that_go_together_are_merged() -> None:
    """Feature agglomeration gives the mean of each group of equal dimensions, and leaves short vectors alone."""
    draw = np.random.default_rng(0)
    three = draw.normal(size=(50, 3)).astype(np.float32)
    merged = merger(np.repeat(three, 4, axis=1), 3)(np.repeat(three, 4, axis=1))
    assert sorted(merged[0].tolist()) == pytest.approx(sorted(three[0].tolist()), abs=1e-6)
    assert np.array_equal(merger(three, 20)(three), three)
    assert merger(np.zeros((5, 30), dtype=np.float32), 20)(np.zeros((5, 30), dtype=np.float32)).shape == (5, 20)


def test_a_missing_sentence_model_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks for sentence vectors without the package is told so in one line."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InputError, match="sentence-transformers, which is not installed"):
        sentence_vectors(Recording.from_arrays(web([ROCKS])), "any")


def test_real_pages() -> None:
    """On real pages vectors have length 1 or 0, and a page is nearer to pages of its own site than to others."""
    real = Recording.open(THREE_SITES)
    vectors = SemanticSpace(real, 64).first()
    length = np.linalg.norm(vectors, axis=1)
    assert ((abs(length - 1) < 1e-4) | (length == 0)).all()
    some = np.flatnonzero(length > 0)[:800]
    near = vectors[some] @ vectors[some].T
    same = real.site[some][:, None] == real.site[some]
    assert near[same & ~np.eye(len(some), dtype=np.bool_)].mean() > near[~same].mean() + 0.1
