"""The contracts of a policy and a scorer, and the registry of policies.

A policy only ever sees what its own visits have shown it. To add one, write a maker under
`@add_policy(name, formula=..., source=...)` in a file of your own, and name it `path/to/file.py:name`; built-in ones
are modules of recrawl.policies that `catalogue.py` imports.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from recrawl import arguments
from recrawl.columns import FloatArray, PageIds
from recrawl.errors import InputError
from recrawl.memory import Memory
from recrawl.registry import Registry, Spec, parse_spec
from recrawl.visits import Visits


class Scorer(Protocol):
    """Gives every page a number: the higher, the sooner."""

    def score(self, memory: Memory, at: float) -> FloatArray:
        """Score all pages for a visit at `at`."""
        ...


class Policy(Protocol):
    """Chooses pages. Asked again within a cycle until the budget is spent, so it can sample, look, and decide."""

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Return at most `budget` eligible pages, best first; none ends the cycle.

        A budget of 0 asks for nothing: the memory is only shown, before visits that the policy did not choose.
        """
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


class Named:
    """A policy that shows itself as the spec it was made from."""

    spec = ""

    def __repr__(self) -> str:
        return self.spec or type(self).__name__


def notes_of(policy: object) -> tuple[str, ...]:
    """Return what a policy, or one that it wraps, has to say of its work: its attribute `notes`, where it has one."""
    inner = getattr(policy, "policy", None)
    return (*getattr(policy, "notes", ()), *(notes_of(inner) if inner is not None else ()))


class Explains(Protocol):
    """A policy that can say why a page ranks as it does, after it has chosen."""

    def explain(self, page: int) -> object:
        """Return the reasons; `str` of it is for people. InputError where there is nothing to explain."""
        ...


def explainer_of(policy: object) -> Explains | None:
    """Return the policy itself, or the one that it wraps, if it explains itself."""
    if hasattr(policy, "explain"):
        return policy
    inner = getattr(policy, "policy", None)
    return None if inner is None else explainer_of(inner)


policies: Registry[Policy] = Registry("policy", "recrawl.policies")
add_policy = policies.add


def make_policy(text: str, setting: Setting) -> Policy:
    """Build a policy from its spec, e.g. `cg`, `gad(over=cycles)`, `explore(cg, 0.1)`, `gp:best.json`."""
    policy, shown = _make(parse_spec(text), text, setting)
    if isinstance(policy, Named):
        policy.spec = text if ":" in text.partition("(")[0] else shown
    return policy


def _make(spec: Spec, text: str, setting: Setting) -> tuple[Policy, str]:
    """Return the policy, and its spec without what is the default."""
    name, make = spec.name, policies[spec.name].make
    try:
        values = arguments.bind(make, spec.args, dict(spec.options))
    except ValueError as wrong:
        takes = ", ".join(str(parameter) for parameter in arguments.parameters(make)) or "no arguments"
        raise InputError(f"policy {text!r}: {wrong}; {name} takes {takes}") from None
    try:
        return make(setting, **values), arguments.spell(name, make, values)
    except ValueError as wrong:
        raise InputError(f"policy {text!r}: {wrong}") from None
