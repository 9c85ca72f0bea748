"""A live crawl and a simulation of the same recorded web choose the same pages in the same order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recrawl.cycle import EveryPage, run_cycle
from recrawl.live.facade import Crawl
from recrawl.live.session import Session
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy
from recrawl.policies.formulas.formula import load_formula
from recrawl.policies.guarded import Guarded
from recrawl.policies.learned.learned import Learned
from recrawl.policy import Setting, explainer_of
from recrawl.recording.recording import Recording
from recrawl.simulate.render import Rendering
from recrawl.simulate.replay import ReplayServer
from recrawl.urls.traps import trap_of
from recrawl.urls.url import normalise
from support.live_crawls import Days, begun, seeds, served, settings
from support.real_recordings import THREE_SITES
from support.rendered_world import RenderedWorld
from support.scrapy_runs import Project
from support.served_crawls import served_here
from support.small_recordings import Diary

CYCLES, BUDGET, SEED = 8, 25, 3
Choices = list[list[str]]


def plain_web(cycles: int = CYCLES) -> Recording:
    """Pages whose address had one life, without broken links: there the two worlds know the same of every page."""
    recording = Recording.open(THREE_SITES).window(0, 7 * cycles)
    names = [f"{site}/{path}" for site, path in zip(recording.site, recording.page("path"), strict=True)]
    alone = np.array([names.count(name) == 1 for name in names])
    links = recording.links
    inside = np.flatnonzero(links.target_page >= 0)
    target = links.target_page[inside]
    broken = (recording.born[target] > np.maximum(links.day_from[inside], 0)) | (
        recording.died[target] < np.minimum(links.day_to[inside], recording.end)
    )
    mask = alone & ~np.isin(np.arange(len(recording)), target[broken])
    rendering = Rendering(recording)
    mask &= [trap_of(normalise(rendering.url(page, 80)) or "", 1970) is None for page in range(len(recording))]
    return recording.keep(mask)


@dataclass(frozen=True)
class Case:
    """A policy, and a crawl long enough that it does what is its own."""

    policy: str
    pages: int = 0  # 0: all
    cycles: int = CYCLES
    budget: int = BUDGET


CASES = (
    Case("age"),
    Case("bayes"),
    Case("nutch(fill=yes)"),
    Case("freq"),
    Case("learned"),
    Case("learned(objective=links)"),
    Case("lbla"),
    Case("cls-gad(clusters=12)"),
    Case("cls-nad(clusters=6, features=content, every=3)"),
    Case("cls-sad(clusters=6, features=dynamic, every=3)"),
    Case("cls-aad(clusters=6, features=url+content)"),
    Case("sls"),
    Case("expert-1d(change=significant)"),
    Case("expert-2d(every=3)", 40, 26, 30),
    Case("expert-3d(every=3, change=significant)", 40, 26, 30),
    Case("chase(bayes)"),
    Case("chase(learned, change=large, words=80)"),
    Case("gp:FILE"),
)


def simulated(server: ReplayServer, case: Case, *, warmup: int = 1, by_cycle: bool = False) -> Choices:
    """The choices of the simulation: round by round, or all of a cycle together."""
    world = RenderedWorld(server)
    memory = world.rendered_memory(7.0, SEED)
    diary = Diary(make_policy(case.policy, Setting(seed=SEED)))
    for cycle in range(1, case.cycles + 1):
        chooser = EveryPage(diary) if cycle <= warmup else diary
        budget, share = (len(memory), 1.0) if cycle <= warmup else (case.budget, Plan().discovery)
        run_cycle(world, memory, chooser, budget, 7.0 * cycle, discovery=share)
    if by_cycle:
        days = [7.0 * cycle for cycle in range(1, case.cycles + 1)]
        return [[world.urls[page] for at, pages in diary.chosen if at == day for page in pages] for day in days]
    return [[world.urls[page] for page in pages] for _, pages in diary.chosen]


def live(server: ReplayServer, case: Case, folder: Path, calendar: Days, *, every: int) -> Choices:
    """The choices of a live crawl by a process that is started anew every so many cycles."""
    calendar.day = 0.0
    directory = begun(folder, seeds(server), settings(case.policy))
    plan = Plan(7.0, case.budget, warmup=1, seed=SEED)
    chosen: Choices = []
    for first in range(1, case.cycles + 1, every):
        with Session(directory, case.policy, plan, clock=calendar) as session:
            diary = Diary(session.policy)
            session.policy = diary  # type: ignore[assignment]
            session.world.lanes.patience_s = 600.0  # a slow machine must not end a round early: that is another choice
            for cycle in range(first, min(first + every, case.cycles + 1)):
                calendar.day = 7.0 * cycle
                assert session.run_cycle()
            chosen.extend(session.store.urls(pages) for _, pages in diary.chosen)
            assert isinstance(diary.policy, Guarded)
            assert diary.policy.fault is None
    return chosen


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.policy)
def test_live_and_simulated_crawls_choose_the_same_pages_in_the_same_order(case: Case, tmp_path: Path) -> None:
    """Weeks of real pages over real HTTP, with a restart in the middle: every choice, in order, is the simulator's."""
    calendar, web = Days(), plain_web(case.cycles)
    if case.policy == "gp:FILE":
        path = tmp_path / "formula.json"
        path.write_text(load_formula("t-cg").to_json())
        case = replace(case, policy=f"gp:{path}")
    if case.pages:
        changes = np.diff(web.change_start)
        web = web.keep(np.isin(np.arange(len(web)), np.argsort(-changes, kind="stable")[: case.pages]))
    with served(web, calendar) as server:
        told = simulated(server, case)
        assert live(server, case, tmp_path / "crawl", calendar, every=case.cycles // 2) == told
        assert sum(map(len, told)) >= (case.cycles - 1) * case.budget


def by_scrapy(server: ReplayServer, case: Case, folder: Path, calendar: Days) -> Choices:
    """The pages that a Scrapy project asks for in each cycle, on the planner of a server."""
    calendar.day = 0.0
    steering = f'[crawl]\npolicy = "{case.policy}"\nevery = "7d"\nbudget = "{case.budget}"\nseed = {SEED}\nwarmup = 0\n'
    Crawl.create(folder / "served", steering, clock=calendar).add(*seeds(server))
    project, chosen = Project(folder, server), []
    with served_here(folder / "served", calendar) as planner:
        shared: dict[str, Any] = {
            "RECRAWL_URL": f"http://127.0.0.1:{planner.port}",
            "RECRAWL_BUDGET": case.budget,
            "FOLLOW": False,
        }
        for cycle in range(1, case.cycles + 1):
            calendar.day, logged = 7.0 * cycle, len(server.log)
            project.end(project.begin(**shared))
            asked = server.log[logged:]
            chosen.append([normalise(f"http://{each.host}:{server.port}{each.path}") or "" for each in asked])
    return chosen


@pytest.mark.parametrize("policy", ["bayes", "learned(rounds=1)"])
def test_a_crawl_by_scrapy_chooses_the_pages_of_the_simulation(policy: str, tmp_path: Path) -> None:
    """A Scrapy process per cycle, which asks concurrently: each fetches the simulation's pages of that cycle."""
    calendar, case, web = Days(), Case(policy, 40, 6, 16), plain_web(6)
    there = np.where(web.born <= web.start, np.diff(web.change_start), -1)
    web = web.keep(np.isin(np.arange(len(web)), np.argsort(-there, kind="stable")[: case.pages]))
    with served(web, calendar) as server:
        told = simulated(server, case, warmup=0, by_cycle=True)
        asked = by_scrapy(server, case, tmp_path, calendar)
    assert [sorted(urls) for urls in asked] == [sorted(urls) for urls in told]
    assert [len(urls) for urls in told] == [case.budget] * case.cycles


@pytest.mark.parametrize("policy", ["bayes", "learned", "cls-gad(clusters=12)"])
def test_a_crawl_that_is_restarted_every_cycle_makes_the_same_choices(policy: str, tmp_path: Path) -> None:
    """What a policy has learnt is rebuilt from the store, round by round: seven restarts change nothing."""
    calendar = Days()
    with served(plain_web(), calendar) as server:
        assert live(server, Case(policy), tmp_path / "crawl", calendar, every=1) == simulated(server, Case(policy))


def test_the_lengths_of_pages_come_back_with_a_restart(tmp_path: Path) -> None:
    """The store tells a policy the words of every copy, as the visits that took them did."""
    calendar, told = Days(), []
    with served(plain_web(), calendar) as server:
        directory = begun(tmp_path / "crawl", seeds(server), settings("learned"))
        plan = Plan(7.0, BUDGET, warmup=1, seed=SEED)
        for cycles in (3, 0):
            with Session(directory, "learned", plan, clock=calendar) as session:
                for _ in range(cycles):
                    calendar.day += 7.0
                    assert session.run_cycle()
                policy = explainer_of(session.policy)
                assert isinstance(policy, Learned)
                past = policy.belief.history
                told.append(past.words[past.first >= 0])
    assert (told[0] > 200).all()
    assert told[0].tolist() == told[1].tolist()
