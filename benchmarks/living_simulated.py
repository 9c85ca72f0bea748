"""The living web as a recording: the same pages, changes, newcomer, slow host and outage, with nothing else in the way.

What a live crawl should come to if every request counts: the simulation has no dead host, no disallowed pages and no
robots.txt. The slow host takes as many visits per cycle as its delay allows, the host of the outage none while
it lasts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.columns import PageIds
from recrawl.cycle import EveryPage, Opening, run_cycle
from recrawl.eligibility import Bar
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy
from recrawl.policy import Setting
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld
from recrawl.visits import Outcome, Visits


@dataclass(frozen=True)
class Site:
    """A host: how often each of its pages changes, when they are born, and when it can be asked."""

    paces: tuple[int, ...]  # days between two changes of each page; 0: it never changes
    born: float = 0.0
    room: int = 0  # visits per cycle that it can take; 0: all
    down: tuple[int, ...] = ()  # cycles


def recorded(sites: list[Site], days: int) -> Recording:
    """Return the recording; a change of day d is half a day old when the cycle of that day visits."""
    paces = [pace for site in sites for pace in site.paces]
    changes = [[day - 0.5 for day in range(pace, days + 1, pace)] if pace else [] for pace in paces]
    of_site = np.repeat(np.arange(len(sites)), [len(site.paces) for site in sites])
    count = np.array([len(times) for times in changes])
    return Recording.from_arrays(
        {
            "sites": {"site_id": np.arange(len(sites)), "days": np.full(len(sites), float(days))},
            "pages": {
                "page_id": np.arange(len(paces)),
                "site_id": of_site,
                "path": np.array([f"{page}" for page in range(len(paces))], dtype=object),
                "born_day": np.array([site.born for site in sites])[of_site],
                "died_day": np.full(len(paces), np.nan),
            },
            "changes": {"page_id": np.repeat(np.arange(len(paces)), count), "day": np.concatenate([[], *changes])},
        },
        "living",
    )


class TroubledWorld(RecordedWorld):
    """A recorded web whose sites cannot always be asked."""

    def __init__(self, sites: list[Site], days: int) -> None:
        super().__init__(recorded(sites, days), discover="birth", copies=False)
        self.sites = sites
        self.crawler = self.memory(cycle_days=1.0)

    def begin(self, cycle: int, at: float, budget: int) -> Opening:
        """Bar the sites that are down."""
        self.crawler.bars.site[:] = [Bar.HOST_DOWN if cycle in site.down else Bar.OPEN for site in self.sites]
        self.left = np.array([site.room or len(self.recording) for site in self.sites])
        return super().begin(cycle, at, budget)

    def visit(self, pages: PageIds, at: float) -> Visits:
        """Answer what the sites can take; bar those that are full."""
        taken = []
        for page, site in zip(pages.tolist(), self.crawler.site[pages].tolist(), strict=True):
            if self.left[site] > 0:
                self.left[site] -= 1
                taken.append(page)
            else:
                self.crawler.bars.site[site] = Bar.HOST_FULL
        return super().visit(np.array(taken, dtype=np.int64), at)


def simulate(sites: list[Site], policy: str, plan: Plan, cycles: int) -> list[tuple[int, int, int]]:
    """Crawl; return visits, changes found and first copies of each cycle."""
    world = TroubledWorld(sites, cycles)
    chooser, rows = make_policy(policy, Setting(seed=plan.seed)), list[tuple[int, int, int]]()
    for cycle in range(1, cycles + 1):
        warm = cycle <= plan.warmup
        rounds = run_cycle(
            world,
            world.crawler,
            EveryPage(chooser) if warm else chooser,
            len(world.recording) if warm else plan.visits_among(len(world.recording)),
            float(cycle),
            discovery=1.0 if warm else plan.discovery,
        )
        outcome = np.concatenate([visits.outcome for visits in rounds])
        rows.append((len(outcome), int((outcome == Outcome.CHANGED).sum()), int((outcome == Outcome.FIRST).sum())))
    return rows
