"""What Scrapy leaves behind: its HTTP cache on disk, and feeds of items as JSON lines."""

from __future__ import annotations

import ast
import json
from hashlib import sha1
from pathlib import Path
from typing import Any

from recrawl.errors import InputError
from recrawl.importers.import_options import ImportOptions
from recrawl.importers.observations import Observations, verdict_of
from recrawl.importers.reading import instant_of, lines_of, refuse
from recrawl.see.page import see_page
from recrawl.urls.url import normalise

MAX_META_BYTES = 100_000


def read_cache(source: Path, seen: Observations, options: ImportOptions) -> None:
    """Read the cached answers. The pickled files are never opened."""
    folders = sorted(meta.parent for meta in source.rglob("meta"))
    if not folders:
        raise InputError(f"{source}: no `meta` files below it: not Scrapy's HTTP cache")
    for folder in folders:
        try:
            meta = ast.literal_eval((folder / "meta").read_bytes()[:MAX_META_BYTES].decode())
            url, at, status = str(meta["url"]), float(meta["timestamp"]), int(meta["status"])
            body = (folder / "response_body").read_bytes()
        except (OSError, ValueError, SyntaxError, KeyError, TypeError, RecursionError, MemoryError) as error:
            raise InputError(f"{folder}: cannot be read ({str(error).splitlines()[0]})") from None
        href = normalise(url)
        if href is not None:
            page = see_page(body, href, _headers(folder / "response_headers"))
            seen.add(url, at, page.digest.hex(), verdict_of(status), page.words)


def _headers(path: Path) -> list[tuple[str, str]]:
    try:
        lines = path.read_text("latin-1").splitlines()
    except OSError:
        return []
    return [(n.strip().lower(), v.strip()) for n, colon, v in (line.partition(":") for line in lines) if colon]


def read_items(source: Path, seen: Observations, options: ImportOptions) -> None:
    """Read one visit per item."""
    for number, line in lines_of(source):
        try:
            item = json.loads(line)
        except (ValueError, RecursionError) as error:
            refuse(source, number, f"not JSON: {error}")
        if not isinstance(item, dict) or options.url_field not in item or options.time_field not in item:
            refuse(source, number, f"not an item with {options.url_field!r} and {options.time_field!r}")
        try:
            at = instant_of(str(item[options.time_field]))
        except ValueError as error:
            refuse(source, number, str(error))
        seen.add(str(item[options.url_field]), at, _digest(item, options))


def _digest(item: dict[str, Any], options: ImportOptions) -> str:
    left_out = {options.url_field, options.time_field}
    names = options.digest_fields or tuple(sorted(set(item) - left_out))
    return sha1(json.dumps([item.get(name) for name in names], sort_keys=True).encode()).hexdigest()
