"""The one crawl loop, for the live web and for recorded webs alike."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from recrawl.columns import PageIds
from recrawl.errors import PolicyError
from recrawl.memory import Memory
from recrawl.policy import Around, Policy, broken_rule
from recrawl.visits import Visits, no_pages


@dataclass(frozen=True)
class Opening:
    """What a cycle opens with, before a policy chooses anything."""

    announced: PageIds = field(default_factory=no_pages)  # pages that made themselves known: sitemaps, feeds, births
    spent: int = 0  # of the budget: what the world itself asked for, and visits made before a restart
    planned: PageIds = field(default_factory=no_pages)  # chosen before a restart and not visited yet


class World(Protocol):
    """Something that answers visits: the live web, or a recording of it."""

    def begin(self, cycle: int, at: float, budget: int) -> Opening:
        """Open a cycle whose visits are due at `at`, or go on with one after a restart."""

    @property
    def under_way(self) -> int:
        """How many pages were given to `visit` and are neither answered nor barred yet."""
        ...

    def visit(self, pages: PageIds, at: float) -> Visits:
        """Visit these pages now, in this order; return the visits that were made.

        A page that is missing from them was barred (`Memory.bars`) or is under way: a later call returns it. With no
        pages to visit, wait for what is under way.
        """
        ...


def run_cycle(
    world: World,
    memory: Memory,
    policy: Policy,
    budget: int,
    at: float,
    *,
    site_cap: int = 0,
    discovery: float = 1.0,
    resumed: bool = False,
) -> list[Visits]:
    """Run one cycle: the policy chooses, the world answers, the policy learns, the memory records.

    The policy is asked again until the budget is spent or it chooses nothing, so it can sample, look at what the
    first rounds found, and then decide. `discovery` is the share of the budget for pages without a copy, as long as
    there are others to visit. Only visits that were made cost budget. With `resumed`, the memory's open cycle goes on,
    after a restart. Returns the visits, round by round, in the order they were made.
    """
    if not resumed:
        memory.begin_cycle(site_cap)
    opening = world.begin(memory.cycle, at, budget)
    memory.learn_of(opening.announced, at)
    policy.begin(memory, at)
    most = most_first_visits(discovery, budget)
    left, pages = budget - opening.spent, opening.planned
    rounds: list[Visits] = []
    while True:
        if not len(pages) and left > world.under_way:
            pages = chosen(memory, policy, left - world.under_way, at, most)
        if not len(pages) and not world.under_way:
            break
        visits = world.visit(pages, at)
        if len(visits):
            policy.learn(memory, visits)
            memory.record(visits)
            rounds.append(visits)
        elif not world.under_way and memory.eligible()[pages].all():
            break  # nothing was visited and nothing barred: the world has ended
        left, pages = left - len(visits), no_pages()
    return rounds


def most_first_visits(discovery: float, budget: int) -> int | None:
    """How many visits of a cycle may go to pages without a copy, while there are others to visit; None: all."""
    return None if discovery >= 1.0 else max(1, round(discovery * budget))


def chosen(memory: Memory, policy: Policy, budget: int, at: float, most: int | None) -> PageIds:
    """Return what a policy chooses; where nothing else is left to visit, first visits beyond their share."""
    must_wait = memory.limit_first_visits(most)
    pages = _within_rules(memory, policy, budget, at)
    if not len(pages) and must_wait:
        memory.limit_first_visits(memory.first_visits_made() + budget, paid=False)
        pages = _within_rules(memory, policy, budget, at)
    return pages


def _within_rules(memory: Memory, policy: Policy, budget: int, at: float) -> PageIds:
    """Return what a policy chooses, held to its contract."""
    pages = policy.choose(memory, budget, at)
    fault = broken_rule(pages, memory, budget)
    if fault is not None:
        raise PolicyError(f"{policy} {fault}")
    return pages


class EveryPage(Around):
    """Visit every page that may be visited: the warm-up, for a policy that will take over."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Return all eligible pages in tie order."""
        pages = np.flatnonzero(memory.eligible())
        return pages[np.argsort(memory.tie[pages])][:budget]
