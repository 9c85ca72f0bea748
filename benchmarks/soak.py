"""A crawl of 100,000 pages of the replay server: does memory stay flat? python -m benchmarks.soak [PAGES]."""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.throughput import TOML
from recrawl.live.directory import CrawlDirectory
from recrawl.live.recorder import Noted
from recrawl.live.session import Session
from recrawl.live.store import Store
from recrawl.plan import Plan
from recrawl.recording.recording import Recording
from recrawl.simulate.render import Rendering
from recrawl.urls.url import host_of, normalise

PAGES = 100_000


def make_web(pages: int) -> Recording:
    """Write a web of so many pages."""
    from recrawl.simulate.synthetic.synthesis import synthesize

    return synthesize("mixed", pages, 30, 1, only=("links",)).fixed()


def serve(pages: int, ready: Any, port: Any, stop: Any) -> None:
    """Serve the web; pages are rendered as they are asked for."""
    from recrawl.simulate.replay import ReplayServer, ServedValidators

    with ReplayServer(Rendering(make_web(pages)), lambda: 1.0, validators=ServedValidators.ABSENT) as server:
        port.value = server.port
        ready.set()
        stop.wait()


def resident_mb() -> float:
    """What the process holds now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    pages = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else PAGES
    context = multiprocessing.get_context("spawn")
    ready, port, stop = context.Event(), context.Value("i", 0), context.Event()
    server = context.Process(target=serve, args=(pages, ready, port, stop), daemon=True)
    server.start()
    ready.wait(900)
    rendering = Rendering(make_web(pages))
    count = len(rendering.recording)
    urls = [normalise(rendering.url(page, port.value)) or "" for page in range(count)]
    visits, began = 0, time.monotonic()

    def watch(_: Noted) -> None:
        nonlocal visits
        visits += 1
        if visits % max(count // 10, 1) == 0:
            rate = visits / (time.monotonic() - began)
            print(f"{visits:>8,} visits  {resident_mb():7.0f} MB  {rate:6.0f} pages/s", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        directory = CrawlDirectory.init(Path(folder) / "crawl", TOML)
        store = Store.open(directory.state)
        with store.transaction():
            store.add_pages(urls, [host_of(url) for url in urls], 0.0)
        store.close()
        with Session(directory, "age", Plan(1.0, count, warmup=0), watch=watch) as session:
            print(f"{0:>8,} visits  {resident_mb():7.0f} MB", flush=True)
            began = time.monotonic()
            session.run_cycle()
    stop.set()
    server.join(10)


if __name__ == "__main__":
    main()
