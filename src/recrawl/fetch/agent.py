"""The User-Agent header: name, version, and a way to reach the operator of the crawl."""

from __future__ import annotations

import re

from recrawl import __version__

PRODUCT = "recrawl"  # the token that robots.txt groups and X-Robots-Tag name
_TOKEN = re.compile(r"[A-Za-z_-]+")


def user_agent(contact: str = "", own: str = "") -> str:
    """Return the User-Agent header: `recrawl/0.1.0 (+https://example.org/bot)`; `own` stands for name and version."""
    agent = own or f"{PRODUCT}/{__version__}"
    return f"{agent} (+{contact})" if contact else agent


def product_of(own: str) -> str:
    """Return the token by which robots.txt names us (RFC 9309): the letters that a user agent of one's own begins with.

    >>> product_of("ExampleBot/2.0 (research)"), product_of("")
    ('ExampleBot', 'recrawl')
    """
    found = _TOKEN.match(own)
    return found[0] if found else PRODUCT
