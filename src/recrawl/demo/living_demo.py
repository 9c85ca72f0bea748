"""A living web in a minute: serve a synthetic web on loopback, crawl it over real HTTP under two policies, and judge.

What each crawl chose is replayed on the recording with exact change times, so freshness is the truth and not the
crawl's own estimate. The oracle is simulated on the same recording with the same budget.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from recrawl.clock import SystemClock
from recrawl.columns import FloatArray, PageIds
from recrawl.evaluate.crawl import CrawlResult, crawl
from recrawl.evaluate.measures.all_measures import make_measures
from recrawl.live.choice import DEFAULT
from recrawl.live.directory import CrawlDirectory
from recrawl.live.recorder import Noted
from recrawl.live.session import Session
from recrawl.live.store import Store
from recrawl.memory import Memory
from recrawl.plan import Plan
from recrawl.policies.catalogue import policies
from recrawl.policy import Named
from recrawl.recording.recording import Recording
from recrawl.simulate.news_words import paragraph
from recrawl.simulate.render import Rendering
from recrawl.simulate.replay import ReplayServer, port_if_free
from recrawl.simulate.synthetic.synthesis import synthesize
from recrawl.urls.url import host_of, normalise

CYCLE_DAYS, CYCLES, WARMUP, BUDGET = 7.0, 12, 1, 0.10
PORT = 18_520  # part of every address, and so of how ties are broken: the same each time where it is free
EPOCH_DAY = 20_089.0  # 2025-01-01, the replayed web's day 0
MEASURES = make_measures("ChangeRate,ChangesFound,Freshness,NewPages")

TOML = """# A crawl of the demonstration's web, which no longer runs.
[crawl]
policy = "{policy}"
every = "7d"
budget = "10%"
warmup = 1
signals = false            # the simulated crawls beside it have none either
[fetch]
allow_networks = ["127.0.0.0/8"]
connect_to = [["*.replay", "127.0.0.1"]]
[fetch.gate]
min_delay_s = 0.0
latency_factor = 0.0
"""


class Watching(Protocol):
    """Shows the crawl as it runs."""

    def begin(self, session: Session) -> None:
        """A cycle begins."""

    def visit(self, noted: Noted) -> None:
        """A visit is recorded."""

    def end(self, session: Session, done: bool) -> None:
        """The cycle has ended."""


Show = Callable[[str], AbstractContextManager[Watching]]


class WebClock(SystemClock):
    """The served web's clock: set forward from cycle to cycle, fixed in between; waits are real."""

    def __init__(self) -> None:
        self.day = 0.0

    def now(self) -> float:
        """Return the days since 1970-01-01 (UTC)."""
        return EPOCH_DAY + self.day


@dataclass(frozen=True)
class Judged:
    """One crawl and its results."""

    policy: str
    live: bool
    found: list[int]  # changes found, by cycle after the warm-up
    new_pages: int
    result: CrawlResult

    @property
    def freshness(self) -> FloatArray:
        """Share of fresh copies in each cycle."""
        return self.result.per_cycle(MEASURES[2])


def learned_policy() -> str:
    """Return the learned policy where there is one, and otherwise the one that learns rates."""
    return "learned" if "learned" in policies else "bayes"


def spec_of(policy: str) -> str:
    """Return how the demonstration crawls by a policy: `learned` as every live crawl does by default."""
    return DEFAULT if policy == "learned" else policy


def make_web(pages: int, seed: int) -> Recording:
    """Draw the web: a dozen sites over twelve weeks."""
    return synthesize("mixed", pages, CYCLE_DAYS * CYCLES, seed, only=("links",))


def demonstrate(recording: Recording, folder: Path, seed: int, show: Show) -> list[Judged]:
    """Crawl the web under the learned policy and under age, each in a folder of its own; simulate the oracle."""
    plan = Plan(CYCLE_DAYS, BUDGET, WARMUP, seed=seed)
    judged = []
    for policy in (learned_policy(), "age"):
        clock = WebClock()
        pages = Rendering(recording, write=paragraph)
        with ReplayServer(pages, lambda clock=clock: clock.day, port=port_if_free(PORT)) as server:  # type: ignore[misc]
            judged.append(_live(server, clock, folder / policy, policy, plan, show))
    bound = crawl(recording, "oracle", plan, MEASURES)
    found = [int(count) for count in bound.parts[0, :, 0]]
    judged.append(Judged("oracle", False, found, _discovered(bound), bound))
    return judged


def _live(server: ReplayServer, clock: WebClock, folder: Path, policy: str, plan: Plan, show: Show) -> Judged:
    recording = server.rendering.recording
    directory = CrawlDirectory.init(folder, TOML.format(policy=spec_of(policy)))
    _add_seeds(directory, server)
    fixed = replace(plan, budget=plan.visits(recording))
    with show(policy) as view, Session(directory, spec_of(policy), fixed, clock=clock, watch=view.visit) as session:
        for cycle in range(1, CYCLES + 1):
            clock.day = CYCLE_DAYS * cycle
            view.begin(session)
            view.end(session, session.run_cycle())
        chosen = _chosen(session.store, server)
        found = _found(session.store)
    result = crawl(recording, lambda _: _Chosen(chosen), plan, MEASURES)
    return Judged(policy, True, found, _discovered(result), result)


def _add_seeds(directory: CrawlDirectory, server: ReplayServer) -> None:
    recording = server.rendering.recording
    alive = np.flatnonzero(recording.born <= recording.start).tolist()
    urls = [normalise(server.rendering.url(page, server.port)) or "" for page in alive]
    store = directory.open_store()
    with store.transaction():
        store.add_pages(urls, [host_of(url) for url in urls], EPOCH_DAY)
    store.close()


def _chosen(store: Store, server: ReplayServer) -> dict[int, list[int]]:
    """Return the recording's pages that each cycle visited."""
    pages = range(len(server.rendering.recording))
    number = {normalise(server.rendering.url(page, server.port)): page for page in pages}
    chosen: dict[int, list[int]] = {}
    for visit in store.all_visits():
        if visit["url"] in number:
            chosen.setdefault(visit["cycle"], []).append(number[visit["url"]])
    return chosen


def _found(store: Store) -> list[int]:
    """Return how many changes the crawl itself recorded, by cycle after the warm-up."""
    return [found for cycle, found in store.changes_by_cycle().items() if cycle > WARMUP]


def _discovered(result: CrawlResult) -> int:
    return int(result.parts[3, :, 0].sum())


@dataclass
class _Chosen(Named):
    """A policy that repeats recorded visits."""

    cycles: dict[int, list[int]]

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Return the cycle's visits that are not made yet."""
        pages = np.array(self.cycles.get(memory.cycle, ()), dtype=np.int64)
        return pages[memory.eligible()[pages]][:budget]
