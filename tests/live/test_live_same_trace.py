"""A live crawl and a simulation of the same recorded web choose the same pages in the same order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recrawl.columns import PageIds, tie_order
from recrawl.cycle import EveryPage, run_cycle
from recrawl.live.session import Session
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy
from recrawl.policies.learned.learned import Learned
from recrawl.policy import Setting
from recrawl.recording.recording import Recording
from recrawl.see.page import see_page
from recrawl.simulate.recorded import RecordedWorld
from recrawl.simulate.render import Rendering
from recrawl.simulate.replay import ReplayServer
from recrawl.urls.traps import trap_of
from recrawl.urls.url import normalise
from recrawl.urls.urlindex import url_hashes
from recrawl.visits import Outcome, Visits
from support.live_crawls import Days, begun, seeds, served, settings
from support.real_recordings import THREE_SITES
from support.small_recordings import Diary

CYCLES, BUDGET, SEED = 8, 25, 3
Choices = list[list[str]]


def plain_web() -> Recording:
    """Pages whose address had one life, without broken links: there the two worlds know the same of every page."""
    recording = Recording.open(THREE_SITES).window(0, 7 * CYCLES)
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


class RenderedWorld(RecordedWorld):
    """Visits tell the length of the pages as they are served, whose words are invented."""

    def __init__(self, server: ReplayServer) -> None:
        super().__init__(server.rendering.recording, links=True, copies=False)
        self.server = server

    def visit(self, pages: PageIds, at: float) -> Visits:
        visits = super().visit(pages, at)
        new = np.isin(visits.outcome, (Outcome.FIRST, Outcome.CHANGED))
        served = [self.server.rendering.html(int(page), at, self.server.port) for page in pages[new]]
        length = np.full(len(pages), np.nan)
        length[new] = [see_page(html, "http://a.example/").words for html in served]
        return replace(visits, length=length)


def simulated(server: ReplayServer, policy: str) -> Choices:
    recording = server.rendering.recording
    urls = [normalise(server.rendering.url(page, server.port)) or "" for page in range(len(recording))]
    world = RenderedWorld(server)
    memory = world.memory(cycle_days=7.0, seed=SEED)
    memory.tie = tie_order(url_hashes(urls).view(np.int64), SEED)
    diary = Diary(make_policy(policy, Setting(seed=SEED)))
    for cycle in range(1, CYCLES + 1):
        chooser = EveryPage(diary) if cycle == 1 else diary
        budget, share = (len(memory), 1.0) if cycle == 1 else (BUDGET, Plan().discovery)
        run_cycle(world, memory, chooser, budget, 7.0 * cycle, discovery=share)
    return [[urls[page] for page in pages] for _, pages in diary.chosen]


def live(server: ReplayServer, policy: str, folder: Path, calendar: Days, *, restarts: bool) -> Choices:
    calendar.day = 0.0
    directory = begun(folder, seeds(server), settings(policy))
    plan = Plan(7.0, BUDGET, warmup=1, seed=SEED)
    chosen: Choices = []

    def cycles(first: int, last: int) -> None:
        with Session(directory, policy, plan, clock=calendar) as session:
            diary = Diary(session.policy)
            session.policy = diary  # type: ignore[assignment]
            for cycle in range(first, last + 1):
                calendar.day = 7.0 * cycle
                assert session.run_cycle()
            chosen.extend(session.store.urls(pages) for _, pages in diary.chosen)

    if restarts:
        for cycle in range(1, CYCLES + 1):
            cycles(cycle, cycle)
    else:
        cycles(1, CYCLES)
    return chosen


@pytest.mark.parametrize("policy", ["age", "bayes", "nutch(fill=yes)", "learned"])
def test_live_and_simulated_crawls_choose_the_same_pages_in_the_same_order(policy: str, tmp_path: Path) -> None:
    """Eight weeks of real pages over real HTTP: every choice, in order, is the simulator's."""
    calendar = Days()
    with served(plain_web(), calendar) as server:
        told = simulated(server, policy)
        assert live(server, policy, tmp_path / "crawl", calendar, restarts=False) == told
        assert sum(map(len, told)) >= (CYCLES - 1) * BUDGET


def test_a_crawl_that_is_restarted_every_cycle_makes_the_same_choices(tmp_path: Path) -> None:
    """What a policy has learnt is rebuilt from the store: seven restarts change nothing."""
    calendar = Days()
    with served(plain_web(), calendar) as server:
        for policy in ("bayes", "nutch(fill=yes)"):
            folder = tmp_path / policy[:5]
            assert live(server, policy, folder, calendar, restarts=True) == simulated(server, policy)


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
                policy = session.policy.policy
                assert isinstance(policy, Learned)
                past = policy.belief.history
                told.append(past.words[past.first >= 0])
    assert (told[0] > 200).all()
    assert told[0].tolist() == told[1].tolist()
