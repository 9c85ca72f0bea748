"""Kill a live crawl at random moments, start it again, and hold the server's log against the store."""

from __future__ import annotations

import random
import signal
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
from support.forked import forkserver
from support.live_crawls import begun, seeds, settings
from support.small_recordings import random_tables
from support.verb_ordeal import VerbOrdeal

DELAY_S = 0.05
PAGES, SITES = 240, 8
PATIENCE_S = 60.0
BESIDE = ("/robots.txt", "/sitemap.xml")  # what is asked for besides pages

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
    first_request_s: list[float] = field(default_factory=list)  # from the start of a process to its first request
    files: int = 0  # WARC files in the end
    sitemaps: int = 0  # requests for sitemaps
    killed_in: Counter[str] = field(default_factory=Counter)  # kills by what the process did
    wrong: list[str] = field(default_factory=list)


def ordeal(folder: Path, kills: int, seed: int, *, all_ways: bool = False) -> Ordeal:
    """Kill a crawl so many times; the last run is let to end its cycle.

    In `all_ways`, sitemaps are read, `learned` steers, WARC files are small, half of the runs are killed in rotation,
    sitemaps or training, and every third kill is that of another verb (support.verb_ordeal).
    """
    draw, context = random.Random(seed), forkserver()
    recording = Recording.from_arrays(random_tables(PAGES, 400.0, seed, sites=SITES))
    began, days_per_s = time.monotonic(), 400.0 / (kills + 1) if all_ways else 2.0
    found = Ordeal()
    with ReplayServer(Rendering(recording), lambda: min(400.0, (time.monotonic() - began) * days_per_s)) as server:
        directory = begun(folder / "crawl", seeds(server), settings(delay_s=DELAY_S, signals=all_ways))
        verbs = VerbOrdeal(folder, directory, context, found.wrong) if all_ways else None
        before: set[Visit] = set()
        while found.kills <= kills:
            last = found.kills == kills
            if verbs is not None and found.kills % 3 == 2 and not last and verbs.ready():
                found.killed_in[verbs.kill_one(draw)] += 1
                found.kills += 1
                continue
            logged, said = len(server.log), folder / "said"
            dies_in = draw.choice([*killed_process.PHASES, "", "", ""]) if all_ways and not last else ""
            life = None if last else Life(draw.uniform(0.05, 1.2), dies_in, draw.uniform(0.0, 0.03))
            started = time.monotonic()
            _run_once(context, directory, said, life, found, all_ways)
            time.sleep(0.05)  # a request that was under way reaches the server's log
            found.first_request_s += [asked.monotonic_s - started for asked in server.log[logged : logged + 1]]
            before = _check_run(directory, said, before, Counter(_urls(server, logged)), found)
            found.killed_in[dies_in or "run"] += not last
            found.kills += 1
        found.kills = kills
        _check_end(directory, server, found)
        if verbs is not None:
            verbs.check_end()
    return found


@dataclass(frozen=True)
class Life:
    """How long a process lives: so many seconds with an open crawl, or into a phase, whichever comes first."""

    lives_s: float
    dies_in: str
    after_s: float


def _run_once(
    context: Any, directory: CrawlDirectory, said: Path, life: Life | None, found: Ordeal, all_ways: bool
) -> None:
    said.write_bytes(b"")
    opened = context.Value("d", 0.0)
    words = (str(directory.path), str(said), opened, 1 if life is None else -1)
    if all_ways:
        phase = ("", 0.0) if life is None else (life.dies_in, life.after_s)
        process = context.Process(target=killed_process.crawl_in_all_ways, args=(*words, *phase))
    else:
        process = context.Process(target=killed_process.crawl, args=words)
    process.start()
    if life is not None:
        started = time.monotonic()
        while not opened.value and time.monotonic() < started + PATIENCE_S and process.is_alive():
            if life.lives_s < 0.3 and time.monotonic() > started + life.lives_s:
                break  # some are killed while they open the crawl
            time.sleep(0.005)
        process.join(3 * life.lives_s if life.dies_in else life.lives_s)
        process.kill()
    process.join(PATIENCE_S)
    if life is None and process.exitcode != 0:
        found.wrong.append(f"the last run ended with {process.exitcode}")
    elif life is not None and process.exitcode != -signal.SIGKILL:
        found.wrong.append(f"a run ended with {process.exitcode} before it was killed")
    found.slowest_restart_s = max(found.slowest_restart_s, opened.value)


def _urls(server: ReplayServer, first: int) -> list[str]:
    return [f"{asked.host}{asked.path}" for asked in server.log[first:] if asked.path not in BESIDE]


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
    rows = store.db.execute(
        "select v.page, v.digest, v.warc, v.offset, v.length from versions v where warc is not null"
    ).fetchall()
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
    found.files = len(list(directory.warc.glob("*.warc.gz")))
    found.sitemaps = sum(asked.path == "/sitemap.xml" for asked in server.log)
    times: dict[str, list[float]] = defaultdict(list)
    for asked in server.log:
        times[asked.host].append(asked.monotonic_s)
    found.shortest_gap_s = min(float(np.diff(np.sort(each)).min()) for each in times.values() if len(each) > 1)
    if found.shortest_gap_s < DELAY_S:
        found.wrong.append(f"a host was asked after {found.shortest_gap_s:.4f} s, its delay is {DELAY_S} s")
    store.close()
