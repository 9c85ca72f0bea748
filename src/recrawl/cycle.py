"""The one crawl loop, for the live web and for recorded webs alike."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from recrawl.columns import PageIds
from recrawl.errors import PolicyError
from recrawl.memory import Memory
from recrawl.policy import Policy, broken_rule
from recrawl.visits import Visits


class World(Protocol):
    """Something that answers visits: the live web, or a recording of it."""

    def announce(self, at: float) -> PageIds:
        """Return pages that make themselves known by now without a visit: sitemaps, feeds; often none."""
        ...

    def visit(self, pages: PageIds, at: float) -> Visits:
        """Visit these pages now, in this order."""
        ...


def run_cycle(
    world: World, memory: Memory, policy: Policy, budget: int, at: float, *, site_cap: int = 0
) -> list[Visits]:
    """Run one cycle: the policy chooses, the world answers, the policy learns, the memory records.

    The policy is asked again until the budget is spent or it chooses nothing, so it can sample, look at what the
    first rounds found, and then decide. Returns the visits, round by round, in the order they were made.
    """
    memory.begin_cycle(site_cap)
    memory.learn_of(world.announce(at), at)
    policy.begin(memory, at)
    return spend(world, memory, policy, budget, at)


def spend(world: World, memory: Memory, policy: Policy, budget: int, at: float) -> list[Visits]:
    """Spend what is left of the open cycle's budget; a crawl that was interrupted goes on here."""
    rounds: list[Visits] = []
    left = budget
    while left > 0:
        pages = policy.choose(memory, left, at)
        fault = broken_rule(pages, memory, left)
        if fault is not None:
            raise PolicyError(f"{policy} {fault}")
        if not len(pages):
            break
        visits = world.visit(pages, at)
        policy.learn(memory, visits)
        memory.record(visits)
        rounds.append(visits)
        left -= len(pages)
    return rounds


class EveryPage:
    """Visit every page that may be visited: the warm-up."""

    def __init__(self, learner: Policy) -> None:
        self.learner = learner

    def begin(self, memory: Memory, at: float) -> None:
        """Let the policy that will take over open the cycle."""
        self.learner.begin(memory, at)

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Return all eligible pages in tie order."""
        pages = np.flatnonzero(memory.eligible())
        return pages[np.argsort(memory.tie[pages])][:budget]

    def learn(self, memory: Memory, visits: Visits) -> None:
        """Let the policy that will take over learn from the warm-up."""
        self.learner.learn(memory, visits)
