"""New links between crawls, and the features that are made of what crawls showed."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.errors import InputError
from recrawl.features.newlinks import Targets, new_links
from recrawl.features.related import NONE, Related, related
from recrawl.features.semantic import SemanticSpace
from recrawl.papers.outlinks.crawled_texts import CrawledTexts
from recrawl.papers.outlinks.crawls import Crawls
from recrawl.papers.outlinks.taxonomy import (
    CCR,
    LCR,
    NEW,
    PAGE,
    Feature,
    Reading,
    around,
    back,
    features,
    look_around,
    matrix,
    mean_back,
)
from recrawl.recording.recording import Recording
from support.real_recordings import THREE_SITES
from support.small_recordings import Tables, recording, tables

WEEKS = np.array([0.0, 7.0, 14.0, 21.0])


def linked(rows: list[tuple[int, float, float, bool, str]], pages: int = 2, **options: object) -> Recording:
    """A web of three weeks with these links: page, from, to, internal, target."""
    made = tables(21.0, [[8.0, 15.0]] * pages, **options)  # type: ignore[arg-type]
    made["links"] = {
        "page_id": np.array([row[0] for row in rows], dtype=np.int64),
        "day_from": np.array([row[1] for row in rows]),
        "day_to": np.array([row[2] for row in rows]),
        "internal": np.array([row[3] for row in rows]),
        "target_page": np.full(len(rows), -1, dtype=np.int64),
        "target": np.array([row[4] for row in rows], dtype=object),
    }
    return Recording.from_arrays(made)


# -- new links --------------------------------------------------------------------------------------------------------


def test_a_link_is_new_if_the_crawl_before_did_not_show_it() -> None:
    """Links from the start are not new; come and gone between crawls is not seen; put back later is new again."""
    web = linked(
        [
            (0, 0.0, np.nan, True, "/old"),
            (0, 3.0, np.nan, True, "/week1"),
            (0, 8.0, 13.0, True, "/unseen"),
            (0, 9.0, np.nan, False, "other.org/week2"),
            (1, 0.0, 5.0, True, "/gone"),
            (1, 16.0, np.nan, True, "/gone"),
        ]
    )
    assert new_links(web, WEEKS).tolist() == [[[1, 0], [0, 0], [0, 1]], [[0, 0], [1, 0], [0, 0]]]


def test_taken_away_and_put_back_between_crawls_is_not_new() -> None:
    """Both crawls show the link, so nothing is new."""
    web = linked([(0, 0.0, 8.0, True, "/x"), (0, 10.0, np.nan, True, "/x")])
    assert not new_links(web, WEEKS).any()


def test_without_a_table_of_links_the_changes_count() -> None:
    """The links that each change of the interval added are summed up; a crawl's own instant belongs to it."""
    web = recording(21.0, [[1.0, 7.0, 8.0]], new_internal=[2, 1, 4], new_external=[0, 0, 3])
    assert new_links(web, WEEKS)[:, :, 0].tolist() == [[3, 4, 0], [0, 3, 0]]


def test_targets() -> None:
    """LCR is the share of the weeks with new links, NL and NNL are those of the last week (section 5.1)."""
    held = Targets.of(np.array([[0, 2, 0], [1, 3, 0], [0, 5, 0]], dtype=np.int32))
    assert held.lcr == pytest.approx([1 / 3, 1.0, 0.0])
    assert held.nl.tolist() == [False, True, False]
    assert held.nnl.tolist() == [0.0, 5.0, 0.0]


# -- composition ------------------------------------------------------------------------------------------------------


def crawls(**options: object) -> Crawls:
    near = Related(np.array([[1], [NONE]], dtype=np.int32), np.array([[0.5], [0.0]], dtype=np.float32), 1.0, 1.0)
    web = linked([(1, 6.0, np.nan, True, "/a"), (1, 9.0, np.nan, True, "/b"), (1, 9.0, np.nan, True, "/c")], **options)  # type: ignore[arg-type]
    return Crawls(web, WEEKS, related=near)


def test_a_feature_becomes_dynamic_by_looking_back() -> None:
    """`back` is the value some crawls ago: page 1 gained 1 link in week 1 and 2 in week 2."""
    held = crawls()
    assert back(NEW["internal"], 0).value(held, 2).tolist() == [0, 2]
    assert back(NEW["internal"], 1).value(held, 2).tolist() == [0, 1]
    assert mean_back(NEW["internal"], 2).value(held, 2).tolist() == [0, 1.5]
    assert LCR["internal"].value(held, 3) == pytest.approx([0, 2 / 3])
    assert {back(feature, 1).kind for feature in PAGE} == {"DP"}


def test_a_feature_becomes_one_of_the_network_by_looking_around() -> None:
    """`around` is the related pages' mean; a page without related pages has none."""
    held = crawls()
    near = around(NEW["internal"]).value(held, 2)
    assert near[0] == 2
    assert np.isnan(near[1])
    assert around(PAGE[0]).kind == "SN"
    assert around(back(PAGE[0], 1)).kind == back(around(PAGE[0]), 1).kind == "DN"


def test_a_history_shorter_than_asked() -> None:
    """What was before the first crawl, or before a page's birth, is NaN; means are over what is known."""
    held = crawls(born=[0.0, 5.0])
    assert np.isnan(back(NEW["internal"], 2).value(held, 2)).all()
    assert np.isnan(NEW["internal"].value(held, 1)).tolist() == [False, True]
    assert mean_back(NEW["internal"], 8).value(held, 2).tolist() == [0, 2]
    rows, names = matrix(held, features(("SP", "SN", "DP", "DN"), 8), 2)
    assert rows.shape == (2, len(names))
    assert np.isnan(rows[:, names.index("new internal links, 7 ago")]).all()


@pytest.mark.parametrize("history", range(9))
def test_sets_grow_with_history(history: int) -> None:
    """Each week of history adds to DP and DN as many features; static sets stay, and every name is there once."""
    sizes = {name: len(features((name,), history)) for name in ("SP", "SN", "DP", "DN", "LBLA")}
    some = min(history, 1)
    assert sizes["SP"] == 7
    assert sizes["SN"] == 3 + 7
    assert sizes["DP"] == (5 + 2) * history + 2 * some
    assert sizes["DN"] == (3 + 2 + 2) * history + (2 + 2) * some + 2
    chosen = features(("SP", "SN", "DP", "DN"), history)
    assert len({feature.name for feature in chosen}) == len(chosen)
    for name in ("SP", "SN", "DP", "DN"):
        assert {feature.kind for feature in features((name,), history)} <= {name}


def test_the_two_readings_of_ranks_and_of_related_rates() -> None:
    """PageRank is seen only if asked for; the related rate of all weeks counts the week that is predicted."""
    assert "PageRank" not in {feature.name for feature in features(("SN", "DN"), 8)}
    both = {feature.name for feature in features(("SN", "DN"), 8, reading=Reading(ranks="both"))}
    assert {"PageRank", "PageRank, 8 ago", "TrustRank, 8 ago"} <= both
    held = crawls()
    past, whole = (look_around("internal", 1, Reading(related_rate=rate))[0] for rate in ("past", "all"))
    assert whole.value(held, 2)[0] == past.value(held, 3)[0] != past.value(held, 2)[0]


def test_lbla_is_of_one_sort_of_links() -> None:
    """For internal links only the history of internal links is used, the page's and its related pages'."""
    names = [feature.name for feature in features(("LBLA",), 2, ("internal",))]
    assert names == [
        "new internal links",
        "new internal links, 1 ago",
        "new internal links, mean of 2",
        "related: internal link change rate",
        "related: new internal links",
        "related: new internal links, 1 ago",
        "related: new internal links, mean of 2",
    ]


def test_content_change_rate_is_of_content() -> None:
    """A week counts if some change in it touched words: CCR is 1/2 with one of two."""
    web = recording(21.0, [[1.0, 8.0]], d_words_added=[3, 0], d_words_removed=[0, 0])
    assert CCR.value(Crawls(web, WEEKS), 2).tolist() == [0.5]


@pytest.mark.parametrize(
    ("sets", "history", "says"), [(("SP",), 9, "0 to 8"), (("SP",), -1, "0 to 8"), (("XX",), 1, "unknown set")]
)
def test_bad_sets(sets: tuple[str, ...], history: int, says: str) -> None:
    """Unknown sets and histories that are too long are refused in one line."""
    with pytest.raises(InputError, match=says):
        features(sets, history)


def test_bad_crawls() -> None:
    """Crawls outside the recording, or one alone, are refused; so is a model without features."""
    web = linked([(0, 1.0, np.nan, True, "/a")])
    with pytest.raises(InputError, match="not within"):
        Crawls(web, np.array([0.0, 99.0]))
    with pytest.raises(InputError, match="one crawl"):
        Crawls(web, np.array([0.0]))
    with pytest.raises(InputError, match="at least one feature"):
        matrix(Crawls(web, WEEKS), [], 1)


def test_a_site_with_one_page() -> None:
    """One page alone has every feature of its own, PageRank 1 and nothing around it."""
    web = linked([(0, 1.0, np.nan, True, "/a")], pages=1)
    held = Crawls(web, WEEKS, related=related(SemanticSpace(web).first()))
    rows, names = matrix(held, features(("SP", "SN", "DP", "DN"), 1, reading=Reading(ranks="both")), 2)
    assert rows[0, names.index("PageRank")] == rows[0, names.index("TrustRank")] == 1.0
    assert np.isnan(rows[0, names.index("related: internal link change rate")])


def test_trust_starts_from_the_sites_that_are_named() -> None:
    """With all sites every home page has trust; with one named, only what its pages lead to; others are refused."""
    made = tables(21.0, [[8.0]] * 4, site=[0, 0, 1, 1], links=[(0, 0.0, 1), (2, 0.0, 3)])
    made["sites"]["repo"] = np.array(["one", "two"], dtype=object)
    web = Recording.from_arrays(made)
    assert (Crawls(web, WEEKS).trust(0) > 0).sum() == 2  # the page of highest PageRank of each site
    named = Crawls(web, WEEKS, trusted_sites=(web.site_names[1],)).trust(0)
    assert (named > 0).tolist() == [False, False, False, True]
    with pytest.raises(InputError, match="no site is called 'three'"):
        Crawls(web, WEEKS, trusted_sites=("three",)).trust(0)


# -- what could be seen -----------------------------------------------------------------------------------------------


def another_future(made: Tables, after: float) -> Tables:
    """The same web up to a day; afterwards nothing changes and other links come."""
    old, links = made["changes"], made["links"]
    past, early = old["day"] <= after, links["day_from"] <= after
    altered = made | {"changes": {name: column[past] for name, column in old.items()}}
    altered["links"] = {name: column[early] for name, column in links.items()}
    altered["links"]["day_to"] = np.where(altered["links"]["day_to"] > after, np.nan, altered["links"]["day_to"])
    return altered


def test_features_do_not_see_the_future() -> None:
    """Every feature at a crawl is the same whatever happens after it."""
    real = Recording.open(THREE_SITES)
    names = {
        "sites": ("site_id", "days", "repo"),
        "pages": ("page_id", "site_id", "path", "born_day", "died_day", "bytes", "text_bytes", "words",
                  "out_internal", "out_external", "path_depth"),
        "changes": ("page_id", "day", "bytes", "text_bytes", "words", "out_internal", "out_external"),
        "links": ("page_id", "day_from", "day_to", "internal", "target_page", "target"),
    }  # fmt: skip
    made = {table: {name: real.tables.column(table, name) for name in columns} for table, columns in names.items()}
    made["pages"] = made["pages"] | {"died_day": np.full(len(real), np.nan)}
    living = made["changes"]["day"] >= 0
    made["changes"] = {name: column[living] for name, column in made["changes"].items()}
    near = related(SemanticSpace(real, 16).first())
    chosen: list[Feature] = features(("SP", "SN", "DP", "DN"), 2)
    times = np.array([0.0, 7.0, 14.0, 21.0, 28.0])
    told, altered = (
        matrix(Crawls(Recording.from_arrays(web), times, related=near), chosen, 3)[0]
        for web in (made, another_future(made, 21.0))
    )
    assert np.array_equal(told, altered, equal_nan=True)


def test_text_quality_is_of_all_words_of_the_version() -> None:
    """From the text of each version; from the kept terms only where they are all words; else it is not known."""
    made = tables(14.0, [[5.0], [], []])
    made["texts"] = {
        "page_id": np.array([0, 0]),
        "day": np.array([0.0, 5.0]),
        "text": np.array(["one two three", "one one one one"], dtype=object),
    }
    lists = {name: np.empty(3, dtype=object) for name in ("bucket", "count")}
    for row, (bucket, count) in enumerate([([1], [1]), ([1, 2], [1, 2]), ([1, 2], [1, 2])]):
        lists["bucket"][row], lists["count"][row] = np.array(bucket), np.array(count)
    made["terms"] = {"page_id": np.arange(3), "when": np.array(["start"] * 3, dtype=object), **lists,
                     "total": np.array([3, 3, 500])}  # fmt: skip
    held = Recording.from_arrays(made)
    times = np.array([0.0, 7.0, 14.0])
    crawls = Crawls(held, times, texts=CrawledTexts(held, times, None))
    assert crawls.quality(0)[:2].tolist() == pytest.approx([1.0, np.log(3) / np.log(4)])
    assert crawls.quality(1)[0] == pytest.approx(np.log(2) / np.log(5))
    assert np.isnan(crawls.quality(0)[2])
