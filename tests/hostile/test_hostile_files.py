"""Feeds, sitemaps and robots.txt of strangers: reading never raises, and takes time in proportion to the file."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pytest

from hostile.test_hostile_reading import FEED, mutate
from recrawl.clock import SystemClock
from recrawl.fetch.outcome import FetchResult
from recrawl.fetch.robots import Robots, RobotsRecord
from recrawl.fetch.settings import FetchSettings
from recrawl.see.feeds import read_feed

URL = "http://a.example/sitemap.xml"
SITEMAP = b"""<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url>
<loc>http://a.example/1?a=1&amp;b=2</loc><lastmod>2026-11-16T10:00:00+01:00</lastmod><priority>.5</priority></url></urlset>"""
ROBOTS = b"""User-agent: *\nDisallow: /private*.html$\nAllow: /private/open\nCrawl-delay: 2\n
User-agent: recrawl\nDisallow: /%7Eshut/\nSitemap: http://a.example/sitemap.xml\n"""


async def _never(url: str) -> FetchResult:
    raise AssertionError(f"{url} is not asked for")


def read_robots(body: bytes) -> None:
    """Take a robots.txt in, as a crawl does that is opened again."""
    text = body.decode("utf-8-sig", "replace").replace("\0", "")
    robots = Robots(SystemClock(), FetchSettings(), _never)
    robots.restore([RobotsRecord("http://a.example", "rules", 0.0, 0.0, text)])


@pytest.mark.parametrize("seed", range(40))
def test_mutated_files_are_read(seed: int) -> None:
    """Feeds, sitemaps and robots.txt that were cut, doubled, swapped and overwritten are read without an error."""
    draw = random.Random(seed)
    for body in (FEED, SITEMAP, ROBOTS):
        for _ in range(5):
            changed = mutate(body, draw)
            read_feed(changed, URL)
            read_robots(changed)


FILES: dict[str, tuple[Callable[[bytes], object], bytes, bytes, bytes]] = {
    "sitemap": (lambda body: read_feed(body, URL), b"<urlset>", b"<url><loc>http://a.example/x</loc></url>", b""),
    "feed": (lambda body: read_feed(body, URL), b"<rss><channel>", b"<item><link>/x</link></item>", b""),
    "nested feed": (lambda body: read_feed(body, URL), b"<rss>", b"<item>", b""),
    "attributes": (lambda body: read_feed(body, URL), b"<rss ", b"a='b' ", b">"),
    "lines": (lambda body: read_feed(body, URL), b"", b"http://a.example/x\n", b""),
    "rules": (read_robots, b"User-agent: *\n", b"Disallow: /a*b*c$\n", b""),
    "agents": (read_robots, b"", b"User-agent: x\n", b"Disallow: /"),
    "one rule": (read_robots, b"User-agent: *\nDisallow: /", b"*a", b""),
    "delays": (read_robots, b"User-agent: *\n", b"Crawl-delay: 9\n", b""),
}


@pytest.mark.parametrize("name", FILES)
def test_time_doubles_with_the_file(name: str) -> None:
    """Twice the bytes take less than three times the CPU time (the least of three runs), or next to nothing."""
    read, head, unit, tail = FILES[name]
    bodies = [head + unit * (size // len(unit)) + tail for size in (100_000, 200_000)]
    read(bodies[0])
    small, large = (min(_timed(read, body) for _ in range(3)) for body in bodies)
    assert large < max(3.0 * small, 0.02), f"{small * 1e3:.1f} ms, then {large * 1e3:.1f} ms"


def _timed(read: Callable[[bytes], object], body: bytes) -> float:
    began = time.process_time()
    read(body)
    return time.process_time() - began
