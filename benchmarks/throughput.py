"""Pages a CPU-second of the client: fetch, parse and record by recrawl, beside Scrapy with its LinkExtractor.

The replay server runs in a process of its own; both clients crawl the same pages from it in the same run, without
delays. recrawl records visits, versions, links and bodies; Scrapy extracts title, text and links and keeps nothing.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from recrawl.remember.recording import Recording
from recrawl.run.directory import CrawlDirectory

PAGES = 2_000
TOML = """
[fetch]
allow_networks = ["127.0.0.0/8"]
connect_to = [["*.replay", "127.0.0.1"]]
[fetch.gate]
min_delay_s = 0.0
latency_factor = 0.0
"""


def make_web(pages: int) -> Recording:
    from recrawl.simulate.synthetic import synthesize

    return synthesize("mixed", pages, 30, 1, only=("links",)).fixed()


def serve(pages: int, ready: Any, port: Any, stop: Any) -> None:
    """Serve the web; pages are rendered once, so that the server does not hold up the clients."""
    from functools import lru_cache

    from recrawl.simulate import render
    from recrawl.simulate.render import Rendering
    from recrawl.simulate.replay import ReplayServer, Validators

    render.WORDS_PER_PARAGRAPH = 400  # pages of about 20 KB
    rendering = Rendering(make_web(pages))
    rendering.html = lru_cache(maxsize=None)(rendering.html)  # type: ignore[method-assign]
    with ReplayServer(rendering, lambda: 1.0, validators=Validators.ABSENT) as server:
        for page in range(len(rendering.recording)):
            rendering.html(page, 1.0, server.port)
        port.value = server.port
        ready.set()
        stop.wait()


def urls_of(pages: int, port: int) -> list[str]:
    from recrawl.see.url import normalise
    from recrawl.simulate.render import Rendering

    rendering = Rendering(make_web(pages))
    return [normalise(rendering.url(page, port)) or "" for page in range(len(rendering.recording))]


def timed(work: Callable[[], int]) -> tuple[int, float, float]:
    """Return how many pages, CPU-seconds and seconds."""
    before, began = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    done = work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - began


def ours(urls: list[str], out: Any) -> None:
    from recrawl.remember.store import Store
    from recrawl.run.session import Order, Session
    from recrawl.see.url import host_of

    def crawl(urls: list[str], folder: Path) -> tuple[int, float, float]:
        directory = CrawlDirectory.init(folder, TOML)
        store = Store.open(directory.state)
        with store.transaction():
            store.add_pages(urls, [host_of(url) for url in urls], 0.0)
        store.close()
        with Session(directory, Order("age", 1.0, len(urls))) as session:
            measured = timed(lambda: int(session.run_cycle()) and len(session.world._rows))
            kinds = session.store.db.execute("select outcome, count(*) from visits group by 1").fetchall()
        assert dict(kinds) == {2: len(urls)}, kinds
        return measured

    with tempfile.TemporaryDirectory() as folder:
        crawl(urls[:50], Path(folder) / "warm")  # kernels are loaded, not measured
        out.put(crawl(urls, Path(folder) / "crawl"))


def theirs(urls: list[str], port: int, out: Any) -> None:
    import scrapy
    from scrapy.crawler import CrawlerProcess
    from scrapy.linkextractors import LinkExtractor

    extract = LinkExtractor()

    class Spider(scrapy.Spider):
        name = "bench"
        seen = 0

        async def start(self) -> Any:
            for url in urls:
                host, path = url.removeprefix("http://").split("/", 1)
                yield scrapy.Request(f"http://127.0.0.1:{port}/{path}", headers={"Host": host}, dont_filter=True)

        def parse(self, response: Any) -> Any:
            links = extract.extract_links(response)
            Spider.seen += 1
            yield {
                "url": response.url,
                "title": response.css("title::text").get(),
                "text": " ".join(response.css("main ::text").getall()),
                "links": [(link.url, link.text) for link in links],
            }

    def crawl() -> int:
        process = CrawlerProcess(
            {"LOG_LEVEL": "ERROR", "ROBOTSTXT_OBEY": False, "CONCURRENT_REQUESTS": 64, "TELNETCONSOLE_ENABLED": False}
            | {"CONCURRENT_REQUESTS_PER_DOMAIN": 64, "COOKIES_ENABLED": False, "DOWNLOAD_DELAY": 0}
        )
        process.crawl(Spider)
        process.start()
        return Spider.seen

    out.put(timed(crawl))


def main() -> None:
    pages = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else PAGES
    context = multiprocessing.get_context("spawn")
    ready, port, stop, out = context.Event(), context.Value("i", 0), context.Event(), context.Queue()
    server = context.Process(target=serve, args=(pages, ready, port, stop), daemon=True)
    server.start()
    ready.wait(120)
    urls = urls_of(pages, port.value)
    rates = {}
    for name, work, args in (("recrawl", ours, (urls, out)), ("scrapy", theirs, (urls, port.value, out))):
        client = context.Process(target=work, args=args)
        client.start()
        done, cpu_s, wall_s = out.get(timeout=600)
        client.join()
        rates[name] = done / cpu_s
        print(
            f"{name:8} {done:,} pages: {done / cpu_s:,.0f} a CPU-second ({cpu_s:.1f} s CPU, {wall_s:.1f} s)", flush=True
        )
    print(f"recrawl / scrapy: {rates['recrawl'] / rates['scrapy']:.1f}x")
    stop.set()
    server.join(10)


if __name__ == "__main__":
    main()
