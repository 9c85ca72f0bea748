"""How a worker writes what it found, and the planner reads it: JSON, compressed with zstd; never code."""

from __future__ import annotations

import json
import sys
from base64 import b64decode, b64encode
from typing import Any, NamedTuple

from recrawl.fetch.outcome import FetchResult, Kind
from recrawl.live.recorder import Arrived
from recrawl.live.store_visits import SeenLinks, VisitRecord
from recrawl.see.version_contents import Contents
from recrawl.see.words import pack_bag, unpack_bag

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LEVEL = 3


class Reply(NamedTuple):
    """What became of a task: a visit, an answer, a page that was turned away, or one that must wait."""

    kind: str  # visit, away, full, released, answer, moved (to another worker's site)
    result: FetchResult | None = None
    record: VisitRecord | None = None
    feeds: tuple[str, ...] = ()
    extra: dict[str, Any] | None = None  # of robots.txt, and where a page moved


def pack_reply(reply: Reply) -> bytes:
    """Return a reply as bytes."""
    whole = reply.kind == "answer"
    parts: dict[str, Any] = {"kind": reply.kind, "extra": reply.extra}
    if reply.result is not None:
        parts["result"] = _result(reply.result, whole)
    if reply.record is not None:
        parts |= {"record": _record(reply.record), "feeds": reply.feeds}
    return bytes(zstd.compress(json.dumps(parts).encode("utf-8", "surrogatepass"), LEVEL))


def unpack_reply(packed: bytes) -> Reply:
    """Read a reply."""
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


def _result(result: FetchResult, whole: bool) -> dict[str, Any]:
    names = ("url", "at", "final_url", "reason", "status", "attempts", "conditional", "elapsed_s")
    parts = {name: getattr(result, name) for name in names} | {"kind": str(result.kind)}
    return parts | ({"headers": result.headers, "body": _text(result.body)} if whole else {})


def _read_result(parts: dict[str, Any]) -> FetchResult:
    if "body" in parts:
        parts |= {"body": b64decode(parts["body"]), "headers": tuple((name, value) for name, value in parts["headers"])}
    return FetchResult(**{**parts, "kind": Kind(parts["kind"])})


def _record(record: VisitRecord) -> dict[str, Any]:
    parts = record._asdict()
    for name in ("digest", "links_digest"):
        parts[name] = None if parts[name] is None else _text(parts[name])
    if record.contents is not None:
        *counts, bag = record.contents
        parts["contents"] = [*counts, _text(pack_bag(bag))]
    if record.links is not None:  # three texts are read several times faster than as many as there are links
        urls, anchors, internal = record.links
        parts["links"] = ["\n".join(urls), "\n".join(anchors), "".join(["01"[inside] for inside in internal])]
    return {name: value for name, value in parts.items() if value is not None}


def _read_record(parts: dict[str, Any]) -> VisitRecord:
    for name in ("digest", "links_digest"):
        if name in parts:
            parts[name] = b64decode(parts[name])
    if "links" in parts:
        parts["links"] = _read_links(*parts["links"])
    if "warc" in parts:
        parts["warc"] = tuple(parts["warc"])
    if "contents" in parts:
        *counts, bag = parts["contents"]
        parts["contents"] = Contents._make((*counts, unpack_bag(b64decode(bag))))
    return VisitRecord(**parts)


def _read_links(urls: Any, anchors: Any, internal: Any) -> SeenLinks:
    if not isinstance(internal, str):  # of a worker of an earlier version
        return SeenLinks(urls, anchors, internal)
    if not internal:
        return SeenLinks([], [], [])
    return SeenLinks(urls.split("\n"), anchors.split("\n"), [inside == "1" for inside in internal])


def _text(data: bytes) -> str:
    return b64encode(data).decode()
