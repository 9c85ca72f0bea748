"""Histories of other crawlers as their own tools write them, from one list of visits."""

from __future__ import annotations

import base64
import hashlib
import io
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter


class PastVisit(NamedTuple):
    """A visit: `version` is what stood there, None for 404, -1 for a failure."""

    url: str
    at: int  # seconds since 1970
    version: int | None


def status_of(visit: PastVisit) -> int:
    return 404 if visit.version is None else 503 if visit.version < 0 else 200


def body_of(visit: PastVisit) -> bytes:
    return f"<html><body><p>{visit.url} says version{visit.version} and little else today".encode()


def digest_of(visit: PastVisit) -> str:
    return base64.b32encode(hashlib.sha1(body_of(visit)).digest()).decode()


def iso(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def digits(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y%m%d%H%M%S")


def csv_lines(visits: Sequence[PastVisit]) -> bytes:
    lines = ["url,time,digest,status"]
    lines += [f'"{v.url}",{iso(v.at)},{digest_of(v)},{status_of(v)}' for v in visits]
    return "\n".join(lines).encode()


def cdx(visits: Sequence[PastVisit]) -> bytes:
    lines = [" CDX N b a m s k r M S V g"]
    for v in visits:
        lines.append(f"key {digits(v.at)} {v.url} text/html {status_of(v)} {digest_of(v)} - - 99 0 a.warc.gz")
    return "\n".join(lines).encode()


def cdxj(visits: Sequence[PastVisit]) -> bytes:
    lines = ["!OpenWayback-CDXJ 1.0"]
    for v in visits:
        row = {"url": v.url, "mime": "text/html", "status": f"{status_of(v)}", "digest": digest_of(v)}
        lines.append(f"org,example)/ {digits(v.at)} {json.dumps(row)}")
    return "\n".join(lines).encode()


def wayback(visits: Sequence[PastVisit]) -> bytes:
    rows = [["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"]]
    rows += [["k", digits(v.at), v.url, "text/html", f"{status_of(v)}", digest_of(v), "9"] for v in visits]
    return ("[" + ",\n".join(json.dumps(row) for row in rows) + "]").encode()


def crawl_log(visits: Sequence[PastVisit]) -> bytes:
    lines = []
    for v in visits:
        when = iso(v.at).replace("Z", ".000Z")
        end = f"text/html #012 {digits(v.at)}000+12 sha1:{digest_of(v)} - -"
        lines.append(f"{when}   {status_of(v)}  99 {v.url} L https://example.org/ {end}")
    return "\n".join(lines).encode()


def warc(visits: Sequence[PastVisit]) -> bytes:
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=True)
    for v in visits:
        headers = StatusAndHeaders(f"{status_of(v)} X", [("Content-Type", "text/html")], protocol="HTTP/1.1")
        dated = {"WARC-Date": iso(v.at)}
        record = writer.create_warc_record(
            v.url, "response", io.BytesIO(body_of(v)), http_headers=headers, warc_headers_dict=dated
        )
        writer.write_record(record)
    return out.getvalue()


def nutch(visits: Sequence[PastVisit]) -> bytes:
    names = {200: "db_fetched", 404: "db_gone", 503: "db_unfetched"}
    lines = []
    for v in visits:
        due = datetime.fromtimestamp(v.at + 3600, UTC).strftime("%a %b %d %H:%M:%S UTC %Y")
        row = {"url": v.url, "statusName": names[status_of(v)], "fetchTime": due, "retryIntervalSeconds": 3600}
        lines.append(json.dumps({**row, "signature": digest_of(v)}))
    return "\n".join(lines).encode()


def items(visits: Sequence[PastVisit]) -> bytes:
    alive = [v for v in visits if v.version is not None and v.version >= 0]
    return "\n".join(json.dumps({"url": v.url, "time": iso(v.at), "title": v.version}) for v in alive).encode()


WRITERS: dict[str, Callable[[Sequence[PastVisit]], bytes]] = {
    "csv": csv_lines,
    "cdx": cdx,
    "cdxj": cdxj,
    "wayback": wayback,
    "crawllog": crawl_log,
    "warc": warc,
    "nutch": nutch,
}


def statuses(visits: Sequence[PastVisit]) -> bytes:
    """StormCrawler's status index."""
    lines = []
    for v in visits:
        metadata = {
            "signature": [digest_of(v)],
            "lastProcessedDate": [iso(v.at)],
            "fetch.statusCode": [f"{status_of(v)}"],
        }
        lines.append(json.dumps({"url": v.url, "status": "FETCHED", "metadata": metadata}))
    return "\n".join(lines).encode()


def frontier(visits: Sequence[PastVisit]) -> bytes:
    """A dump of URLFrontier."""
    lines = []
    for v in visits:
        values = {"signature": digest_of(v), "lastProcessedDate": iso(v.at), "fetch.statusCode": f"{status_of(v)}"}
        metadata = {name: {"values": [value]} for name, value in values.items()}
        lines.append(json.dumps({"known": {"info": {"url": v.url, "metadata": metadata}}}))
    return "\n".join(lines).encode()


LINE_WRITERS = {kind: write for kind, write in WRITERS.items() if kind != "warc"} | {
    "feed": items,
    "stormcrawler": statuses,
    "urlfrontier": frontier,
}


def written(kind: str, visits: Sequence[PastVisit], folder: Path) -> Path:
    """Write a history as this kind has it."""
    path = folder / f"history.{'warc.gz' if kind == 'warc' else kind}"
    path.write_bytes(WRITERS[kind](visits))
    return path
