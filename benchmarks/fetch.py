"""Fetching and seeing: pages a CPU-second of the client, over loopback, and URLs normalised a second.

A server in its own process serves 20 KB pages (about 70 links, 2,000 words) on 40 virtual hosts, kept-alive. The
crawler's own fetcher asks for them with all its checks on (guard, robots.txt, gate, caps) and no delay. CPU time is
the client's alone. Peers are measured in the same run by the same figure: add a function to PEERS.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from typing import ClassVar, TypeVar

from recrawl.fetch.fetcher import Fetcher
from recrawl.fetch.outcome import Kind
from recrawl.fetch.settings import FetchSettings, GateSettings
from recrawl.see.markup.html import read_html
from recrawl.see.page import see_page
from recrawl.urls.url import Base, normalise

T = TypeVar("T")
PAGES, HOSTS, AT_ONCE, SEED = 4_000, 40, 40, 1
WORDS = (
    "web",
    "page",
    "crawl",
    "change",
    "freshness",
    "budget",
    "policy",
    "link",
    "text",
    "content",
    "rhythm",
    "visit",
)


def make_page(number: int) -> bytes:
    """Write a page of about 20 KB: navigation, an article with links, a footer."""
    draw = random.Random(SEED * 1_000_003 + number)

    def words(count: int) -> str:
        return " ".join(draw.choices(WORDS, k=count))

    navigation = "".join(f'<li><a class="nav" href="/section/{i}.html">{words(2)}</a></li>' for i in range(30))
    article = "".join(
        f'<h2>{words(5)}</h2><p>{words(70)} <a href="../p{draw.randrange(9_999)}.html?x={i}">{words(3)}</a>'
        f" {words(50)}</p>"
        for i in range(20)
    )
    footer = "".join(f'<a rel="nofollow" href="https://site{i}.example/">{words(1)}</a> ' for i in range(20))
    return (
        f'<!doctype html><html><head><meta charset="utf-8"><title>{words(5)} {number}</title><link rel="canonical"'
        f' href="/p{number}.html"><script>var page = {number};</script></head><body><nav><ul>{navigation}</ul></nav>'
        f'<main><article><h1>{words(6)}</h1>{article}</article></main><aside class="ad-slot">{words(20)}</aside>'
        f"<footer>{footer}</footer></body></html>"
    ).encode()


class _Pages(asyncio.Protocol):
    """The plainest server there can be: any path but robots.txt is one of a hundred pages."""

    answers: ClassVar[list[bytes]] = [
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n%s" % (len(page), page)
        for page in map(make_page, range(100))
    ]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        path = data.split(b" ", 2)[1]
        if path == b"/robots.txt":
            self.transport.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        else:
            self.transport.write(self.answers[hash(path) % len(self.answers)])


def _serve(pipe: Connection) -> None:
    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(_Pages, "127.0.0.1", 0, backlog=1_000)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


async def _crawl(port: int, see: bool) -> int:
    """Fetch all pages, a few hosts at once; return the links seen."""
    settings = FetchSettings(
        allow_networks=("127.0.0.0/8",),
        connect_to=(("*.test", "127.0.0.1"),),
        gate=GateSettings(min_delay_s=0.0, latency_factor=0.0),
    )
    links = 0
    async with Fetcher(settings) as fetcher:

        async def host(name: int) -> None:
            nonlocal links
            for number in range(PAGES // HOSTS):
                result = await fetcher.fetch(f"http://h{name}.test:{port}/folder/p{number}.html")
                assert result.kind is Kind.OK, result.reason
                if see:
                    links += len(see_page(result.body, result.final_url, result.headers).links)

        for first in range(0, HOSTS, AT_ONCE):
            await asyncio.gather(*(host(name) for name in range(first, min(first + AT_ONCE, HOSTS))))
    return links


def fetch_only(port: int) -> None:
    """Fetch, with every check of the fetcher."""
    asyncio.run(_crawl(port, see=False))


def fetch_and_see(port: int) -> None:
    """Fetch, parse, links, title, all text, main text, digest, directives, soft errors."""
    assert asyncio.run(_crawl(port, see=True)) > 0


PEERS: dict[str, Callable[[int], None]] = {"recrawl: fetch": fetch_only, "recrawl: fetch + see": fetch_and_see}


def _cpu_s(work: Callable[[], object], repeats: int = 3) -> float:
    """The least CPU time of a few runs: other work on the machine can only add to it."""
    least = float("inf")
    for _ in range(repeats):
        began = time.process_time()
        work()
        least = min(least, time.process_time() - began)
    return least


def _each(work: Callable[[T], object], items: list[T]) -> None:
    for item in items:
        work(item)


def main() -> None:
    """Print pages a CPU-second for fetching, seeing and both, and URLs a second."""
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(there,), daemon=True)
    server.start()
    port = here.recv()
    try:
        body = make_page(0)
        see_page(body, "http://a.example/", (("content-type", "text/html"),))  # compile the kernels
        print(f"page of {len(body)} bytes")
        for name, crawl in PEERS.items():
            print(f"{name:24} {PAGES / _cpu_s(partial(crawl, port), 2):8.0f} pages/CPU-s")
    finally:
        server.terminate()
    pages = [make_page(number) for number in range(200)]
    texts = [page.decode() for page in pages]
    address = "http://a.example/folder/page.html"
    seeing = _cpu_s(lambda: _each(lambda page: see_page(page, address, (("content-type", "text/html"),)), pages))
    print(f"{'see_page':24} {len(pages) / seeing:8.0f} pages/CPU-s")
    parsing = _cpu_s(lambda: _each(lambda text: read_html(text, address), texts))
    print(f"{'parse + links':24} {len(pages) / parsing:8.0f} pages/CPU-s")
    urls = [f"http://www.site{i % 5_000}.example/a/b/../c{i}/index.html?q={i}&r=ab#top" for i in range(200_000)]
    _report_urls("normalise absolute URLs", urls, None)
    _report_urls("normalise relative URLs", [f"../c{i}/index.html?q={i}" for i in range(200_000)], Base(address))


def _report_urls(name: str, urls: list[str], base: Base | None) -> None:
    print(f"{name:24} {len(urls) / _cpu_s(lambda: [normalise(url, base) for url in urls]):8.0f} URLs/s")


if __name__ == "__main__":
    main()
