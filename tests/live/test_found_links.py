"""Links that are packed where they were found: the same links, and pages that are made of them later."""

from __future__ import annotations

from recrawl.live.met_urls import MetUrls
from recrawl.live.packed_links import NOBODY, FoundLinks, pack_targets, unpack_stored
from recrawl.live.store_visits import SeenLinks

URLS = ["http://a.test/", "http://b.test/", "http://a.test/new", "http://a.test/much"]
SEEN = SeenLinks(URLS, ["Home", "", "New", "Too much"], [True, False, True, True])


def met(urls: list[str], pages: list[int]) -> MetUrls:
    known = MetUrls()
    known.add(urls, pages)
    return known


def test_pages_that_are_made_later_are_the_targets_of_links_found_before() -> None:
    """What was known when a link was found stays; the others are asked for, and looked up when they are stored."""
    links = FoundLinks(SEEN, met(URLS[:2], [7, NOBODY]))
    assert links.strange == [(2, URLS[2]), (3, URLS[3])]
    assert (links.total, links.total_internal) == (SEEN.total, SEEN.total_internal)
    later = {URLS[2]: 8}
    assert links.target_pages(later) == [7, NOBODY, 8, NOBODY]
    assert links.target_bytes(later) == pack_targets([7, NOBODY, 8, NOBODY])


def test_links_found_are_stored_as_they_were_seen() -> None:
    """Their addresses, words and hosts, also where all of them are known or there are none."""
    links = FoundLinks(SEEN, met(URLS, [1] * 4))
    assert links.strange == []
    stored = list(unpack_stored(2.0, links.packed, links.target_bytes({})))
    assert stored == [(url, 1, same, words, 2.0, None) for url, words, same in zip(*SEEN, strict=True)]
    assert list(zip(links.urls, links.anchors, links.internal, strict=True)) == list(zip(*SEEN, strict=True))
    none = FoundLinks(SeenLinks([], [], []), MetUrls())
    assert list(unpack_stored(2.0, none.packed, none.target_bytes({}))) == []
