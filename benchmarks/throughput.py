"""Pages a CPU-second of the client: fetch, parse and record by recrawl, beside Scrapy with its LinkExtractor.

A plain server in a process of its own serves pages of 20 KB with 70 links (30 of navigation, 20 in the text, 20 to
other sites) on virtual hosts of 30 pages each, kept-alive. Both clients crawl the same pages from it in the
same run, without delays, one after the other; CPU time is the client's alone, user and system.

| step | recrawl | Scrapy | Scrapy, recording |
|---|---|---|---|
| links with anchors, title, text, digest | yes | yes | yes |
| robots.txt, address guard, a gate for each host, byte caps | yes | no | no |
| main text, digest, soft errors, directives, traps | yes | no | no |
| bodies as gzipped WARC | yes | no | yes (fastwarc) |
| visits and links in SQLite, WAL and full sync | yes | no | yes, 200 pages a transaction |
| uniqueness of every link's target | yes | no | no (requests are not filtered) |

python -m benchmarks.throughput [PAGES]
"""

from __future__ import annotations

import asyncio
import hashlib
import multiprocessing
import random
import resource
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from recrawl.live.directory import CrawlDirectory

PAGES, EACH, REPEATS = 3_000, 30, 3  # EACH: pages of a host
TIMES = 4  # crawls of recrawl for one of Scrapy's, so that both are timed for long enough
GROUP = 200  # pages a transaction of Scrapy's pipeline
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
TOML = """
[fetch]
allow_networks = ["127.0.0.0/8"]
connect_to = [["*.replay", "127.0.0.1"], ["*.test", "127.0.0.1"]]
[fetch.gate]
min_delay_s = 0.0
latency_factor = 0.0
"""


def make_page(host: int, number: int) -> bytes:
    """Write a page of about 20 KB: navigation, an article with links to pages of its host, a footer."""
    draw = random.Random(host * 1_000_003 + number)

    def words(count: int) -> str:
        return " ".join(draw.choices(WORDS, k=count))

    navigation = "".join(f'<li><a class="nav" href="/section/p{i % EACH}.html">{words(2)}</a></li>' for i in range(30))
    article = "".join(
        f'<h2>{words(5)}</h2><p>{words(70)} <a href="p{draw.randrange(EACH)}.html">{words(3)}</a>, {words(50)}.</p>'
        for _ in range(20)
    )
    footer = "".join(f'<a href="https://site{draw.randrange(500)}.example/">{words(1)}</a> ' for _ in range(20))
    return (
        f'<!doctype html><html><head><meta charset="utf-8"><title>{words(5)} {number}</title><link rel="canonical"'
        f' href="/section/p{number}.html"><script>var page = {number};</script></head><body><nav><ul>{navigation}</ul>'
        f"</nav><main><article><h1>{words(6)}</h1>{article}</article></main><aside class=ad-slot>{words(20)}</aside>"
        f"<footer>{footer}</footer></body></html>"
    ).encode()


class _Pages(asyncio.Protocol):
    """The plainest server there can be."""

    answers: ClassVar[dict[tuple[bytes, bytes], bytes]] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        path = data.split(b" ", 2)[1]
        host = data.lower().partition(b"\r\nhost: ")[2].partition(b"\r\n")[0].partition(b":")[0]
        missing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        self.transport.write(self.answers.get((host, path), missing))


def serve(pages: int, ready: Any, port: Any) -> None:
    """Serve the web until the process is ended; all pages are made before."""
    for host in range(pages // EACH):
        for number in range(EACH):
            body = make_page(host, number)
            head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nServer: plain\r\n"
            _Pages.answers[f"h{host}.test".encode(), f"/section/p{number}.html".encode()] = (
                head + b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
            )

    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(_Pages, "127.0.0.1", 0, backlog=1_000)
        port.value = server.sockets[0].getsockname()[1]
        ready.set()
        await server.serve_forever()

    asyncio.run(run())


def urls_of(pages: int, port: int) -> list[str]:
    return [
        f"http://h{host}.test:{port}/section/p{number}.html" for number in range(EACH) for host in range(pages // EACH)
    ]


def timed(work: Callable[[], int]) -> tuple[int, float, float]:
    """Return how many pages, CPU-seconds and seconds."""
    before, began = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    done = work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - began


def ours(urls: list[str], port: int, out: Any) -> None:
    """Crawl every page once: a first visit each, with everything that a crawl records."""
    _recrawl(urls, out, again=False)


def ours_again(urls: list[str], port: int, out: Any) -> None:
    """Crawl every page a second time; the host has no validators, and each answer is the same to the byte.

    So it is fetched, compared and recorded, not read again. A page that differs in anything is read as the first time.
    """
    _recrawl(urls, out, again=True)


def _recrawl(urls: list[str], out: Any, *, again: bool) -> None:
    from recrawl.live.session import Session
    from recrawl.live.store import Store
    from recrawl.plan import Plan
    from recrawl.urls.url import host_of

    def crawl(urls: list[str], folder: Path) -> tuple[int, float, float]:
        directory = CrawlDirectory.init(folder, TOML)
        store = Store.open(directory.state)
        with store.transaction():
            store.add_pages(urls, [host_of(url) for url in urls], 0.0)
        store.close()
        with Session(directory, "age", Plan(1.0, len(urls), warmup=0)) as session:
            measured = timed(lambda: int(session.run_cycle()) and session.store.visits_in(session.memory.cycle))
            if again:
                session.settings = Plan(1e-9, len(urls), warmup=0)
                measured = timed(lambda: int(session.run_cycle()) and session.store.visits_in(session.memory.cycle))
            kinds = session.store.db.execute("select outcome, count(*) from visits group by 1").fetchall()
            links = session.store.db.execute("select sum(count) from first_links").fetchone()[0]
        known = len(session.store.index)
        assert known > len(urls) or dict(kinds) == ({0: known, 2: known} if again else {2: known}), kinds
        assert links >= 40 * len(urls), links
        return measured

    with tempfile.TemporaryDirectory() as folder:
        crawl(urls[:200], Path(folder) / "warm")  # kernels are loaded, not measured
        out.put(crawl(urls, Path(folder) / "crawl"))


class Recorder:
    """What a Scrapy pipeline that keeps pages would do: gzipped WARC, and SQLite as safe as ours."""

    def open_spider(self) -> None:
        from fastwarc.warc import WarcRecord, WarcRecordType

        self.folder = tempfile.TemporaryDirectory()
        self.file = (Path(self.folder.name) / "pages.warc.gz").open("wb")
        self.record, self.kind = WarcRecord, WarcRecordType.response
        self.db = sqlite3.connect(Path(self.folder.name) / "pages.sqlite", isolation_level=None)
        self.db.executescript(
            "pragma journal_mode = wal; pragma synchronous = full;"
            "create table pages (url text primary key, at real, title text, digest blob, offset integer);"
            "create table links (page text, target text, anchor text, primary key (page, target)) without rowid; begin"
        )
        self.count = 0

    def process_item(self, item: Any) -> Any:
        record = self.record()
        record.init_headers(self.kind)
        record.headers["WARC-Target-URI"] = item["url"]
        record.set_bytes_content(b"HTTP/1.1 200 OK\r\n\r\n" + item["body"])
        offset = self.file.tell()
        self._gzip(record)
        self.db.execute(
            "insert into pages values (?, ?, ?, ?, ?)",
            (item["url"], time.time(), item["title"], item["digest"], offset),
        )
        self.db.executemany(
            "insert or ignore into links values (?, ?, ?)", [(item["url"], url, text) for url, text in item["links"]]
        )
        self.count += 1
        if self.count % GROUP == 0:
            self.db.execute("commit")
            self.db.execute("begin")
        return item

    def _gzip(self, record: Any) -> None:
        import gzip
        import io

        plain = io.BytesIO()
        record.write(plain, checksum_data=True)
        self.file.write(gzip.compress(plain.getvalue(), 2))

    def close_spider(self) -> None:
        self.db.execute("commit")
        self.file.close()
        self.folder.cleanup()


def theirs(urls: list[str], port: int, out: Any) -> None:
    """Crawl every page once with Scrapy: links by LinkExtractor, title, text and a digest of it."""
    _scrapy(urls, port, out, {})


def theirs_recording(urls: list[str], port: int, out: Any) -> None:
    """The same, and keep what was found."""
    _scrapy(urls, port, out, {"ITEM_PIPELINES": {"benchmarks.throughput.Recorder": 1}})


def _scrapy(urls: list[str], port: int, out: Any, more: dict[str, Any]) -> None:
    import scrapy
    from scrapy.crawler import CrawlerProcess
    from scrapy.linkextractors import LinkExtractor

    extract = LinkExtractor()
    keeps = bool(more)

    class Spider(scrapy.Spider):
        name = "bench"
        seen = 0

        async def start(self) -> Any:
            for url in urls:
                host, path = url.removeprefix("http://").split("/", 1)
                here = f"http://127.0.0.1:{port}/{path}"
                yield scrapy.Request(here, headers={"Host": host}, dont_filter=True, cb_kwargs={"url": url})

        def parse(self, response: Any, url: str) -> Any:
            links = extract.extract_links(response)
            text = " ".join(response.css("main ::text").getall())
            Spider.seen += 1
            assert len(links) >= 40, len(links)
            yield {
                "url": url,
                "title": response.css("title::text").get(),
                "text": text,
                "digest": hashlib.blake2b(text.encode(), digest_size=16).digest(),
                "links": [(link.url, link.text) for link in links],
                "body": response.body if keeps else b"",
            }

    def crawl() -> int:
        process = CrawlerProcess(
            {"LOG_ENABLED": False, "ROBOTSTXT_OBEY": False, "CONCURRENT_REQUESTS": 64, "TELNETCONSOLE_ENABLED": False}
            | {"CONCURRENT_REQUESTS_PER_DOMAIN": 64, "COOKIES_ENABLED": False, "DOWNLOAD_DELAY": 0}
            | more
        )
        process.crawl(Spider)
        process.start()
        return Spider.seen

    out.put(timed(crawl))


CLIENTS = {"recrawl": ours, "recrawl, again": ours_again, "scrapy": theirs, "scrapy, recording": theirs_recording}


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    pages = numbers[0] if numbers else PAGES
    repeats = numbers[1] if len(numbers) > 1 else REPEATS
    names = [word for word in sys.argv[1:] if word in CLIENTS] or list(CLIENTS)
    context = multiprocessing.get_context("spawn")
    ready, port, out = context.Event(), context.Value("i", 0), context.Queue()
    server = context.Process(target=serve, args=(pages, ready, port), daemon=True)
    server.start()
    ready.wait(120)
    urls = urls_of(pages, port.value)
    rates: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(repeats):
        for name in names:
            done, cpu_s, wall_s = 0, 0.0, 0.0
            for _ in range(TIMES if name.startswith("recrawl") else 1):
                client = context.Process(target=CLIENTS[name], args=(urls, port.value, out))
                client.start()
                fetched, *spent = out.get(timeout=600)
                client.join()
                assert fetched == len(urls), f"{name}: {fetched} of {len(urls)} pages"
                done, cpu_s, wall_s = done + fetched, cpu_s + spent[0], wall_s + spent[1]
            rates[name].append(done / cpu_s)
            print(
                f"{name:18} {done:,} pages: {done / cpu_s:6,.0f} a CPU-second ({cpu_s:.1f} s CPU, {wall_s:.1f} s)",
                flush=True,
            )
    for one in (name for name in names if name.startswith("recrawl")):
        for other in (name for name in names if name.startswith("scrapy")):
            ratios = sorted(a / b for a, b in zip(rates[one], rates[other], strict=True))
            print(f"{one} / {other}: {statistics.median(ratios):.1f}x ({ratios[0]:.1f} to {ratios[-1]:.1f})")
    server.terminate()


if __name__ == "__main__":
    main()
