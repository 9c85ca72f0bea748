"""Send closed WARC files to object storage, each with its index, and delete them here once that is on record.

A file is closed by size or time; then, in this order, its size and digest are recorded, it is created there with its
CDXJ beside it, that is recorded, and only then it is deleted here. Killed at any step, the next call goes on: a file
that is there already must be the same. While the storage cannot be reached, files stay here and the crawl goes on.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from fastwarc.warc import ArchiveIterator, WarcRecord

from recrawl.errors import StoreError
from recrawl.live.bodies import Bodies
from recrawl.live.remote_bodies import BodiesSettings, RemoteBodies
from recrawl.live.store import Store
from recrawl.urls.url import split

log = logging.getLogger(__name__)

CLOSED, UPLOADED = "closed", "uploaded"
HASHED_AT_ONCE = 1 << 20


def open_bodies(bodies: Bodies, store: Store, settings: BodiesSettings) -> None:
    """Continue the folder's newest file; what was uploaded need not be here any more."""
    if settings.to:
        RemoteBodies(settings).check()
        store.make_segment_table()
        bodies.max_bytes, bodies.max_s = settings.segment_bytes, settings.segment_s
    away = {name for name, (_, _, state) in store.segments().items() if state == UPLOADED}
    ends = store.body_ends()
    bodies.open({name: end for name, end in ends.items() if name not in away}, after=(*ends, *away))


def send(bodies: Bodies, store: Store, settings: BodiesSettings) -> int:
    """Send the closed files; return how many are away now that were here.

    Storage that cannot be reached or refuses is a line in the log: the files stay, and the next call tries again.
    """
    if not settings.to:
        return 0
    bodies.close_when_due()
    closed = [path for path in sorted(bodies.folder.glob("*.warc.gz")) if path.name != bodies.writing_to]
    sent = send_files(closed, store, settings)
    here = {path.name for path in bodies.folder.glob("*.warc.gz")}
    lost = [name for name, (_, _, state) in store.segments().items() if state == CLOSED and name not in here]
    with store.transaction():
        for name in lost:  # rewritten by a prune before it was sent
            store.forget_segment(name)
    return sent


def send_files(paths: list[Path], store: Store, settings: BodiesSettings) -> int:
    """Send these files, each deleted here once that it is there is on record; return how many were sent."""
    sent = 0
    try:
        remote = RemoteBodies(settings)
        for path in paths:
            with suppress(FileNotFoundError):  # another process of this worker's name has sent it meanwhile
                if path.stat().st_size:
                    _send(path, store, remote)
                    sent += 1
                path.unlink()
    except StoreError as error:
        log.warning("bodies stay in %s: %s", paths[0].parent if paths else "their folder", error)
    return sent


def _send(path: Path, store: Store, remote: RemoteBodies) -> None:
    size, digest = path.stat().st_size, _sha256(path)
    known = store.segments().get(path.name)
    if known is None or known[:2] != (size, digest):
        with store.transaction():
            store.set_segment(path.name, size, digest, CLOSED)
    remote.create(path.name, path, digest)
    index = "".join(cdxj_of(path)).encode()
    name = f"{path.name.removesuffix('.warc.gz')}.cdxj"
    remote.create(name, index, hashlib.sha256(index).hexdigest())
    with store.transaction():
        store.set_segment(path.name, size, digest, UPLOADED)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(HASHED_AT_ONCE):
            digest.update(part)
    return digest.hexdigest()


def cdxj_of(path: Path) -> Iterator[str]:
    """Yield the lines of a WARC file's CDXJ index, sorted: key (SURT), time, JSON; pywb and ReplayWeb.page read it."""
    found = []
    with path.open("rb") as file:
        records = [(record.stream_pos, *_fields(record)) for record in ArchiveIterator(file, parse_http=True)]
    ends = [record[0] for record in records[1:]] + [path.stat().st_size]
    for (offset, url, date, about), end in zip(records, ends, strict=True):
        about |= {"length": str(end - offset), "offset": str(offset), "filename": path.name}
        found.append(f"{surt_of(url)} {re.sub('[^0-9]', '', date)[:14]} {json.dumps(about)}\n")
    yield from sorted(found)


def _fields(record: WarcRecord) -> tuple[str, str, dict[str, Any]]:
    url, http = record.headers["WARC-Target-URI"], record.http_headers
    mime = (record.http_content_type or "unk") if http is not None else "unk"
    about = {
        "url": url,
        "mime": mime,
        "status": "" if http is None else str(http.status_code),
        "digest": record.headers.get("WARC-Payload-Digest", ""),
    }
    return url, record.headers["WARC-Date"], about


def surt_of(href: str) -> str:
    """Return the sort-friendly form of a normalised URL: com,example)/path?query, in lower case.

    >>> surt_of("https://www.Example.org/a?b=1")
    'org,example,www)/a?b=1'
    """
    url = split(href)
    host = ",".join(reversed(url.host.split("."))) if not url.host.startswith("[") else url.host
    port = f":{url.port}" if url.port not in (80, 443) else ""
    return f"{host}{port}){url.path}{'?' + url.query if url.query else ''}".lower()
