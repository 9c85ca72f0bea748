"""Live crawls of recordings, served on loopback, for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from recrawl.clock import SystemClock
from recrawl.live.directory import CrawlDirectory
from recrawl.recording.recording import Recording
from recrawl.simulate.render import Rendering
from recrawl.simulate.replay import ReplayServer
from recrawl.urls.url import host_of, normalise

SETTINGS = """
[crawl]
policy = "{policy}"
every = "7d"
budget = "{budget}"
warmup = 1
signals = {signals}
[fetch]
allow_networks = ["127.0.0.0/8"]
connect_to = [["*.replay", "127.0.0.1"]]
max_wait_s = 60.0
[fetch.gate]
min_delay_s = {delay_s}
latency_factor = 0.0
"""


class Days(SystemClock):
    """A calendar that the test sets; waits stay real."""

    def __init__(self, day: float = 0.0) -> None:
        self.day = day

    def now(self) -> float:
        return self.day


@contextmanager
def served(recording: Recording, calendar: Days) -> Iterator[ReplayServer]:
    """Serve a recording as the web is on the calendar's day."""
    with ReplayServer(Rendering(recording), calendar.now) as server:
        yield server


def settings(policy: str = "bayes", budget: str = "20%", delay_s: float = 0.0, *, signals: bool = False) -> str:
    """A recrawl.toml for crawls of a replay server."""
    return SETTINGS.format(policy=policy, budget=budget, delay_s=delay_s, signals=str(signals).lower())


def seeds(server: ReplayServer) -> list[str]:
    """The URLs of the pages that exist when the recording begins."""
    recording = server.rendering.recording
    alive = np.flatnonzero(recording.born <= recording.start)
    return [normalise(server.rendering.url(int(page), server.port)) or "" for page in alive]


def begun(path: Path, urls: list[str], toml: str | None = None, at: float = 0.0) -> CrawlDirectory:
    """A new crawl with these pages."""
    directory = CrawlDirectory.init(path, toml or settings())
    store = directory.open_store()
    store.load_index()
    with store.transaction():
        store.add_pages(urls, [host_of(url) for url in urls], at)
    store.close()
    return directory
