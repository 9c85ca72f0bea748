"""The rounds of a live crawl: what a policy learns from at once, when it is visited and again after a restart.

A restart chooses the same pages only if it learns from the same visits in the same order, so the store keeps which
visits were learnt from together. It also keeps how many visits the policy was asked for in each round: a policy whose
choices are part of what it knows (`remembers_choices`) is asked again when the rounds are replayed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from recrawl.columns import PageIds
from recrawl.live.store_visits import NOT_TOLD, VISIT_COLUMNS, Rows
from recrawl.memory import Memory
from recrawl.policy import Around, Policy
from recrawl.visits import Outcome, Visits

if TYPE_CHECKING:
    from recrawl.live.stored_copies import StoredCopies


class AskedPolicy(Around):
    """Notes how many visits a policy is asked for."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._budget = 0

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Let the policy choose."""
        self._budget = budget
        return self.policy.choose(memory, budget, at)

    def take(self) -> int:
        """Return what the policy was asked for since the last time; 0: it was not asked."""
        budget, self._budget = self._budget, 0
        return budget

    def __repr__(self) -> str:
        return repr(self.policy)


def asked_of(policy: object) -> AskedPolicy | None:
    """Return the part of a policy that notes what it is asked for, None where there is none."""
    while policy is not None and not isinstance(policy, AskedPolicy):
        policy = getattr(policy, "policy", None)
    return policy


def visits_of(rows: Rows, discovered: PageIds, copies: StoredCopies) -> Visits:
    """Return visits with what they showed, columns of VISIT_COLUMNS; from now on `copies` are those that they took."""
    pages, at, outcome = (np.ascontiguousarray(rows[name]) for name in ("page", "at", "outcome"))
    copies.take(rows)
    versions = copies.version[pages]
    compared = outcome < Outcome.GONE
    return Visits(
        pages=pages,
        at=at,
        outcome=outcome,
        new_internal=rows["new_internal"].astype(np.int64),
        new_external=rows["new_external"].astype(np.int64),
        change_size=rows["change_size"],
        discovered=discovered,
        significant=_significant(rows),
        length=np.where(rows["words"] < 0, np.nan, rows["words"]),
        words=partial(copies.hashed_words, pages, versions) if (versions >= 0).any() or not compared.any() else None,
    )


def learnable(rows: Mapping[int, tuple[float, ...]], pages: Sequence[int], found: PageIds, memory: Memory) -> Visits:
    """Return the visits to these pages, in their order, as the policy and the memory take them."""
    from recrawl.live.stored_copies import StoredCopies

    assert isinstance(memory.copies, StoredCopies), "of a memory that was rebuilt from the store"
    columns = np.array([rows[page] for page in pages], dtype=VISIT_COLUMNS)
    return visits_of(columns, found, memory.copies)


def _significant(rows: Rows) -> np.ndarray[tuple[int], np.dtype[np.bool_]] | None:
    """Which visits found a significant change; one of which no words are known counts. None where that is each."""
    changed, told = rows["outcome"] == Outcome.CHANGED, rows["significant"]
    unknown = changed & (told == NOT_TOLD)
    if changed.any() and unknown[changed].all():
        return None
    return np.asarray(unknown | (told == 1))
