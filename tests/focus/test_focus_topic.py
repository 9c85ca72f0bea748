"""Webs, words and topics: what a focused crawl reads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from recrawl.errors import InputError
from recrawl.focus.crawl_graph import UNREACHED, check_seeds, make_graph
from recrawl.focus.mission import Mission, check_room, link_similarity
from recrawl.focus.resolve import Addresses, normal
from recrawl.focus.strategy import BEST_FIRST
from recrawl.focus.topic import find_examples, learn_topic, train
from recrawl.focus.topical_web import TOKENS, synthetic_web
from recrawl.focus.web import CountedBags, TopicalWeb, address_words, count_words, open_web, web_of, words_and_bigrams
from recrawl.recording.recording import Recording
from recrawl.see.words import BUCKETS, bucket_of
from support.real_recordings import THREE_SITES


@pytest.fixture(scope="module")
def made_up() -> TopicalWeb:
    return synthetic_web(4000, 3)


@pytest.fixture(scope="module")
def recorded() -> TopicalWeb:
    return open_web(str(THREE_SITES))


# -- graphs ------------------------------------------------------------------------------------------------------------


def urls(count: int) -> np.ndarray:
    return np.array([f"h/{i}" for i in range(count)], dtype=object)


def test_a_graph_holds_each_link_once() -> None:
    """Repeated links and links of a page to itself are dropped; targets are in order."""
    graph = make_graph(np.array([1, 0, 0, 2, 0]), np.array([0, 2, 1, 2, 1]), np.zeros(3, dtype=np.int32), urls(3))
    assert (graph.source.tolist(), graph.out.tolist()) == ([0, 0, 1], [1, 2, 0])
    assert graph.start.tolist() == [0, 2, 3, 3]


def test_distances_are_shortest_paths() -> None:
    """The distance is the least number of links from any seed; what no seed reaches is UNREACHED."""
    graph = make_graph(np.array([0, 1, 2, 5]), np.array([1, 2, 3, 3]), np.zeros(6, dtype=np.int32), urls(6))
    assert graph.distances(np.array([0, 5])).tolist() == [0, 1, 2, 1, UNREACHED, 0]


def test_seeds_outside_the_graph_are_refused() -> None:
    """Seeds that are not in the graph, and no seeds at all, are errors of one line that name the seed."""
    graph = make_graph(np.array([0]), np.array([1]), np.zeros(2, dtype=np.int32), urls(2))
    with pytest.raises(InputError, match="seed page 7"):
        check_seeds(graph, np.array([0, 7]))
    with pytest.raises(InputError, match="at least one seed"):
        check_seeds(graph, np.array([], dtype=np.int64))
    with pytest.raises(InputError, match="'h/9' in the link graph"):
        graph.pages_of(["h/0", "h/9"])
    assert check_seeds(graph, np.array([1, 0, 1])).tolist() == [0, 1]


def test_seeds_without_links_give_a_short_crawl(made_up: TopicalWeb) -> None:
    """From seeds that lead nowhere a crawl downloads the seeds and ends; there is nothing to evolve."""
    pages = len(made_up)
    lonely = make_graph(np.array([0]), np.array([1]), made_up.graph.host, made_up.graph.urls)
    web = TopicalWeb("lonely", lonely, made_up.bags, made_up.addresses, None, made_up.labels)
    mission = Mission.learn(web, "label:popular")
    start = mission.start(np.arange(pages - 5, pages))
    crawl = mission.fleet.crawl(BEST_FIRST, start.seeds, 100, 0)
    assert sorted(crawl.pages.tolist()) == start.seeds.tolist()
    with pytest.raises(InputError, match="nothing to rank"):
        check_room(start)


# -- addresses ---------------------------------------------------------------------------------------------------------

SITES = ["mdn/content", "dotnet/docs", "other/site"]
PATHS = np.array(
    [
        "files/en-us/web/api/node/childnodes/index.md",
        "files/en-us/web/css/position/index.md",
        "files/en-us/web/api/position/index.md",
        "docs/core/intro.md",
        "www.example.org/page.html",
    ],
    dtype=object,
)


@pytest.mark.parametrize(
    ("source", "target", "page"),
    [
        (3, "developer.mozilla.org/en-US/docs/Web/API/Node/childNodes", 0),
        (0, "learn.microsoft.com/en-us/dotnet/core/intro?view=net-8", 3),
        (3, "/dotnet/core/intro", 3),
        (1, "macro:domxref/Node.childNodes", 0),
        (0, "macro:cssxref/position", 1),
        (1, "macro:domxref/position", 2),
        (1, "macro:domxref/missing", -1),
        (0, "www.example.org/page.html", 4),
        (0, "www.example.org/other.html", -1),
    ],
)
def test_links_are_found_by_public_address(source: int, target: str, page: int) -> None:
    """A link means the page that is published under its address, or that its template names, on whatever site."""
    addresses = Addresses(np.array([0, 0, 0, 1, 2]), PATHS, SITES)
    assert addresses.find(np.array([source]), [target]) == [page]


def test_addresses_have_one_form() -> None:
    """Case, extension, index names, queries and fragments do not matter."""
    assert normal("Example.org/A/index.html?x=1#y") == normal("example.org/a/") == "example.org/a"


# -- words -------------------------------------------------------------------------------------------------------------


def test_words_share_the_buckets_of_recordings() -> None:
    """A word's bucket is its CRC-32 modulo 2**18, so that keywords and addresses meet the terms of a recording."""
    from zlib import crc32

    assert bucket_of("pod") == crc32(b"pod") % 2**18
    assert address_words("Site/createTable_v2.md") == ["site", "create", "table", "v2", "md"]
    assert words_and_bigrams("The Pod, the node") == ["the", "pod", "the", "node", "the pod", "pod the", "the node"]
    counts = count_words([["a", "b", "a"], []])
    assert counts.shape == (2, BUCKETS)
    assert counts[0, bucket_of("a")] == 2
    assert counts[1].nnz == 0


def small_web() -> dict[str, dict[str, Any]]:
    """Three pages in a row; two have texts."""
    return {
        "sites": {"site_id": np.array([0]), "repo": np.array(["s"], dtype=object), "days": np.array([10.0])},
        "pages": {
            "page_id": np.arange(3),
            "site_id": np.zeros(3, dtype=np.int64),
            "path": np.array(["a", "b", "c"], dtype=object),
            "born_day": np.zeros(3),
            "died_day": np.full(3, np.nan),
        },
        "changes": {"page_id": np.array([0]), "day": np.array([5.0])},
        "links": {
            "page_id": np.array([0, 1]),
            "day_from": np.zeros(2),
            "day_to": np.array([np.nan, np.nan]),
            "target": np.array([None, None], dtype=object),
            "internal": np.ones(2, dtype=np.bool_),
            "target_page": np.array([1, 2]),
        },
        "texts": {
            "page_id": np.array([0, 0, 1]),
            "day": np.array([0.0, 5.0, 0.0]),
            "text": np.array(["old words", "new words here", "other"], dtype=object),
        },
    }


def test_texts_serve_where_there_are_no_terms() -> None:
    """A recording with texts but no terms is judged by words and bi-grams of each page's last text."""
    tables = small_web()
    web = web_of(Recording.from_arrays(tables))
    rows = web.bags.rows(np.arange(3))
    assert rows[0, bucket_of("new")] == rows[0, bucket_of("new words")] == 1
    assert rows[0, bucket_of("old")] == 0
    assert rows[2].nnz == 0
    assert web.graph.links == 2
    assert find_examples(web, "words:New,words")[0].tolist() == [0]
    assert find_examples(web, "words:other")[0].tolist() == [1]
    with pytest.raises(InputError, match="no page holds any of these words"):
        find_examples(web, "words:old")


def test_bigrams_are_read_where_there_are_texts() -> None:
    """Texts come before terms where nearly all pages have one; a page without one keeps its terms; words on request."""
    tables = small_web()
    pod = bucket_of("pod")
    tables["terms"] = {
        "page_id": np.array([0, 1, 2]),
        "when": np.array(["start"] * 3, dtype=object),
        "bucket": np.array([[pod], [pod], [pod], None], dtype=object)[:3],
        "count": np.array([[2], [2], [2], None], dtype=object)[:3],
        "total": np.array([2, 2, 2]),
    }
    recording = Recording.from_arrays(tables)
    for features, first, last in (("auto", 0, 2), ("words", 0, 2), ("bigrams", 1, 2)):
        rows = web_of(recording, features=features).bags.rows(np.arange(3))
        assert rows[0, bucket_of("new words")] == first, features  # two of three pages have a text: not nearly all
        assert rows[0, pod] == 2 - 2 * first
        assert rows[2, pod] == last
    del tables["texts"]
    with pytest.raises(InputError, match="no texts: bi-grams"):
        web_of(Recording.from_arrays(tables), features="bigrams")


# -- topics ------------------------------------------------------------------------------------------------------------


def test_the_classifier_learns_a_topic(made_up: TopicalWeb) -> None:
    """Accepted pages are about the topic, and the report's numbers against the label are what they say."""
    topic = learn_topic(made_up, "label:popular", 0)
    label = made_up.labels["popular"]
    quality = topic.quality
    assert quality.auc > 0.97
    assert quality.label_precision == (topic.good & label).sum() / topic.good.sum() > 0.95
    assert quality.label_recall == (topic.good & label).sum() / label.sum()
    assert quality.relevant == topic.good.sum()
    assert set(topic.examples) <= set(np.flatnonzero(label))
    assert len(topic.examples) == 139
    again = learn_topic(made_up, "label:popular", 0)
    assert (again.svm == topic.svm).all()


def test_the_classifier_may_read_the_words_of_the_examples_only(made_up: TopicalWeb) -> None:
    """With that vocabulary a word that no example has weighs nothing, and the topic is still found."""
    topic = learn_topic(made_up, "label:popular", 0, vocabulary="examples")
    absent = np.bincount(made_up.bags.rows(topic.examples).indices, minlength=len(topic.idf)) == 0
    assert absent.any()
    assert not topic.idf[absent].any()
    assert topic.idf[~absent].any()
    assert topic.quality.auc > 0.97
    with pytest.raises(InputError, match="one of all, examples"):
        learn_topic(made_up, "label:popular", 0, vocabulary="some")


def test_links_of_the_topic_look_similar(made_up: TopicalWeb) -> None:
    """Links to relevant pages have words nearer to the topic than other links, between 0 and 1."""
    topic = learn_topic(made_up, "label:popular", 0)
    similar = link_similarity(made_up, topic)
    assert similar.min() >= 0
    assert similar.max() <= 1
    good = made_up.labels["popular"][made_up.graph.out]
    assert similar[good].mean() > 3 * similar[~good].mean()


def test_example_pages_make_a_topic(made_up: TopicalWeb) -> None:
    """A few example addresses are enough to learn from; with a single one nothing can be held out to test."""
    addresses = made_up.graph.urls[np.flatnonzero(made_up.labels["popular"])[:12]]
    topic = learn_topic(made_up, "urls:" + ",".join(addresses), 0)
    assert topic.svm[made_up.labels["popular"]].mean() > topic.svm[~made_up.labels["popular"]].mean()
    alone = learn_topic(made_up, "urls:" + addresses[0], 0)
    assert alone.quality.folds == 0
    assert alone.quality.to_json()["f1"] is None


def test_addresses_come_from_a_file(made_up: TopicalWeb, tmp_path: Path) -> None:
    """urls:@FILE reads one address a line."""
    file = tmp_path / "urls.txt"
    file.write_text("\n".join(made_up.graph.urls[:3]) + "\n\n")
    assert find_examples(made_up, f"urls:@{file}")[0].tolist() == [0, 1, 2]
    file.write_text("\n")
    with pytest.raises(InputError, match="contains no address"):
        find_examples(made_up, f"urls:@{file}")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("label:nothing", "its topics: popular, common, sparse"),
        ("dir:no/such", "is empty"),
        ("urls:no.example/1", "in the link graph"),
        ("urls:@/no/such/file", "cannot read"),
        ("words:,;", "contains no word"),
        ("popular", "must be dir:"),
        ("dir:", "must be dir:"),
        ("colour:red", "unknown kind of topic 'colour'"),
    ],
)
def test_bad_topics_are_refused_in_one_line(made_up: TopicalWeb, spec: str, message: str) -> None:
    """A topic that names nothing is an error that says so."""
    with pytest.raises(InputError, match=message) as wrong:
        learn_topic(made_up, spec)
    assert "\n" not in str(wrong.value)


def test_one_class_is_not_enough(made_up: TopicalWeb) -> None:
    """Training data of one class, a topic that covers everything, and pages without words are refused."""
    none, some = np.empty(0, dtype=np.int64), np.arange(5)
    with pytest.raises(InputError, match="no irrelevant"):
        train(made_up, "x", some, none, None, 0)
    with pytest.raises(InputError, match="no relevant"):
        train(made_up, "x", none, some, None, 0)
    everything = {"all": np.ones(len(made_up), dtype=np.bool_)}
    web = TopicalWeb("w", made_up.graph, made_up.bags, made_up.addresses, None, everything)
    with pytest.raises(InputError, match="covers all pages"):
        learn_topic(web, "label:all")
    wordless = CountedBags(csr_matrix((len(made_up), BUCKETS), dtype=np.float32))
    blank = TopicalWeb("w", made_up.graph, wordless, made_up.addresses, None, made_up.labels)
    with pytest.raises(InputError, match="have no words"):
        learn_topic(blank, "label:popular")


def test_a_topic_without_pages_is_refused(made_up: TopicalWeb) -> None:
    """A classifier that accepts no page at all leaves nothing to crawl for: one line, from any seeds."""
    topic = learn_topic(made_up, "label:popular", 0)
    mission = Mission(made_up, replace(topic, svm=np.full(len(made_up), -1.0)))
    with pytest.raises(InputError, match="accepts no page"):
        mission.examples()
    with pytest.raises(InputError, match="accepts no page"):
        mission.draw(5, 0)


def test_keywords_find_pages_of_a_recording(recorded: TopicalWeb) -> None:
    """Keywords are looked up in a recording's hashed terms: the pages about them are the examples."""
    examples, label = find_examples(recorded, "words:react,component,props")
    assert label is None
    ours = [str(url).startswith("reactjs/react.dev") for url in recorded.graph.urls[examples]]
    assert np.mean(ours) > 0.9
    with pytest.raises(InputError, match="is empty"):
        find_examples(recorded, "words:zyzzyvas")
    topic = learn_topic(recorded, "dir:reactjs/react.dev/src/content/learn", 0)
    assert topic.quality.f1 > 0.6


def test_a_recording_becomes_a_graph(recorded: TopicalWeb) -> None:
    """The pages that live at the end are the nodes; their recorded links are there, and more found by address."""
    recording = Recording.open(THREE_SITES)
    alive = recording.keep((recording.born <= recording.end) & (recording.died > recording.end))
    assert len(recorded) == len(alive)
    links = alive.links
    there = links.at(alive.end) & (links.target_page >= 0) & (links.target_page != links.page)
    known = np.unique(links.page[there] * len(alive) + links.target_page[there])
    ours = recorded.graph.source.astype(np.int64) * len(alive) + recorded.graph.out
    assert np.isin(known, ours).all()


# -- synthetic webs ----------------------------------------------------------------------------------------------------


def test_a_synthetic_web_is_reproducible() -> None:
    """Same seed, same web; another seed, another web; too small a web is refused."""
    a, b, c = (synthetic_web(2000, seed) for seed in (5, 5, 6))
    assert (a.graph.out == b.graph.out).all()
    assert (a.bags.rows(np.arange(50)) != b.bags.rows(np.arange(50))).nnz == 0
    assert a.graph.links != c.graph.links
    with pytest.raises(InputError, match="at least 2,000"):
        synthetic_web(100)


def test_a_synthetic_web_has_topical_locality_tunnels_and_hubs(made_up: TopicalWeb) -> None:
    """Pages link to their own topic far more than chance; the sparse one less so; all is in reach; hubs exist."""
    graph = made_up.graph
    for name, least in (("popular", 3.0), ("sparse", 3.0)):
        label = made_up.labels[name]
        assert label[graph.out][label[graph.source]].mean() > least * label.mean()
    popular, sparse = (
        made_up.labels[n][graph.out][made_up.labels[n][graph.source]].mean() for n in ("popular", "sparse")
    )
    assert popular > sparse
    reach = graph.distances(np.flatnonzero(made_up.labels["popular"])[:20]) != UNREACHED
    assert reach.mean() > 0.99
    assert np.diff(graph.start).max() > 80
    assert 15 < graph.links / len(graph) < 25
    assert made_up.bags.rows(np.arange(10)).sum() == 10 * (2 * TOKENS - 1)
