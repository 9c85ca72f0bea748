"""A policy that may fail, and a plain one that takes over: no fault of a learner may stop a crawl."""

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
    """Asks `policy`; from its first exception or score that is no number on, asks `fallback`, and says so once."""

    def __init__(self, policy: Policy, fallback: Policy) -> None:
        self.policy = policy
        self.fallback = fallback
        self.fault: str | None = None  # why the fallback took over

    def begin(self, memory: Memory, at: float) -> None:
        """Let both open the cycle, so that the fallback is ready."""
        self.fallback.begin(memory, at)
        if self.fault is None:
            with self._guarding():
                self.policy.begin(memory, at)

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Choose by the policy, or by the fallback where that fails or chooses what it may not visit."""
        if self.fault is None:
            with self._guarding(), strict_scores():  # otherwise NaN ranks last without a word
                pages = self.policy.choose(memory, budget, at)
                fault = broken_rule(pages, memory, budget)
                if fault is None:
                    return pages
                self._hand_over(f"it {fault}")
        return self.fallback.choose(memory, budget, at)

    def learn(self, memory: Memory, visits: Visits) -> None:
        """Let both learn, so that the fallback is ready."""
        self.fallback.learn(memory, visits)
        if self.fault is None:
            with self._guarding():
                self.policy.learn(memory, visits)

    @contextmanager
    def _guarding(self) -> Iterator[None]:
        try:
            yield
        except Exception as wrong:
            self._hand_over(f"{type(wrong).__name__}: {wrong}")

    def _hand_over(self, fault: str) -> None:
        self.fault = fault
        log.warning("%r failed (%s); %r takes over", self.policy, fault, self.fallback)

    def __repr__(self) -> str:
        return repr(self.policy if self.fault is None else self.fallback)
