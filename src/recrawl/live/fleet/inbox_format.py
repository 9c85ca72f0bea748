"""How a worker writes what it found, and the planner reads it; never code.

A visit is a line of JSON, then what the store keeps as it comes: packed words, packed links, hashes of their addresses.
Other replies, and visits of workers before format 5 of the store, are JSON compressed with zstd.
"""

from __future__ import annotations

import json
import sys
from base64 import b64decode, b64encode
from struct import Struct
from typing import Any, NamedTuple

import numpy as np

from recrawl.fetch.outcome import FetchResult, Kind
from recrawl.live.packed_links import PackedLinks, pack_columns
from recrawl.live.recorder import Arrived
from recrawl.live.store_visits import SeenLinks, VisitRecord
from recrawl.see.version_contents import Contents
from recrawl.see.words import PackedBag, pack_bag
from recrawl.urls.urlindex import NO_HASHES, HashedUrls

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LEVEL = 3
_VISIT = 1  # the first byte of a visit; a frame of zstd begins with another
_HEAD = Struct("<BIII")  # which this is, and the bytes of the JSON, the words and the links
_hashed = HashedUrls()


class Reply(NamedTuple):
    """What became of a task: a visit, an answer, a page that was turned away, or one that must wait."""

    kind: str  # visit, away, full, released, answer, moved (to another worker's site)
    result: FetchResult | None = None
    record: VisitRecord | None = None
    feeds: tuple[str, ...] = ()
    extra: dict[str, Any] | None = None  # of robots.txt, and where a page moved


def pack_reply(reply: Reply) -> bytes:
    """Return a reply as bytes."""
    if reply.kind == "visit" and reply.record is not None and reply.extra is None:
        return _visit(reply, reply.record)
    parts: dict[str, Any] = {"kind": reply.kind, "extra": reply.extra}
    if reply.result is not None:
        parts["result"] = _result(reply.result, reply.kind == "answer")
    return bytes(zstd.compress(json.dumps(parts).encode(), LEVEL))


def unpack_reply(packed: bytes) -> Reply:
    """Read a reply."""
    if packed[0] == _VISIT:
        return _read_visit(packed)
    parts = json.loads(zstd.decompress(packed))
    result, record = parts.get("result"), parts.get("record")
    return Reply(
        parts["kind"],
        None if result is None else _read_result(result),
        None if record is None else _read_record(record),
        tuple(parts.get("feeds", ())),
        parts["extra"],
    )


def visit_reply(arrived: Arrived, record: VisitRecord) -> Reply:
    """Return the reply of a visit; `record` says where its body is."""
    return Reply("visit", arrived.result, record, arrived.feeds)


_DIGEST, _LINKS_DIGEST, _WARC, _LINKS, _CONTENTS, _KEPT = map(
    VisitRecord._fields.index, ("digest", "links_digest", "warc", "links", "contents", "kept")
)
_ASKED = ("url", "kind", "at", "final_url", "reason", "status", "attempts", "conditional", "elapsed_s")
_KINDS = {str(kind): kind for kind in Kind}


def _visit(reply: Reply, record: VisitRecord) -> bytes:
    told: list[Any] = list(record)
    told[_DIGEST], told[_LINKS_DIGEST] = (each and each.hex() for each in (record.digest, record.links_digest))
    told[_KEPT] = None
    bag, links, hashes = b"", b"", b""
    if record.contents is not None:
        *told[_CONTENTS], words = record.contents
        bag = pack_bag(words)
    if (shown := record.links) is not None:
        told[_LINKS] = (shown.total, shown.total_internal)
        links, hashes = pack_columns(shown.urls, shown.anchors, shown.internal), _hashed.of(shown.urls)
    result = None if reply.result is None else [getattr(reply.result, name) for name in _ASKED]
    text = json.dumps([told, result, reply.feeds]).encode()
    return b"".join((_HEAD.pack(_VISIT, len(text), len(bag), len(links)), text, bag, links, hashes))


def _read_visit(packed: bytes) -> Reply:
    _, text_bytes, bag_bytes, links_bytes = _HEAD.unpack_from(packed)
    bag_at = _HEAD.size + text_bytes
    links_at = bag_at + bag_bytes
    hashes_at = links_at + links_bytes
    told, result, feeds = json.loads(packed[_HEAD.size : bag_at])
    for digest in (_DIGEST, _LINKS_DIGEST):
        if told[digest]:
            told[digest] = bytes.fromhex(told[digest])
    if told[_WARC] is not None:
        told[_WARC] = tuple(told[_WARC])
    if told[_CONTENTS] is not None:
        told[_CONTENTS] = Contents._make((*told[_CONTENTS], PackedBag(packed[bag_at:links_at])))
    if told[_LINKS] is not None:
        total, inside = told[_LINKS]
        hashes = np.frombuffer(packed, dtype="<u8", offset=hashes_at, count=total) if total else NO_HASHES
        told[_LINKS] = PackedLinks(packed[links_at:hashes_at], total, inside, hashes)
    return Reply("visit", result and _read_asked(*result), VisitRecord._make(told), tuple(feeds))


def _read_asked(
    url: str,
    kind: str,
    at: float,
    final_url: str,
    reason: str,
    status: int,
    attempts: int,
    conditional: bool,
    elapsed_s: float,
) -> FetchResult:
    return FetchResult(
        url,
        _KINDS[kind],
        at,
        final_url,
        reason,
        status,
        attempts=attempts,
        conditional=conditional,
        elapsed_s=elapsed_s,
    )


def _result(result: FetchResult, whole: bool) -> dict[str, Any]:
    parts = {name: getattr(result, name) for name in _ASKED}
    return parts | ({"headers": result.headers, "body": b64encode(result.body).decode()} if whole else {})


def _read_result(parts: dict[str, Any]) -> FetchResult:
    if "body" in parts:
        parts |= {"body": b64decode(parts["body"]), "headers": tuple((name, value) for name, value in parts["headers"])}
    return FetchResult(**{**parts, "kind": Kind(parts["kind"])})


def _read_record(parts: dict[str, Any]) -> VisitRecord:
    """Read a visit of a worker of before."""
    for name in ("digest", "links_digest"):
        if name in parts:
            parts[name] = b64decode(parts[name])
    if "links" in parts:
        parts["links"] = _read_links(*parts["links"])
    if "warc" in parts:
        parts["warc"] = tuple(parts["warc"])
    if "contents" in parts:
        *counts, bag = parts["contents"]
        parts["contents"] = Contents._make((*counts, PackedBag(b64decode(bag))))
    return VisitRecord(**parts)


def _read_links(urls: Any, anchors: Any, internal: Any) -> SeenLinks:
    if not isinstance(internal, str):  # of a still earlier version
        return SeenLinks(urls, anchors, internal)
    if not internal:
        return SeenLinks([], [], [])
    return SeenLinks(urls.split("\n"), anchors.split("\n"), [inside == "1" for inside in internal])
