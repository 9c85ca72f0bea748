"""A policy with a fallback: where a learner fails, a simple policy takes over and the crawl goes on."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from recrawl.columns import PageIds
from recrawl.memory import Memory
from recrawl.policies.selection import strict_scores
from recrawl.policy import Policy, broken_rule
from recrawl.visits import Visits

log = logging.getLogger(__name__)


class Guarded:
    """Uses `policy` until its first exception or NaN score, then `fallback`, and logs it once."""

    def __init__(self, policy: Policy, fallback: Policy) -> None:
        self.policy = policy
        self.fallback = fallback
        self.fault: str | None = None  # why the fallback took over

    def begin(self, memory: Memory, at: float) -> None:
        """Begin the cycle for both, so that the fallback is ready."""
        self.fallback.begin(memory, at)
        if self.fault is None:
            with self._guarding():
                self.policy.begin(memory, at)

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Choose by the policy, or by the fallback where it fails or chooses pages that may not be visited."""
        if self.fault is None:
            with self._guarding(), strict_scores():  # otherwise NaN ranks last silently
                pages = self.policy.choose(memory, budget, at)
                fault = broken_rule(pages, memory, budget)
                if fault is None:
                    return pages
                self._hand_over(f"it {fault}")
        return self.fallback.choose(memory, budget, at)

    def learn(self, memory: Memory, visits: Visits) -> None:
        """Learn in both, so that the fallback is ready."""
        self.fallback.learn(memory, visits)
        if self.fault is None:
            with self._guarding():
                self.policy.learn(memory, visits)

    @contextmanager
    def _guarding(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self._hand_over(f"{type(error).__name__}: {error}")

    def _hand_over(self, fault: str) -> None:
        self.fault = fault
        log.warning("%r failed (%s); %r takes over", self.policy, fault, self.fallback)

    def __repr__(self) -> str:
        return repr(self.policy if self.fault is None else self.fallback)
