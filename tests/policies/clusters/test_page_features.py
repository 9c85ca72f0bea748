"""The 48 features, read off the copies alone."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.errors import InputError
from recrawl.memory import Memory
from recrawl.policies.clusters.page_features import FEATURES, PageFeatures, columns_of, lengthened, linkage_of
from recrawl.policies.clusters.urlwords import AddressWords, cluster_ranks
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld
from support.real_recordings import THREE_SITES
from support.small_recordings import tables


def small_web() -> tuple[RecordedWorld, Memory]:
    """Two pages of 10 words; page 0 has 14 words from day 1.5 on and 30 from day 2.5 on. Page 1 links to page 0."""
    made = tables(5, [[1.5, 2.5], []], links=[(1, 0.0, 0)], words=[14, 30], images=[1, 1])
    made["pages"] |= {"words": np.array([10, 10]), "images": np.array([0, 3]), "emails": np.array([0, 2])}
    made["pages"]["path"] = np.array(["/docs/a/index.html", "/b.txt"], dtype=object)
    made["pages"]["ext"] = np.array(["html", "txt"], dtype=object)
    made["sites"]["repo"] = np.array(["example.org"], dtype=object)
    made["changes"]["cosine"] = np.array([0.5, 0.8])
    world = RecordedWorld(Recording.from_arrays(made))
    return world, world.memory(cycle_days=1.0)


def described(memory: Memory, name: str) -> list[float]:
    features = PageFeatures("combined", 4)
    pages = np.arange(len(memory))
    features.learn(memory, pages)
    column = features.raw(memory, pages, linkage_of(memory))[:, FEATURES.index(name)]
    return [float(value) for value in column]


def test_there_are_48() -> None:
    """17 of content, 17 of the address, 4 of links and 10 dynamic; the sets are parts of them."""
    assert len(FEATURES) == len(set(FEATURES)) == 48
    assert len(columns_of("combined")) == 48
    assert len(columns_of("dynamic")) == 10
    assert len(columns_of("static")) == 18
    assert columns_of("url") == columns_of("content") == columns_of("url+content") == []
    with pytest.raises(InputError):
        columns_of("colour")


def test_static_features_by_hand() -> None:
    """Depth, kind, domain, counts and links of two pages."""
    _, memory = small_web()
    assert described(memory, "depth") == [2, 0]
    assert described(memory, "is HTML") == [1, 0]
    assert described(memory, "is plain text") == [0, 1]
    assert described(memory, ".org") == [1, 1]
    assert described(memory, ".com") == [0, 0]
    assert described(memory, "images") == pytest.approx([0, np.log(4)])
    assert described(memory, "e-mail addresses") == pytest.approx([0, np.log(3)])
    assert described(memory, "links to it") == pytest.approx([np.log(2), 0])
    rank = described(memory, "PageRank")
    assert rank[0] > rank[1]


def test_a_copy_is_what_was_seen_last() -> None:
    """Counts are those of the copy until a visit, whatever the page has become; then the difference is dynamic."""
    world, memory = small_web()
    assert described(memory, "words") == pytest.approx([np.log(11)] * 2)
    for day in (1.0, 2.0):
        memory.begin_cycle()
        memory.record(world.visit(np.array([0]), day))
    assert described(memory, "words") == pytest.approx([np.log(15), np.log(11)])
    assert described(memory, "change of words") == pytest.approx([np.log(5), 0])
    assert described(memory, "words changed") == pytest.approx([0.5, 0])
    assert described(memory, "change frequency") == [0.5, 0]
    memory.begin_cycle()
    memory.record(world.visit(np.array([0]), 4.0))
    assert described(memory, "words changed") == pytest.approx([0.2, 0])
    memory.begin_cycle()
    memory.record(world.visit(np.array([0]), 4.5))
    assert described(memory, "change of words") == [0, 0]


def test_several_changes_between_two_copies() -> None:
    """The similarity over two changes of cosine .5 and .8 is .4."""
    world, memory = small_web()
    memory.begin_cycle()
    memory.record(world.visit(np.array([0]), 4.0))
    assert described(memory, "words changed") == pytest.approx([0.6, 0])


def test_constant_features_are_zero() -> None:
    """A feature that is the same for all pages does not move any vector; pages without a mark share a direction."""
    made = tables(3, [[], [], []])
    made["pages"]["path"] = np.array(["/x"] * 3, dtype=object)
    memory = RecordedWorld(Recording.from_arrays(made)).memory(cycle_days=1.0)
    vectors = PageFeatures("static", 2).learn(memory, np.arange(3))
    assert not vectors[:, :-1].any()
    assert vectors[:, -1].tolist() == [1, 1, 1]
    assert lengthened(np.array([[0.0, 0.0], [0.0, 2.0]], dtype=np.float32))[:, -1].tolist() == [1, 0]


def test_ranks_of_clusters_by_hand() -> None:
    """Three centres at 0, 30 and 90 degrees: seen from the first the ranks are 0, 1, 2, from the last 2, 1, 0."""
    angle = np.radians([0.0, 30.0, 90.0])
    centres = np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)
    ranks = cluster_ranks(centres) * 2
    assert ranks[:, 0].tolist() == [0, 1, 2]
    assert ranks[:, 2].tolist() == [2, 1, 0]
    assert not ranks[:, 3:].any()


def test_words_of_addresses() -> None:
    """The same words make the same direction, others nearly none in common, and no word the zero vector."""
    addresses = ["/docs/install-guide.md", "docs/Install/guide_md", "/blog/zebra", "/"]
    words = AddressWords(addresses)
    rows = words.vectors(addresses)
    assert float(rows[0] @ rows[1]) == pytest.approx(1.0, abs=1e-5)
    assert abs(float(rows[0] @ rows[2])) < 0.6
    assert not rows[3].any()
    assert np.array_equal(words.vectors(addresses[:2]), rows[:2])
    assert not AddressWords([]).vectors(["/"]).any()
    assert AddressWords(["/"]).vectors(["/docs"]).any()


def test_real_pages_have_all_features() -> None:
    """On real pages nearly every feature varies, and vectors are finite."""
    world = RecordedWorld(Recording.open(THREE_SITES).window(0.0, 100.0))
    memory = world.memory(cycle_days=7.0)
    for day in (7.0, 14.0):
        memory.begin_cycle()
        memory.record(world.visit(np.flatnonzero(memory.eligible()), day))
    features = PageFeatures("combined", 12)
    vectors = features.learn(memory, np.flatnonzero(memory.last_cycle >= 0))
    assert np.isfinite(vectors).all()
    assert (vectors.std(axis=0) > 0).sum() >= 30
