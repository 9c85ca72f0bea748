"""The User-Agent header: name, version, and a way to reach the operator of the crawl."""

from __future__ import annotations

from recrawl import __version__

PRODUCT = "recrawl"  # the token that robots.txt groups and X-Robots-Tag name


def user_agent(contact: str = "") -> str:
    """Return the User-Agent header: `recrawl/0.1.0 (+https://example.org/bot)`."""
    agent = f"{PRODUCT}/{__version__}"
    return f"{agent} (+{contact})" if contact else agent
