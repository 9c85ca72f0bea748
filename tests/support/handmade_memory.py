"""Memories and policies with a history that can be read off a line.

A history is one mark a cycle: c the visit found a change, u none, f a first copy, g the page gone, x no answer, and a
dot where there was no visit. A page whose first mark is f or x starts without a copy, as does "?", which is never
visited.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recrawl.columns import IntArray
from recrawl.memory import Memory
from recrawl.policies.catalogue import make_policy
from recrawl.policy import Policy, Setting
from recrawl.visits import Outcome, Visits

OUTCOME = {"u": Outcome.UNCHANGED, "c": Outcome.CHANGED, "f": Outcome.FIRST, "g": Outcome.GONE, "x": Outcome.FAILED}


def visits(pages: Sequence[int], marks: str, at: float) -> Visits:
    """Return visits to these pages, all at `at`, with these outcomes."""
    none = np.zeros(len(pages), dtype=np.int64)
    return Visits(
        pages=np.array(pages, dtype=np.int64),
        at=np.full(len(pages), float(at)),
        outcome=np.array([OUTCOME[mark] for mark in marks], dtype=np.uint8),
        new_internal=none,
        new_external=none,
        change_size=none.astype(np.float64),
    )


def remember(
    *histories: str,
    policy: Policy | None = None,
    cycle_days: float = 1.0,
    seed: int = 0,
    site: Sequence[int] | None = None,
    importance: Sequence[float] | None = None,
    site_cap: int = 0,
    keys: IntArray | None = None,
) -> Memory:
    """Return a memory, and let a policy learn, after the cycles of these histories; the next cycle is open."""
    pages = np.arange(len(histories))
    sites = np.zeros(len(histories), dtype=np.int64) if site is None else np.array(site)
    memory = Memory(pages if keys is None else keys, sites, cycle_days=cycle_days, seed=seed)
    if importance is not None:
        memory.importance = np.array(importance, dtype=np.float64)
    has_copy = np.array([history[:1] not in ("f", "x", "?") for history in histories])
    memory.learn_of(pages, 0.0)
    memory.hold_copies(pages[has_copy], 0.0)
    for cycle in range(1, max(map(len, histories)) + 1):
        marks = {page: history[cycle - 1 : cycle] for page, history in enumerate(histories)}
        seen = [page for page, mark in marks.items() if mark in OUTCOME and mark]
        at = cycle * cycle_days
        memory.begin_cycle()
        if policy is not None:
            policy.begin(memory, at)
        if seen:
            found = visits(seen, "".join(marks[page] for page in seen), at)
            if policy is not None:
                policy.learn(memory, found)
            memory.record(found)
    memory.begin_cycle(site_cap)
    if policy is not None:
        policy.begin(memory, memory.cycle * cycle_days)
    return memory


def choice(spec: str, *histories: str, budget: int, setting: Setting | None = None, **options: object) -> list[int]:
    """Return what a policy chooses after these histories, asked until the budget is spent; nothing has changed."""
    policy = make_policy(spec, setting or Setting(seed=1))
    memory = remember(*histories, policy=policy, **options)  # type: ignore[arg-type]
    at = memory.cycle * memory.cycle_days
    chosen: list[int] = []
    while len(chosen) < budget:
        pages = policy.choose(memory, budget - len(chosen), at).tolist()
        if not pages:
            break
        found = visits(pages, "".join("f" if memory.unfetched()[page] else "u" for page in pages), at)
        policy.learn(memory, found)
        memory.record(found)
        chosen += pages
    return chosen


class Knows:
    """A truth told page by page."""

    def __init__(self, stale: list[float], died: list[float]) -> None:
        self.stale_since, self.died = np.array(stale), np.array(died)
