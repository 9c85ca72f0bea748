"""Search over the crawler's copies, and the two steps of judging its results."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.columns import IntArray
from recrawl.errors import InputError, RecordingError
from recrawl.evaluate.crawl import crawl
from recrawl.evaluate.measures.all_measures import make_measures
from recrawl.evaluate.search.engine import Hits, Index, IndexedCopies, search
from recrawl.evaluate.search.queries import Query, draw_queries, query_of, read_queries
from recrawl.evaluate.search.search_quality import Searcher
from recrawl.evaluate.search.wordings import wordings
from recrawl.papers.clusters.clusters_tables import paired_t, two_sample_t
from recrawl.plan import Plan
from recrawl.recording.recording import Recording
from recrawl.see.words import bucket_of
from recrawl.simulate.recorded import RecordedWorld
from support.real_recordings import THREE_SITES
from support.small_recordings import tables

CAT, DOG, FOX = (bucket_of(word) for word in ("cat", "dog", "fox"))


def lists(*rows: list[int]) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    made = np.empty(len(rows), dtype=object)
    made[:] = [np.array(row) for row in rows]
    return made


def animals(*, texts: bool = False) -> Recording:
    """Page 0: cat, from day 2.5 on dog (the change of day 1.5 touches no word). Page 1: cat. Page 2: cat, dies on 3.5.

    Page 3: dog, and a cat beside it from day 4.5 on.
    """
    made = tables(
        6, [[1.5, 2.5], [], [], [4.5]], died=[np.nan, np.nan, 3.5, np.nan],
        d_words_added=[0, 1, 1], d_words_removed=[0, 1, 0],
    )  # fmt: skip
    made["terms"] = {
        "page_id": np.array([0, 0, 1, 2, 3, 3]),
        "when": np.array(["start", "end", "start", "start", "start", "end"], dtype=object),
        "bucket": lists([CAT], [DOG], [CAT], [CAT], [DOG], sorted([CAT, DOG])),
        "count": lists([1], [1], [4], [1], [1], [1, 1]),
        "total": np.array([1, 1, 4, 1, 1, 2]),
    }
    if texts:
        made["texts"] = {
            "page_id": np.array([0, 0, 0]),
            "day": np.array([0.0, 1.5, 2.5]),
            "text": np.array(["fox", "fox fox", "dog"], dtype=object),
        }
    return Recording.from_arrays(made)


def held(recording: Recording, seen: IntArray) -> set[tuple[int, int, float]]:
    found = wordings(recording, np.sort([CAT, DOG, FOX]))
    page, word, count = found.at(seen, np.ones(len(recording), dtype=np.bool_))
    return {(int(p), int(found.words[w]), float(c)) for p, w, c in zip(page, word, count, strict=True)}


def test_words_turn_at_a_change_that_touched_words() -> None:
    """A change without words leaves the text as it was; the one with words turns cat into dog."""
    web = animals()
    quiet = {(1, CAT, 4.0), (2, CAT, 1.0), (3, DOG, 1.0)}
    assert held(web, np.array([0, 2, 2, 2])) == {(0, CAT, 1.0)} | quiet
    assert held(web, np.array([1, 2, 2, 2])) == {(0, CAT, 1.0)} | quiet
    assert held(web, np.array([2, 2, 2, 2])) == {(0, DOG, 1.0)} | quiet
    assert held(web, np.array([2, 2, 2, 3])) == {(0, DOG, 1.0), (3, CAT, 1.0)} | quiet


def test_texts_are_counted_where_there_are() -> None:
    """Every version's own words, instead of those of first and last."""
    web = animals(texts=True)
    assert {(p, w, c) for p, w, c in held(web, np.array([0, 2, 2, 2])) if p == 0} == {(0, FOX, 1.0)}
    assert {(p, w, c) for p, w, c in held(web, np.array([1, 2, 2, 2])) if p == 0} == {(0, FOX, 2.0)}
    assert {(p, w, c) for p, w, c in held(web, np.array([2, 2, 2, 2])) if p == 0} == {(0, DOG, 1.0)}


def index_of(bags: dict[int, dict[int, int]]) -> Index:
    """Index copies: page -> word -> how often."""
    made = Index()
    take(made, bags)
    return made


def take(index: Index, bags: dict[int, dict[int, int]]) -> None:
    rows = [(page, word, count) for page, bag in bags.items() for word, count in bag.items()]
    index.replace(np.array(sorted(bags), dtype=np.int64), *np.array(rows, dtype=np.int64).reshape(-1, 3).T)


def listed(hits: Hits) -> list[tuple[int, int]]:
    return list(zip(hits.pages.tolist(), hits.matched.tolist(), strict=True))


def test_scores_by_hand() -> None:
    """Of two pages with the word four times, the shorter is first; one that has both words beats both; rank counts."""
    index = index_of({0: {3: 4}, 1: {3: 4}, 2: {3: 1, 7: 1}})
    pages, counts = index.postings(3)
    assert dict(zip(pages.tolist(), counts.tolist(), strict=True)) == {0: 4, 1: 4, 2: 1}
    queries = [Query((3,)), Query((3, 7))]
    length, tie = np.array([16.0, 4.0, 4.0]), np.arange(3)
    first, both = search(index, queries, IndexedCopies(3, length, np.zeros(3), tie))
    assert first.pages.tolist() == [1, 0, 2]  # 0 and 2 have the same score, sqrt(4 / 16) = sqrt(1 / 4): by the tie
    assert both.pages[0] == 2
    assert both.matched.tolist() == [2, 1, 1]
    ranked = search(index, queries, IndexedCopies(3, length, np.array([1.0, 0.1, 0.1]), tie))[0]
    assert ranked.pages.tolist() == [0, 1, 2]


def by_force(bags: dict[int, dict[int, int]], query: Query, copies: IndexedCopies, top: int) -> list[tuple[int, int]]:
    """Score every page on its own, by the formulas of recrawl.evaluate.search.engine, without an index."""
    content: dict[int, float] = {}
    matched: dict[int, int] = {}
    for page, bag in bags.items():
        words = [word for word in sorted(query.words) if word in bag]
        if words:
            score = 0.0
            for word in words:
                idf = 1 + float(np.log(copies.number / (sum(word in other for other in bags.values()) + 1)))
                score += math.sqrt(bag[word]) * (idf * idf) / math.sqrt(max(copies.length[page], 1))
            content[page], matched[page] = score * len(words) / len(query.words), len(words)
    best = max(content.values(), default=0.0)
    high = max((float(copies.rank[page]) for page in content), default=0.0) or 1.0
    score_of = {page: 0.5 * (content[page] / best) + 0.5 * (float(copies.rank[page]) / high) for page in content}
    order = sorted(content, key=lambda page: (-score_of[page], copies.tie[page]))
    return [(page, matched[page]) for page in order[:top]]


BAG = st.dictionaries(st.sampled_from([0, 1, 16, 17, 255, 4095]), st.integers(1, 12), max_size=4)


@settings(max_examples=40, deadline=None)
@given(st.lists(BAG, min_size=1, max_size=25), st.lists(BAG, max_size=25), st.integers(0, 2**32 - 1))
def test_the_index_finds_what_brute_force_finds(
    before: list[dict[int, int]], after: list[dict[int, int]], seed: int
) -> None:
    """The same ten pages in the same order as scoring every page, also after some copies were replaced or emptied."""
    draw = np.random.default_rng(seed)
    size = len(before)
    bags = dict(enumerate(before))
    index = index_of(bags)
    queries = [Query((0,)), Query((1, 16)), Query((17, 255, 16)), Query((4095, 5)), Query((5,)), Query(())]
    for replaced in ({}, dict(zip(draw.permutation(size).tolist(), after, strict=False))):
        take(index, replaced)
        bags |= replaced
        copies = IndexedCopies(
            size, draw.integers(0, 5, size).astype(np.float64), draw.integers(0, 4, size) / 4, draw.permutation(size)
        )
        found = search(index, queries, copies, top=10)
        assert [listed(hits) for hits in found] == [by_force(bags, query, copies, 10) for query in queries]


def test_an_index_without_copies() -> None:
    """No copy, or only copies without a word: nothing is found and nothing fails; a word nobody has is unknown."""
    queries = [Query((3,)), Query((3, 7)), Query(())]
    copies = IndexedCopies(0, np.zeros(2), np.zeros(2), np.arange(2))
    for index in (Index(), index_of({}), index_of({0: {}, 1: {}})):
        assert [listed(hits) for hits in search(index, queries, copies)] == [[], [], []]
    known = index_of({0: {0x3: 2}, 1: {0x31: 1}})  # the terms of word 3 are not those of word 31
    assert [listed(hits) for hits in search(known, [Query((0x3,)), Query((9,))], copies)] == [[(0, 1)], []]


def test_copies_of_the_index_are_those_searched() -> None:
    """A searcher that went from crawl to crawl and back answers as a new one does: no copy is left behind."""
    web = animals()
    queries = [Query((CAT,)), Query((DOG,)), Query((CAT, DOG))]
    everyone, some = np.ones(4, dtype=np.bool_), np.array([True, False, True, False])
    old = Searcher(web, queries)
    for seen, held in (([0, 2, 2, 2], everyone), ([2, 2, 2, 3], everyone), ([2, 2, 2, 2], some), ([0, 2, 2, 3], some)):
        args = np.array(seen), held, np.where(held, 0.0, np.nan)
        assert list(map(listed, old.search(*args))) == list(map(listed, Searcher(web, queries).search(*args)))


def test_a_query_without_hits() -> None:
    """No page has the word: no results, no freshness, and no precision as no live page answers either."""
    web = animals()
    world = RecordedWorld(web)
    found = Searcher(web, [Query((FOX,)), Query(())]).judge(world, np.ones(4, dtype=np.bool_), np.zeros(4), 1.0)
    assert np.isnan(found.fresh).all()
    assert np.isnan(found.precision).all()
    assert found.results == 0


def test_lucky_and_embarrassing_by_hand() -> None:
    """On day 4, without a visit: page 0 no longer has a cat, page 2 is dead, page 1 is as it was.

    cat finds pages 0, 1, 2 of which one is fresh; all promise, only page 1 gives: AP is 1 over its rank, and two are
    embarrassing. dog finds page 3 alone, though page 0 has one now: AP 1/2. After day 4.5 page 3 is stale, but lucky.
    """
    web = animals()
    world = RecordedWorld(web)
    searcher = Searcher(web, [Query((CAT,)), Query((DOG,))])
    everyone = np.ones(4, dtype=np.bool_)
    found = searcher.judge(world, everyone, np.zeros(4), 4.0)
    rank = searcher.search(world.seen, everyone, np.zeros(4))[0].pages.tolist().index(1) + 1
    assert found.fresh == pytest.approx([1 / 3, 1.0])
    assert found.precision == pytest.approx([1 / rank, 1 / 2])
    assert (found.results, found.promised, found.lucky, found.embarrassing) == (4, 4, 0, 2)
    later = searcher.judge(world, everyone, np.zeros(4), 5.0)
    assert later.lucky == 1
    assert later.fresh[1] == 0.0


def test_precision_over_the_results_alone() -> None:
    """With `relevant` results the dog on page 0, which no copy shows, does not count: AP is 1; none right is 0."""
    web = animals()
    searcher = Searcher(web, [Query((CAT,)), Query((DOG,))], relevant="results")
    everyone = np.ones(4, dtype=np.bool_)
    found = searcher.judge(RecordedWorld(web), everyone, np.zeros(4), 4.0)
    assert found.precision[1] == 1.0
    some = np.array([True, False, True, False])  # page 0 has no cat any more, page 2 is dead
    assert searcher.judge(RecordedWorld(web), some, np.where(some, 0.0, np.nan), 4.0).precision[0] == 0.0


def test_fresh_copies_are_fresh() -> None:
    """The ideal crawler has nothing stale, lucky or embarrassing; here every result is an answer."""
    ideal = Searcher(animals(), [Query((CAT,)), Query((DOG,))]).ideal(4.0)
    assert ideal.fresh.tolist() == [1.0, 1.0]
    assert ideal.precision.tolist() == [1.0, 1.0]
    assert ideal.lucky == ideal.embarrassing == 0


def test_queries_from_a_file(tmp_path: Path) -> None:
    """One query a line, words in any case; lines without a word are passed over, a file without any is refused."""
    file = tmp_path / "queries.txt"
    file.write_text("Cat and dog\n\n  --\nfox, Fox\n")
    first, second = read_queries(file)
    assert set(first.words) >= {bucket_of("cat"), bucket_of("dog")}
    assert second == Query((bucket_of("fox"),), "fox, Fox")
    assert query_of("FOX").words == second.words
    file.write_text("\n...\n")
    for path in (file, tmp_path / "none.txt"):
        with pytest.raises(InputError):
            read_queries(path)


def test_drawn_queries_come_again_by_their_seed() -> None:
    """The same seed draws the same queries, of words that are there; without words there is nothing to draw."""
    web = animals()
    drawn = draw_queries(web, 30, seed=4)
    assert drawn == draw_queries(web, 30, seed=4) != draw_queries(web, 30, seed=5)
    assert {word for query in drawn for word in query.words} == {CAT, DOG}
    with pytest.raises(RecordingError):
        draw_queries(Recording.from_arrays(tables(3, [[]])), 3)


def test_t_values_by_hand() -> None:
    """(1, 2, 3) against (0, 1, 2): t = 1 / sqrt(1/3 + 1/3) as two samples; as pairs they differ by 1 for certain."""
    a, b = np.array([1.0, 2.0, 3.0, np.nan]), np.array([0.0, 1.0, 2.0, np.nan])
    assert two_sample_t(a, b) == pytest.approx(np.sqrt(1.5))
    assert paired_t(a[None], b[None]) == np.inf
    assert two_sample_t(a, a) == paired_t(a[None], a[None]) == 0
    assert paired_t(np.array([[1.0, 3.0]]), np.array([[0.0, 0.0]])) == pytest.approx(2.0)
    assert np.isnan(two_sample_t(a[:1], b))


def test_measures_without_words_are_refused() -> None:
    """A recording without words has no search results to judge."""
    with pytest.raises(RecordingError):
        crawl(Recording.from_arrays(tables(4, [[1.5], []])), "age", Plan(1.0, 0.5), make_measures("MAPAt10"))


def test_search_measures_on_real_pages() -> None:
    """Visiting every page keeps all results fresh; the measures are shares, and age in a crawl that visits little."""
    web = Recording.open(THREE_SITES).window(0.0, 56.0)
    measures = make_measures("FreshnessAt10,MAPAt10")
    all_pages = crawl(web, "round-robin", Plan(14.0, 1.0, warmup=1), measures)
    few = crawl(web, "round-robin", Plan(14.0, 0.01, warmup=1), measures)
    assert all_pages.value(measures[0]) > 0.95 > few.value(measures[0])
    assert 0 <= few.value(measures[1]) <= all_pages.value(measures[1]) + 0.02 <= 1.02
