"""The contracts of a policy and a scorer, and the registry of policies.

A policy only ever sees what its own visits have shown it. To add one, write a module in this package with a
maker under `@policies.add(name, formula=..., source=...)` and import it in `catalog.py`.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any, Protocol

from recrawl.columns import BoolArray, FloatArray, PageIds
from recrawl.errors import InputError
from recrawl.registry import Registry, parse_spec
from recrawl.remember.memory import Memory
from recrawl.remember.visits import Visits


class Scorer(Protocol):
    """Gives every page a number: the higher, the sooner."""

    def score(self, memory: Memory, at: float) -> FloatArray:
        """Score all pages for a visit at `at`."""
        ...


class Policy(Protocol):
    """Chooses pages. Asked again within a cycle until the budget is spent, so it can sample, look, and decide."""

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Return at most `budget` eligible pages, best first; none ends the cycle."""
        ...

    def observe(self, visits: Visits) -> None:
        """Learn from the visits just made (the memory has already recorded them)."""
        ...


class Truth(Protocol):
    """What only a clairvoyant knows: for each page the time since which our copy is stale (inf: it is fresh)."""

    stale_since: FloatArray
    died: FloatArray


@dataclass(frozen=True)
class Setting:
    """What a maker may need besides its own arguments."""

    seed: int = 0
    truth: Truth | None = None  # only for clairvoyant policies
    extra: dict[str, Any] = field(default_factory=dict)


policies: Registry[Policy] = Registry("policy")


def make_policy(text: str, setting: Setting) -> Policy:
    """Build a policy from its spec, e.g. `cg`, `gad(over=cycles)`, `explore(cg, 0.1)`, `gp:best.json`."""
    name, colon, path = text.partition(":")
    if colon and "(" not in name:
        return _call(name, text, setting, (path,), {})
    spec = parse_spec(text)
    return _call(spec.name, text, setting, spec.args, dict(spec.options))


def _call(name: str, text: str, setting: Setting, args: tuple[str, ...], options: dict[str, str]) -> Policy:
    make = policies[name].make
    signature = inspect.signature(make)
    try:
        signature.bind(setting, *args, **options)
    except TypeError as wrong:
        takes = ", ".join(list(signature.parameters)[1:]) or "no arguments"
        raise InputError(f"policy {text!r}: {wrong}; {name} takes {takes}") from None
    try:
        return make(setting, *args, **options)
    except ValueError as wrong:
        raise InputError(f"policy {text!r}: {wrong}") from None


def eligible_count(eligible: BoolArray) -> int:
    """How many pages may be visited."""
    return int(eligible.sum())
