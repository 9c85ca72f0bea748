"""Options of the history readers, as given on the command line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ImportOptions:
    """Options of the readers; most need none of them."""

    url_field: str = "url"  # feed: the item's field that holds its page
    time_field: str = "time"
    digest_fields: tuple[str, ...] = ()
    maps: tuple[str, ...] = ()  # git: files to addresses, 'docs/**/*.md=https://site/{path}/'
    trust: bool = False  # sitemap: take lastmod as a change
    hosts: tuple[str, ...] = ()  # only these hosts and their subdomains
