"""A recording reads lazily, slices by page, site and time, and keeps its numbers consistent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.errors import InputError, RecordingError, UnknownNameError
from recrawl.recording.recording import Recording
from recrawl.recording.tables import ParquetTables
from recrawl.recording.whole import hash_strings
from support.real_recordings import REAL_RECORDINGS

NAN = float("nan")


def arrays(order: list[int] | None = None) -> dict[str, dict[str, Any]]:
    """Two sites, five pages, eight changes; `order` shuffles the rows of the pages table."""
    rows = np.array(order or range(5))
    return {
        "sites": {
            "site_id": np.array([20, 10]),
            "days": np.array([10.0, 6.0]),
            "repo": np.array(["rust/Blog", "go/docs"], dtype=object),
            "kind": np.array(["blog", "docs"], dtype=object),
        },
        "pages": {
            "page_id": np.array([1, 3, 4, 8, 9])[rows],
            "site_id": np.array([20, 20, 10, 20, 10])[rows],
            "born_day": np.array([-5.0, -1.0, -9.0, 3.0, 2.0])[rows],
            "died_day": np.array([NAN, 7.0, NAN, NAN, NAN])[rows],
            "prior_changes": np.array([0, 2, 0, 0, 0])[rows],
            "path": np.array(list("abcde"), dtype=object)[rows],
        },
        "changes": {
            "page_id": np.array([8, 1, 1, 4, 3, 8, 9, 1]),
            "day": np.array([9.0, 8.0, 2.0, 1.0, 6.5, 4.0, 5.0, 2.0]),
            "words": np.arange(8),
        },
        "links": {
            "page_id": np.array([8, 1, 1, 3, 1]),
            "day_from": np.array([3.0, 8.0, 0.0, 0.0, 2.0]),
            "day_to": np.array([NAN, NAN, 2.0, 7.0, NAN]),
            "internal": np.array([False, True, True, True, True]),
            "target_page": np.array([-1, 8, 8, 1, -1]),
            "target": np.array(["x.org/", None, None, None, "/else"], dtype=object),
        },
        "terms": {
            "page_id": np.array([8, 1, 1]),
            "when": np.array(["start", "end", "start"], dtype=object),
            "bucket": np.array([[5], [1, 2], [7, 8, 9]], dtype=object),
            "count": np.array([[1], [2, 3], [4, 5, 6]], dtype=object),
            "total": np.array([1, 5, 15]),
        },
        "texts": {
            "page_id": np.array([3, 1, 1]),
            "day": np.array([0.0, 2.0, 0.0]),
            "text": np.array(["three", "new", "old"], dtype=object),
        },
    }


def small(order: list[int] | None = None) -> Recording:
    return Recording.from_arrays(arrays(order))


def test_pages_are_dense_numbers_in_the_order_of_page_id_however_the_rows_lie() -> None:
    """A shuffled pages table gives the same recording."""
    plain, shuffled = small(), small([3, 0, 4, 2, 1])
    for recording in (plain, shuffled):
        assert recording.page_ids.tolist() == [1, 3, 4, 8, 9]
        assert recording.page("path").tolist() == list("abcde")
        assert recording.site.tolist() == [0, 0, 1, 0, 1]
        assert recording.died.tolist() == [np.inf, 7, np.inf, np.inf, np.inf]
        assert recording.rows_of(np.array([8, 2, 1, 99])).tolist() == [3, -1, 0, -1]


def test_changes_come_by_page_and_day_however_the_rows_lie() -> None:
    """Rows are ordered by page and day; other columns follow; equal times keep their order."""
    recording = small()
    assert recording.change_day.tolist() == [2, 2, 8, 6.5, 1, 4, 9, 5]
    assert recording.change_start.tolist() == [0, 3, 4, 5, 7, 8]
    assert recording.change("words").tolist() == [2, 7, 1, 4, 3, 5, 0, 6]
    assert recording.change_page.tolist() == [0, 0, 0, 1, 2, 3, 3, 4]


def test_a_window_takes_the_pages_that_live_in_it_and_its_changes() -> None:
    """Only sites watched to its end; changes in (start, end]; a page dead by its start or born at its end is out."""
    window = small().window(2.0, 8.0)
    assert window.page_ids.tolist() == [1, 3, 8]  # site 10 was watched for 6 days
    assert window.change_day.tolist() == [8, 6.5, 4]
    assert window.change_start.tolist() == [0, 1, 2, 3]
    assert small().window(7.0, 10.0).page_ids.tolist() == [1, 8]  # 3 died at 7
    assert small().window(0.0, 3.0).page_ids.tolist() == [1, 3, 4, 9]  # 8 is born at 3
    with pytest.raises(InputError, match="not within the recording's 0 to 10"):
        small().window(2.0, 11.0)


def test_fixed_and_active_pages() -> None:
    """Fixed pages live through the window; active ones had changed before it, by count or by earlier changes."""
    assert small().fixed().page_ids.tolist() == [1, 4]
    assert small().active().page_ids.tolist() == [3]
    later = small().window(4.0, 10.0)
    assert later.prior_changes().tolist() == [2, 2, 1]  # pages 1, 3, 8: changes up to day 4, and prior ones
    assert later.active().page_ids.tolist() == [1, 3, 8]
    assert later.active(within=1.0).page_ids.tolist() == [8]
    assert later.active(within=2.5).page_ids.tolist() == [1, 8]


def test_active_never_looks_ahead() -> None:
    """Changes after the window's start make no page active."""
    tables = arrays()
    before = Recording.from_arrays(tables).window(4.0, 10.0).active().page_ids.tolist()
    keep = tables["changes"]["day"] <= 4.0
    tables["changes"] = {name: column[keep] for name, column in tables["changes"].items()}
    assert Recording.from_arrays(tables).window(4.0, 10.0).active().page_ids.tolist() == before


def test_sites_and_kinds_are_found_by_name_and_a_slip_suggests_the_nearest() -> None:
    """Names in any case, or the site's number."""
    assert small().sites(["RUST/blog"]).page_ids.tolist() == [1, 3, 8]
    assert small().sites(["10"]).page_ids.tolist() == [4, 9]
    assert small().kinds(["docs", "blog"]).page_ids.tolist() == [1, 3, 4, 8, 9]
    with pytest.raises(UnknownNameError, match="unknown site 'go/doc'; did you mean 'go/docs'"):
        small().sites(["go/doc"])
    with pytest.raises(UnknownNameError, match="unknown kind of site 'blogs'; did you mean 'blog'"):
        small().kinds(["blogs"])


def test_links_of_a_slice_have_the_slices_own_numbers() -> None:
    """Targets outside the slice lose their page but keep their key; one target's intervals are neighbours."""
    whole = small().links
    assert whole.page.tolist() == [0, 0, 0, 1, 3]
    assert sorted(zip(whole.day_from.tolist(), whole.day_to.tolist(), strict=True)) == sorted(
        [(3, np.inf), (8, np.inf), (0, 2), (0, 7), (2, np.inf)]
    )
    first = [row for row in range(3) if whole.target_page[row] == 3]
    assert abs(first[0] - first[1]) == 1
    assert whole.again.sum() == 1
    assert len(set(whole.key.tolist())) == 4
    part = small().keep(np.array([True, False, False, True, False])).links
    assert part.page.tolist() == [0, 0, 0, 1]
    assert sorted(part.target_page.tolist()) == [-1, -1, 1, 1]
    without = small().keep(np.array([True, False, False, False, False])).links
    assert without.target_page.tolist() == [-1, -1, -1]
    assert set(without.key.tolist()) < set(whole.key.tolist())


def test_links_of_a_window_are_those_there_at_some_time_of_it() -> None:
    """A link taken away by the start, or put there after the end, is out."""
    links = small().window(2.0, 7.0).links
    assert sorted(links.day_from.tolist()) == [0, 2, 3]
    assert links.at(2.0).sum() == 2


def test_terms_and_texts_follow_the_slice() -> None:
    """Versions by page and time, with the slice's own page numbers."""
    terms = small().terms
    assert terms.page.tolist() == [0, 0, 3]
    assert terms.last.tolist() == [False, True, False]
    assert terms.total.tolist() == [15, 5, 1]
    assert terms.start.tolist() == [0, 3, 5, 6]
    assert terms.bucket.tolist() == [7, 8, 9, 1, 2, 5]
    assert terms.count.tolist() == [4, 5, 6, 2, 3, 1]
    part = small().keep(np.array([False, False, False, True, False]))
    assert (part.terms.page.tolist(), part.terms.bucket.tolist(), len(part.texts())) == ([0], [5], 0)
    texts = small().texts()
    assert (texts.page.tolist(), texts.day.tolist()) == ([0, 0, 1], [0, 2, 0])
    assert texts.text.tolist() == ["old", "new", "three"]
    assert len(small().window(0.0, 1.0).texts()) == 2


def test_what_a_recording_does_not_have_is_said() -> None:
    """Asking for links, terms or texts that are not there."""
    tables = {name: columns for name, columns in arrays().items() if name in ("sites", "pages", "changes")}
    bare = Recording.from_arrays(tables, name="bare")
    assert not bare.has_links
    for ask in (lambda: bare.links, lambda: bare.terms, bare.texts):
        with pytest.raises(RecordingError, match=r"^bare has no table of (links|terms|texts)$"):
            ask()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_slices_of_slices_equal_one_slice(data: st.DataObject) -> None:
    """Any masks one after the other give the same pages, changes and links as both at once."""
    first = np.array(data.draw(st.lists(st.booleans(), min_size=5, max_size=5)))
    second = np.array(
        data.draw(st.lists(st.booleans(), min_size=int(first.sum()), max_size=int(first.sum()))), dtype=bool
    )
    both = first.copy()
    both[first] = second
    one, two = small().keep(both), small([4, 2, 0, 1, 3]).keep(first).keep(second)
    assert one.page_ids.tolist() == two.page_ids.tolist()
    assert one.change_day.tolist() == two.change_day.tolist()
    assert one.change_start.tolist() == two.change_start.tolist()
    for name in ("start", "day_from", "day_to", "internal", "target_page"):
        assert getattr(one.links, name).tolist() == getattr(two.links, name).tolist()
    wanted = np.isin(arrays()["changes"]["page_id"], one.page_ids)
    assert sorted(one.change("words").tolist()) == np.flatnonzero(wanted).tolist()


def test_samples_and_folds_depend_on_page_numbers_and_seed_alone() -> None:
    """Equal seeds draw equal pages; folds are disjoint, cover all and differ in size by one at most."""
    one, two = small(), small([4, 3, 2, 1, 0])
    assert one.sample(3, seed=4).page_ids.tolist() == two.sample(3, seed=4).page_ids.tolist()
    folds = one.folds(2, seed=1)
    assert sorted(np.concatenate([fold.page_ids for fold in folds]).tolist()) == one.page_ids.tolist()
    assert sorted(len(fold) for fold in folds) == [2, 3]
    with pytest.raises(InputError, match="cannot draw 6 pages from 5"):
        one.sample(6, seed=0)


def test_hashes_of_strings_are_of_their_bytes_alone() -> None:
    """Equal strings hash alike wherever they lie; missing and empty ones are 0; FNV-1a of "a" is 0xaf63dc4c8601ec8c."""
    import pyarrow as pa

    words = pa.array(["a", "", None, "b", "ä", "a"])
    hashes = hash_strings(words)
    h = 0xAF63DC4C8601EC8C
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    h = (h ^ (h >> 27)) * 0x94D049BB133111EB % 2**64
    assert int(hashes[0]) == h ^ (h >> 31)
    assert hashes[0] == hashes[5]
    assert hashes[1] == hashes[2] == 0
    assert len(set(hashes.tolist())) == 4
    assert hash_strings(words.slice(3, 2)).tolist() == hashes[3:5].tolist()
    assert hash_strings(words.dictionary_encode()).tolist() == hashes.tolist()


@pytest.mark.parametrize("folder", REAL_RECORDINGS, ids=lambda folder: folder.name)
def test_a_real_recording_reads_as_arrow_reads_it(folder: Path) -> None:
    """Every column of every table equals what the library reads, nulls as NaN, -1 or None."""
    tables = ParquetTables(folder)
    for name in ("sites", "pages", "changes", "links", "texts"):
        reference = pq.read_table(folder / f"{name}.parquet")
        for column in reference.column_names:
            values = tables.column(name, column)
            expected = reference.column(column).to_pylist()
            if values.dtype.kind == "f":
                np.testing.assert_array_equal(
                    values, np.array([NAN if v is None else v for v in expected], values.dtype)
                )
            elif values.dtype.kind in "iu":
                assert values.tolist() == [-1 if v is None else v for v in expected]
            elif values.dtype.kind == "M":
                assert [v.replace(tzinfo=None) for v in expected] == values.tolist()
            else:
                assert values.tolist() == expected


@pytest.mark.parametrize("folder", REAL_RECORDINGS, ids=lambda folder: folder.name)
def test_a_real_recording_holds_what_its_statistics_say(folder: Path) -> None:
    """Pages, changes, births and deaths by site as in stats.json, through the slices by site."""
    recording = Recording.open(folder)
    stats = json.loads((folder / "stats.json").read_text())
    assert len(recording) == stats["rows"]["pages"]
    assert len(recording.links) == stats["rows"]["links"]
    assert len(recording.terms) == stats["rows"]["terms"]
    assert len(recording.texts()) == stats["rows"]["texts"]
    for site in stats["sites"]:
        part = recording.sites([site["repo"]])
        assert len(part) == site["pages"]
        assert len(part.change_day) == site["changes"]
        assert int((part.born > 0).sum()) == site["born"]
        assert int(np.isfinite(part.died).sum()) == site["died"]
