"""Runs of a small Scrapy project (scrapy_project.py) in processes of their own, against a replay server."""

from __future__ import annotations

import json
import os
from collections import Counter
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from recrawl.simulate.replay import ReplayServer
from support import scrapy_project
from support.forked import forkserver

TIMEOUT_S = 300.0


class Project:
    """A Scrapy project in a folder, run as often as one likes."""

    def __init__(self, folder: Path, server: ReplayServer) -> None:
        self.folder, self.server = folder, server
        self.start = server.rendering.url(0, server.port)
        self.asked: list[tuple[int, int]] = []  # page and status of the last run's requests
        self.reason = ""  # that the last run's spider closed with
        self.log = ""  # of the last run
        self.env = {**os.environ, "http_proxy": f"http://127.0.0.1:{server.port}", "no_proxy": ""}
        self.env["OWN_SCHEDULER"] = str(folder / "own.txt")

    def begin(self, name: str = "items", passed: str = "", **settings: Any) -> ForkServerProcess:
        """Start the spider."""
        items = self.folder / f"{name}.jsonl"
        items.write_text("")
        told = {"RECRAWL_DIR": str(self.folder / "crawl"), "ITEMS": str(items), **settings}
        words = [json.dumps(told), self.start, *([passed] if passed else [])]
        texts = [str(self.folder / f"{name}.{stream}") for stream in ("out", "err")]
        process: ForkServerProcess = forkserver().Process(target=scrapy_project.run_in, args=(self.env, words, *texts))
        process.start()
        return process

    def end(self, process: ForkServerProcess, name: str = "items", code: int = 0) -> tuple[dict[str, int], list[str]]:
        """Wait for the spider; return its stats, and the URLs of its items."""
        process.join(TIMEOUT_S)
        out, err = ((self.folder / f"{name}.{stream}").read_text() for stream in ("out", "err"))
        assert process.exitcode == code, err[-3000:]
        assert "Traceback" not in err, err[-3000:]
        assert "DeprecationWarning" not in err, err[-3000:]
        self.log, self.reason = err, out.splitlines()[-2] if not code else ""
        lines = [json.loads(line) for line in (self.folder / f"{name}.jsonl").read_text().splitlines()]
        urls = [line["url"] for line in lines if "url" in line]
        return json.loads(out.splitlines()[-1]) if not code else {}, urls

    def run(self, code: int = 0, passed: str = "", **settings: Any) -> tuple[dict[str, int], list[int]]:
        """Run the spider; return its stats, and the pages of its items."""
        logged = len(self.server.log)
        stats, urls = self.end(self.begin(passed=passed, **{"RECRAWL_POLICY": "bayes", **settings}), code=code)
        self.asked = self.since(logged)
        return stats, [_page(url) for url in urls]

    def run_two(self, **settings: Any) -> tuple[Counter[str], list[int]]:
        """Run the spider in two processes at once; return the sum of their stats, and the pages of their items."""
        logged = len(self.server.log)
        started = {name: self.begin(name, **settings) for name in ("one", "two")}
        told = [self.end(process, name) for name, process in started.items()]
        self.asked = self.since(logged)
        stats: Counter[str] = Counter()
        for each, _ in told:
            stats.update(each)
        return stats, [_page(url) for _, urls in told for url in urls]

    def since(self, logged: int) -> list[tuple[int, int]]:
        """Page and status of the requests that came after."""
        return [(int(each.path.strip("/")), each.status) for each in self.server.log[logged:]]


def _page(url: str) -> int:
    """The number of a page whose path is its number."""
    return int(url.rsplit("/", 1)[1])
