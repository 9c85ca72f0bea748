"""Dated copies of sitemaps, with the changes that a site announces itself.

`lastmod` is a claim. It is taken for a change only with --trust; else a sitemap tells which pages were there.
"""

from __future__ import annotations

import re
from pathlib import Path

from recrawl.errors import InputError
from recrawl.importers.import_options import ImportOptions
from recrawl.importers.observations import Observations
from recrawl.importers.reading import instant_of, opened
from recrawl.see.feeds import MAX_FEED_BYTES, read_feed

DAY_S = 86_400.0
_DATE = re.compile(r"(20\d\d)-?(\d\d)-?(\d\d)")


def read_sitemaps(source: Path, seen: Observations, options: ImportOptions) -> None:
    """Read every copy of a folder, or one file."""
    paths = sorted(p for p in source.rglob("*") if p.is_file()) if source.is_dir() else [source]
    for path in paths:
        _read(path, seen, options.trust)


def _read(path: Path, seen: Observations, trust: bool) -> None:
    date = _DATE.search(path.name)
    if date is None:
        raise InputError(f"{path}: no date in its name, such as sitemap-2026-11-16.xml")
    try:
        at = instant_of("-".join(date.groups()))
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
    with opened(path) as file:
        feed = read_feed(file.read(MAX_FEED_BYTES), "https://sitemap.invalid/")
    if feed.kind != "sitemap":
        raise InputError(f"{path}: not a sitemap with pages (it is {feed.kind})")
    for entry in feed.entries:
        claimed = None if entry.changed_at is None else entry.changed_at * DAY_S
        digest = f"{claimed}" if trust and claimed is not None else "listed"
        seen.add(entry.url, at, digest)
