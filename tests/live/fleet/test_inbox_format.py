"""What a worker writes of a visit is what the planner reads, links and words only where they are needed."""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from itertools import chain
from typing import Any

import numpy as np
import pytest

from recrawl.fetch.outcome import FetchResult, Kind
from recrawl.live.fleet.inbox_format import Reply, pack_reply, unpack_reply
from recrawl.live.packed_links import NOBODY, LinkLookup, PackedLinks, pack_targets, unpack_stored
from recrawl.live.store_visits import SeenLinks, VisitRecord
from recrawl.see.version_contents import Contents
from recrawl.see.words import bag_of, pack_bag
from recrawl.urls.urlindex import UrlIndex, url_hashes

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

URLS = ["https://a.example/1", "https://b.example/ü", "https://a.example/3"]
LINKS = SeenLinks(URLS, ["one", "", "two\u2003words \U0001f600"], [True, False, True])
RESULT = FetchResult(URLS[0], Kind.OK, 1.5, URLS[2], "fine", 200, attempts=2, conditional=True, elapsed_s=0.25)
RECORD = VisitRecord(
    7, 1.5, 2, 200, 12, 0.25, None, '{"etag": "x"}', "Title ü", b"d" * 16, 3, 0.0, ("w-1.warc.gz", 5, 9), LINKS,
    b"l" * 16, 1, URLS[1], Contents(3, 20, 1, 0, 0, 2, 1, bag_of("three more words")),
)  # fmt: skip


def sent(record: VisitRecord) -> VisitRecord:
    reply = unpack_reply(pack_reply(Reply("visit", RESULT, record, ("https://a.example/feed",))))
    assert reply.result == RESULT
    assert reply.feeds == ("https://a.example/feed",)
    assert reply.record is not None
    return reply.record


def columns(links: SeenLinks | PackedLinks | None) -> tuple[list[Any], ...]:
    assert links is not None
    assert (links.total, links.total_internal) == (len(links.urls), sum(links.internal))
    return list(links.urls), list(links.anchors), list(links.internal)


@pytest.mark.parametrize("links", [LINKS, SeenLinks([], [], []), SeenLinks(["https://a.example/"], [""], [False])])
def test_a_visit_comes_as_it_was_sent(links: SeenLinks) -> None:
    """Every field, links with empty words, and none at all."""
    record = sent(RECORD._replace(links=links))
    assert columns(record.links) == columns(links)
    assert record.contents is not None
    assert RECORD.contents is not None
    assert record.contents[:-1] == RECORD.contents[:-1]
    assert record.contents.bag.total == 3
    assert record.contents.bag.bucket.tolist() == RECORD.contents.bag.bucket.tolist()
    assert pack_bag(record.contents.bag) == pack_bag(RECORD.contents.bag)
    assert record._replace(links=None, contents=None) == RECORD._replace(links=None, contents=None)


def test_a_visit_without_links_or_words() -> None:
    """One that found nothing new."""
    plain = VisitRecord(7, 1.5, 0, 304, note="x")
    assert sent(plain) == plain


def test_a_visit_of_a_worker_before_format_5() -> None:
    """What is still in the inbox when a store is upgraded is read."""
    assert RECORD.contents is not None
    told = {name: value for name, value in RECORD._asdict().items() if value is not None}
    told |= {name: b64encode(told[name]).decode() for name in ("digest", "links_digest")}
    told["links"] = ["\n".join(LINKS.urls), "\n".join(LINKS.anchors), "101"]
    told["contents"] = [*RECORD.contents[:-1], b64encode(pack_bag(RECORD.contents.bag)).decode()]
    asked = {name: getattr(RESULT, name) for name in ("url", "at", "status")} | {"kind": "ok"}
    parts: dict[str, Any] = {"kind": "visit", "extra": None, "result": asked, "record": told, "feeds": []}
    reply = unpack_reply(zstd.compress(json.dumps(parts).encode()))
    assert reply.record is not None
    assert reply.record.contents is not None
    assert columns(reply.record.links) == columns(LINKS)
    assert reply.record.contents.bag.total == 3
    assert reply.record._replace(links=None, contents=None) == RECORD._replace(links=None, contents=None)


def test_pages_of_many_links_are_looked_up_at_once() -> None:
    """Known ones by their hashes; strange ones in their order, without those outside; new ones once they are made."""
    shown = [URLS, [], [URLS[2], "https://c.example/new", "https://d.example/"], ["https://c.example/new", URLS[0]]]
    records = [sent(RECORD._replace(links=SeenLinks(urls, urls, [False] * len(urls)))) for urls in shown]
    links = [record.links for record in records if isinstance(record.links, PackedLinks)]
    index, outside = UrlIndex(), UrlIndex()
    index.add(url_hashes(URLS[:2]))
    outside.add(url_hashes(["https://d.example/"]))
    lookup = LinkLookup(links, index)
    assert lookup.strange(outside) == [[URLS[2]], [], [URLS[2], "https://c.example/new"], ["https://c.example/new"]]
    index.add(url_hashes(["https://c.example/new"]))
    lookup.settle()
    pages = [each.target_pages({}) for each in links]
    assert pages == [[0, 1, NOBODY], [], [NOBODY, 2, NOBODY], [2, 0]]
    for each, numbers in zip(links, pages, strict=True):
        found = [None if page == NOBODY else page for page in numbers]
        stored = list(unpack_stored(3.0, each.packed, each.target_bytes({})))
        assert stored == [(*row, 3.0, None) for row in zip(each.urls, found, each.internal, each.anchors, strict=True)]
        assert [row[1] for row in stored] == found
        assert each.target_bytes({}) == pack_targets(numbers)
    assert np.concatenate([each.hashes for each in links]).tolist() == url_hashes(list(chain(*shown))).tolist()
