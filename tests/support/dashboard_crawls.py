"""Crawls to look at: an ordinary one, and one whose pages attack whoever shows them."""

from __future__ import annotations

from pathlib import Path

from recrawl.live.directory import CrawlDirectory
from recrawl.visits import Outcome
from support.feed_crawls import Found, deliver_to, filled

ATTACK = '"><script>alert(1)</script><img src=x onerror=alert(2)><svg/onload=alert(3)>'
EVIL_URL = "https://evil.example/%3Cscript%3Ealert(4)%3C/script%3E?q=%27%22%3E"


def page(title: str, text: str) -> bytes:
    """An HTML page."""
    return f"<html><head><title>{title}</title></head><body><main><p>{text}</p></main></body></html>".encode()


def ordinary(path: Path) -> CrawlDirectory:
    """Six cycles of three pages of two hosts: one changes each time, one never, one fails and goes."""
    news, about, old = "https://a.example/news", "https://a.example/about", "https://b.example/old"
    cycles: list[list[Found]] = [
        [
            (news, Outcome.FIRST, page("News", "It rains today and the wind blows from the west.")),
            (about, Outcome.FIRST, page("About", "We write about the weather, since 1990.")),
            (old, Outcome.FIRST, page("Old", "An old page that nobody reads any more.")),
        ]
    ]
    for day in range(5):
        text = f"Sun number {day} shines today and the wind blows from the east, says {day * 'the sailor '}."
        cycles.append(
            [
                (news, Outcome.CHANGED, page("News", text)),
                (about, Outcome.UNCHANGED, page("About", "We write about the weather, since 1990.")),
                (old, Outcome.FAILED if day < 4 else Outcome.GONE, b""),
            ]
        )
    return filled(path, cycles)


def hostile(path: Path) -> CrawlDirectory:
    """Pages whose URLs, titles and texts carry scripts, and a sink with a bad name."""
    cycles: list[list[Found]] = [
        [(EVIL_URL, Outcome.FIRST, page(ATTACK, "hello &lt;script&gt;alert(5)&lt;/script&gt; there"))],
        [(EVIL_URL, Outcome.CHANGED, page(ATTACK, "bye &lt;img src=x onerror=alert(6)&gt; there"))],
        [(EVIL_URL, Outcome.FAILED, b"")],
    ]
    directory = filled(path, cycles)
    deliver_to(directory, "name = '<script>alert(7)</script>'\nto = \"jsonl:out.jsonl\"")
    return directory
