"""What the dashboard costs: milliseconds per page at ten million visits, a crawl's CPU beside it, and how it stops.

python -m benchmarks.dashboard [pages|stop|beside] [VISITS]
"""

from __future__ import annotations

import http.client
import multiprocessing
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from benchmarks.throughput import TOML, serve, timed, urls_of
from benchmarks.views import PAGES, VISITS, make_crawl, url_of
from support.dashboard_crawls import ordinary
from support.served_crawls import ServedCrawl, serving

ASKED = 40  # times per page
LIMIT_MS = 100.0
LOOKED_AT = ("/", "/hosts", "/pages", "/pages?sort=changed", "/pages?sort=last", "/pages?contains=section-3",
             "/pages?contains=nowhere", "/errors", "/signals", "/deliveries", "/settings", "/charts/known",
             "/charts/found", "/feed.atom", "/metrics", f"/page?url={quote(url_of(0))}")  # fmt: skip


def pages(visits: int = VISITS) -> None:
    """Time every page that reads the store, from the request to the last byte."""
    with tempfile.TemporaryDirectory() as folder:
        crawl = make_crawl(Path(folder) / "crawl", visits, PAGES)
        with serving(crawl.directory.path) as server:
            for path in LOOKED_AT:
                server.get(path)
            worst = 0.0
            for path in LOOKED_AT:
                p95 = statistics.quantiles([_ms(server, path) for _ in range(ASKED)], n=20)[-1]
                worst = max(worst, p95)
                print(f"{p95:8.1f} ms p95  {path}", flush=True)
            print(f"slowest {worst:.1f} ms at {visits:,} visits (asked: {LIMIT_MS:g})")


def _ms(server: ServedCrawl, path: str) -> float:
    began = time.perf_counter()
    told = server.get(path)
    took_ms = (time.perf_counter() - began) * 1e3
    assert told.status == 200, (path, told.body)
    return took_ms


def stop(streams: int = 20) -> None:
    """SIGTERM with open streams: seconds until the process has ended."""
    with tempfile.TemporaryDirectory() as folder:
        crawl = ordinary(Path(folder) / "crawl")
        with serving(crawl.path) as server:
            links = []
            for _ in range(streams):
                link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
                link.request("GET", "/events")
                link.getresponse().readline()
                links.append(link)
            began = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            server.process.wait(30)
            print(f"{time.monotonic() - began:.2f} s from SIGTERM to the end with {streams} open streams")
            for link in links:
                link.close()


def with_crawl(repeats: int = 12, pages: int = 4_000) -> None:
    """Pages per CPU-second of a crawl, alone and beside a dashboard with an open stream that is looked at, in pairs."""
    context = multiprocessing.get_context("spawn")
    ready, port = context.Event(), context.Value("i", 0)
    web = context.Process(target=serve, args=(pages, ready, port), daemon=True)
    web.start()
    ready.wait(60)
    urls = urls_of(pages, port.value)
    ratios: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        _crawl(urls[:200], Path(folder) / "warm", False)
        for repeat in range(repeats):
            order = (False, True) if repeat % 2 else (True, False)
            rate = {watched: _crawl(urls, Path(folder) / f"{repeat}{watched}", watched) for watched in order}
            ratios.append(rate[True] / rate[False] - 1)
            print(f"alone {rate[False]:.0f} pages/CPU-s, beside the dashboard {rate[True]:.0f}", flush=True)
    web.terminate()
    margin = 2.2 * statistics.stdev(ratios) / len(ratios) ** 0.5  # Student's t for about 12 pairs
    mean, median = statistics.fmean(ratios), statistics.median(ratios)
    print(f"beside the dashboard {mean:+.1%} +- {margin:.1%} (median {median:+.1%})")
    print("pairs:", ", ".join(f"{ratio:+.1%}" for ratio in ratios))


def _crawl(urls: list[str], folder: Path, watched: bool) -> float:
    from recrawl.live.directory import CrawlDirectory
    from recrawl.live.session import Session
    from recrawl.live.store import Store
    from recrawl.plan import Plan
    from recrawl.urls.url import host_of

    directory = CrawlDirectory.init(folder, TOML)
    store = Store.open(directory.state)
    with store.transaction():
        store.add_pages(urls, [host_of(url) for url in urls], 0.0)
    store.close()
    words = [sys.executable, "-c", _LOOKER, str(folder)]
    looker = subprocess.Popen(words, stdout=subprocess.PIPE) if watched else None
    try:
        if looker is not None and looker.stdout is not None:
            looker.stdout.readline()
        with Session(directory, "age", Plan(1.0, len(urls), warmup=0)) as session:
            visits, cpu_s, _ = timed(lambda: int(session.run_cycle()) and session.store.visits_in(1))
    finally:
        if looker is not None:
            looker.terminate()
            looker.wait(60)
    return visits / cpu_s


_LOOKER = """
import http.client, re, signal, subprocess, sys, time
words = [sys.executable, "-m", "recrawl", "serve", "-C", sys.argv[1], "--port", "0"]
server = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
signal.signal(signal.SIGTERM, lambda *_: (server.terminate(), sys.exit(0)))
port = int(re.search(r"127.0.0.1:([0-9]+)", server.stderr.readline())[1])
stream = http.client.HTTPConnection("127.0.0.1", port)
stream.request("GET", "/events")
stream.getresponse()
print("ready", flush=True)
while True:
    link = http.client.HTTPConnection("127.0.0.1", port)
    link.request("GET", "/")
    link.getresponse().read()
    link.close()
    time.sleep(2)
"""


def main() -> None:
    """Run what is asked for."""
    words = sys.argv[1:] if sys.argv[0].endswith("dashboard.py") else []
    number = [int(word.replace(",", "")) for word in words[1:]]
    for name, run in {"pages": pages, "stop": stop, "beside": with_crawl}.items():
        if not words or words[0] == name:
            print(f"-- {name}", flush=True)
            run(*number)


if __name__ == "__main__":
    main()
