"""Kill a live crawl at random moments, start it again, and hold the server's log against the store."""

from __future__ import annotations

import multiprocessing
import os
import random
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from recrawl.live.bodies import Bodies
from recrawl.live.directory import CrawlDirectory
from recrawl.live.store import Store
from recrawl.recording.recording import Recording
from recrawl.see.page import see_page
from recrawl.simulate.render import Rendering
from recrawl.simulate.replay import ReplayServer
from recrawl.urls.url import split
from support import killed_process
from support.live_crawls import begun, seeds, settings
from support.small_recordings import random_tables

DELAY_S = 0.05
PAGES, SITES = 240, 8

Visit = tuple[int, int, int, float, int]


@dataclass
class Ordeal:
    """What many kills came to."""

    kills: int = 0
    visits: int = 0
    cycles: int = 0
    versions: int = 0
    requests: int = 0
    fetched_again: int = 0  # asked for, but the kill came before the visit was recorded
    shortest_gap_s: float = float("inf")
    slowest_restart_s: float = 0.0  # from the start of a process to an open crawl
    wrong: list[str] = field(default_factory=list)


def forkserver() -> Any:
    """Processes that start from one that has imported everything already."""
    here = str(Path(__file__).parents[1])
    if here not in os.environ.get("PYTHONPATH", "").split(os.pathsep):  # the server does not take over sys.path
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["support.killed_process"])
    return context


def ordeal(folder: Path, kills: int, seed: int) -> Ordeal:
    """Kill a crawl so many times; the last run is let to end its cycle."""
    draw, context = random.Random(seed), forkserver()
    recording = Recording.from_arrays(random_tables(PAGES, 400.0, seed, sites=SITES))
    began = time.monotonic()
    found = Ordeal(kills)
    with ReplayServer(Rendering(recording), lambda: min(400.0, (time.monotonic() - began) * 2)) as server:
        directory = begun(folder / "crawl", seeds(server), settings(delay_s=DELAY_S))
        before: set[Visit] = set()
        for run in range(kills + 1):
            logged = len(server.log)
            said = folder / "said"
            last = run == kills
            _run_once(context, directory, said, None if last else draw.uniform(0.05, 1.2), found)
            time.sleep(0.05)  # a request that was under way reaches the server's log
            before = _check_run(directory, said, before, Counter(_urls(server, logged)), found)
        _check_end(directory, server, found)
    return found


def _run_once(context: Any, directory: CrawlDirectory, said: Path, lives_s: float | None, found: Ordeal) -> None:
    said.write_bytes(b"")
    opened = context.Value("d", 0.0)
    process = context.Process(
        target=killed_process.crawl, args=(str(directory.path), str(said), opened, 1 if lives_s is None else -1)
    )
    process.start()
    if lives_s is not None:
        deadline = time.monotonic() + 20
        while not opened.value and time.monotonic() < deadline and process.is_alive():
            if time.monotonic() - deadline + 20 > lives_s and lives_s < 0.3:
                break  # some are killed while they open the crawl
            time.sleep(0.005)
        time.sleep(lives_s)
        process.kill()
    process.join(60)
    if lives_s is None and process.exitcode != 0:
        found.wrong.append(f"the last run ended with {process.exitcode}")
    found.slowest_restart_s = max(found.slowest_restart_s, opened.value)


def _urls(server: ReplayServer, first: int) -> list[str]:
    return [f"{asked.host}{asked.path}" for asked in server.log[first:] if asked.path != "/robots.txt"]


def _check_run(
    directory: CrawlDirectory, said: Path, before: set[Visit], asked: Counter[str], found: Ordeal
) -> set[Visit]:
    """What was recorded is still there; what a run asked for twice, it asked for in two cycles."""
    store = Store.open(directory.state, read_only=True)
    rows = store.db.execute("select visit, page, cycle, at, outcome from visits").fetchall()
    after: set[Visit] = set(rows)
    if not before <= after:
        found.wrong.append(f"{len(before - after)} recorded visits are lost or altered")
    kept = {(page, at) for _, page, _, at, _ in after}
    for line in said.read_text().splitlines():
        page, at = line.split()
        if (int(page), float(at)) not in kept:
            found.wrong.append(f"a visit to page {page} was said to be recorded and is not")
    urls = [split(url) for url in store.urls(page for _, page, _, _, _ in after - before)]
    recorded = Counter(f"{url.host}{url.path}" for url in urls)
    for url, times in asked.items():
        if times - recorded[url] not in (0, 1):
            found.wrong.append(f"{url} was asked for {times} times and recorded {recorded[url]} times in one run")
    found.fetched_again += (asked - recorded).total()
    if recorded - asked:
        found.wrong.append(f"visits without a request: {recorded - asked}")
    store.close()
    return after


def _check_end(directory: CrawlDirectory, server: ReplayServer, found: Ordeal) -> None:
    store = Store.open(directory.state, read_only=True)
    bodies = Bodies(directory.warc)
    rows = store.db.execute("select v.page, v.digest, v.warc, v.offset, v.length from versions v").fetchall()
    for page, digest, *place in rows:
        if see_page(bodies.read((place[0], place[1], place[2])), store.urls([page])[0]).digest != digest:
            found.wrong.append(f"a version of page {page} has another digest than its body")
    doubled = store.db.execute("select count(*) from (select 1 from visits group by page, cycle having count(*) > 1)")
    if doubled.fetchone()[0]:
        found.wrong.append("a page was recorded twice in a cycle")
    spent = store.db.execute(
        "select c.cycle from cycles c where done and budget < (select count(*) from visits v where v.cycle = c.cycle)"
    )
    if spent.fetchall():
        found.wrong.append("a cycle went beyond its budget")
    found.visits = store.db.execute("select count(*) from visits").fetchone()[0]
    found.cycles = store.db.execute("select count(*) from cycles where done").fetchone()[0]
    found.versions, found.requests = len(rows), len(server.log)
    times: dict[str, list[float]] = defaultdict(list)
    for asked in server.log:
        times[asked.host].append(asked.monotonic_s)
    found.shortest_gap_s = min(float(np.diff(np.sort(each)).min()) for each in times.values() if len(each) > 1)
    if found.shortest_gap_s < DELAY_S:
        found.wrong.append(f"a host was asked after {found.shortest_gap_s:.4f} s, its delay is {DELAY_S} s")
    store.close()
