"""Heritrix's crawl.log: one line per fetch, twelve fields apart by spaces."""

from __future__ import annotations

from pathlib import Path

from recrawl.importers.import_options import ImportOptions
from recrawl.importers.observations import Observations, Verdict, verdict_of
from recrawl.importers.reading import instant_of, lines_of, refuse

DUPLICATE = ("duplicate:digest", "duplicate:server-not-modified", "warcRevisit:digest", "warcRevisit:notModified")


def read_crawl_log(source: Path, seen: Observations, options: ImportOptions) -> None:
    """Read the fetches of a crawl."""
    for number, line in lines_of(source):
        fields = line.split(None, 12)
        if len(fields) < 12:
            refuse(source, number, f"{len(fields)} fields where a crawl.log has 12")
        url = fields[3]
        if not url.startswith(("http:", "https:")):
            continue  # dns: and other lines are not about pages
        try:
            at, status = instant_of(fields[0]), int(fields[1])
        except ValueError as error:
            refuse(source, number, str(error))
        digest = None if fields[9] == "-" else fields[9]
        known = set(fields[11].split(","))
        verdict = Verdict.UNCHANGED if known & set(DUPLICATE) else verdict_of(status)
        seen.add(url, at, digest, verdict)
