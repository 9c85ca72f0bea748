"""Every kind of history that can be adopted: its reader, what it looks like, and what it can tell.

A reader takes a source (a path) and adds what it finds to `Observations`. To add a kind, write a module with such a
function and name it here; it is imported when it is used.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from recrawl.errors import InputError
from recrawl.importers.import_options import ImportOptions
from recrawl.importers.observations import Observations

Reader = Callable[[Path, Observations, ImportOptions], None]


@dataclass(frozen=True)
class ImportKind:
    """A kind of history."""

    name: str
    reader: str  # module.function, in this package
    looks: str  # what a source of this kind is
    tells: str  # what its data can and cannot tell

    def load(self) -> Reader:
        """Import the reader."""
        module, _, function = self.reader.partition(".")
        reader: Reader = getattr(import_module(f"recrawl.importers.{module}"), function)
        return reader


_ALL = (
    ImportKind(
        "csv",
        "csv_history.read_csv",
        "header url,time and digest or status (and words); time ISO 8601 or seconds since 1970; .gz and .zst",
        "visits; without digests only deaths are known",
    ),
    ImportKind(
        "cdx",
        "cdx.read_cdx",
        "lines under a header such as ' CDX N b a m s k r M S V g'",
        "visits with the digests of whole answers; revisits are unchanged visits",
    ),
    ImportKind(
        "cdxj",
        "cdx.read_cdxj",
        "lines `surt timestamp {json}`, as pywb and Common Crawl write them",
        "visits with the digests of whole answers; truncated answers have digests of what was kept",
    ),
    ImportKind(
        "wayback",
        "cdx.read_wayback",
        "the answer of a Wayback CDX server, as text or JSON; ask for it without collapse=digest",
        "visits with the digests of whole answers; with collapse=digest the unchanged visits are missing",
    ),
    ImportKind(
        "ccparquet",
        "common_crawl.read_columnar_index",
        "files or folders of Common Crawl's columnar index (url, fetch_time, fetch_status, content_digest)",
        "about one visit a month; digests of whole answers; --site keeps registered domains",
    ),
    ImportKind(
        "warc",
        "warc_files.read_warc",
        "a .warc or .warc.gz file",
        "visits, texts and links; changes by our own fingerprint, which ignores clocks and counters",
    ),
    ImportKind(
        "wacz",
        "warc_files.read_wacz",
        "a .wacz package: a ZIP with archive/*.warc.gz",
        "as warc",
    ),
    ImportKind(
        "nutch",
        "nutch.read_dump",
        "`nutch readdb crawldb -dump DIR -format json` (or csv), one source per dump",
        "one visit per URL and dump: changes between dumps by signature",
    ),
    ImportKind(
        "crawllog",
        "heritrix.read_crawl_log",
        "crawl.log: time, status, bytes, URL, path, referrer, MIME, thread, fetch time, digest, source, annotations",
        "visits with the digests of whole answers; `duplicate` annotations are unchanged visits",
    ),
    ImportKind(
        "httpcache",
        "scrapy_files.read_cache",
        "a folder such as .scrapy/httpcache/SPIDER with meta, response_headers and response_body per page",
        "the last visit of each URL; several copies of the folder are a history",
    ),
    ImportKind(
        "feed",
        "scrapy_files.read_items",
        "JSON lines of items; --url-field, --time-field and --digest-fields name their fields",
        "visits; the digest is that of the named fields (all but URL and time unless given)",
    ),
    ImportKind(
        "stormcrawler",
        "storm.read_status",
        "documents of the status index as JSON lines: {url, status, metadata, nextFetchDate}, or their _source",
        "the last visit and last change of each URL, where metadata.persist keeps signature and lastProcessedDate",
    ),
    ImportKind(
        "urlfrontier",
        "storm.read_frontier",
        "a dump of URL items as JSON lines: {known|discovered: {info: {url, metadata}}}",
        "as stormcrawler: visits where the metadata hold signature and lastProcessedDate",
    ),
    ImportKind(
        "sitemap",
        "dated_sitemaps.read_sitemaps",
        "sitemap files whose names hold their date (sitemap-2026-11-16.xml), or a folder of them",
        "which pages there were; with --trust also lastmod as the time of a change",
    ),
    ImportKind(
        "git",
        "git_history.read_repository",
        "a repository, with --map 'docs/**/*.md=https://site/{path}/'",
        "every change at its exact time, with texts and links: a whole recording",
    ),
)
KINDS = {kind.name: kind for kind in _ALL}


def read_history(name: str, sources: Sequence[Path], options: ImportOptions | None = None) -> Observations:
    """Read all sources of one kind."""
    if name not in KINDS:
        near = difflib.get_close_matches(name, KINDS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(KINDS)}"
        raise InputError(f"unknown kind of history {name!r}{hint}")
    read, seen = KINDS[name].load(), Observations()
    for source in sources:
        read(source, seen, options or ImportOptions())
    return seen
