"""The contracts of a policy and a scorer, and the registry of policies.

A policy only ever sees what its own visits have shown it. To add one, write a maker under
`@add_policy(name, formula=..., source=...)` in a file of your own, and name it `path/to/file.py:name`; built-in ones
are modules of recrawl.policies that `catalogue.py` imports.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from recrawl import arguments
from recrawl.columns import FloatArray, PageIds
from recrawl.errors import InputError
from recrawl.memory import Memory
from recrawl.registry import Registry, Spec, parse_spec
from recrawl.visits import Visits

NO_SIGNIFICANCE = "this world does not mark significant changes: any change counts"


class Scorer(Protocol):
    """Gives every page a number: the higher, the sooner."""

    def score(self, memory: Memory, at: float) -> FloatArray:
        """Score all pages for a visit at `at`."""


class Policy(Protocol):
    """Chooses pages. Asked again within a cycle until the budget is spent, so it can sample, look, and decide."""

    def begin(self, memory: Memory, at: float) -> None:
        """Open a cycle, or go on with one after a restart: meet new pages, train.

        It comes before every cycle's first visit, also where the visits are not chosen by this policy.
        """

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Return at most `budget` eligible pages, best first; none ends the cycle. The budget is at least 1."""

    def learn(self, memory: Memory, visits: Visits) -> None:
        """Learn from visits, chosen by this policy or not; the memory is as it was before them.

        Pages that these visits discovered are not known yet: the next `begin` or `choose` shows them.
        """


def broken_rule(pages: PageIds, memory: Memory, budget: int) -> str | None:
    """Say which rule a choice breaks, None where it breaks none.

    A choice is an array of page numbers, each eligible and named once, within the budget and the sites' caps.
    """
    if not isinstance(pages, np.ndarray) or pages.ndim != 1:
        return "chose something that is no list of pages"
    if not len(pages):
        return None
    if pages.dtype.kind not in "iu" or ((pages < 0) | (pages >= len(memory))).any():
        return "chose something that is no page"
    if len(pages) > budget:
        return f"chose {len(pages)} pages with a budget of {budget}"
    eligible = memory.eligible()
    if not eligible[pages].all():
        return "chose a page that it may not visit"
    before = np.count_nonzero(eligible)
    eligible[pages] = False
    if before - np.count_nonzero(eligible) < len(pages):
        return "chose a page twice"
    room = memory.site_room()
    if room is not None and (np.bincount(memory.site[pages], minlength=len(room)) > room).any():
        return "exceeded a site's cap"
    return None


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
    """The base of policies: shows itself as the spec it was made from, and keeps nothing of its own."""

    spec = ""
    remembers_choices: ClassVar[bool] = (
        False  # True: `choose` changes what it will do, so choices are replayed after a restart
    )

    def begin(self, memory: Memory, at: float) -> None:
        """Nothing to prepare: everything is in the memory."""

    def learn(self, memory: Memory, visits: Visits) -> None:
        """Nothing to keep: everything is in the memory."""

    def __repr__(self) -> str:
        return self.spec or type(self).__name__


class Around(Named):
    """The base of policies around another: that one opens every cycle and learns from every visit."""

    policy: Policy

    def begin(self, memory: Memory, at: float) -> None:
        """Let the inner policy open the cycle."""
        self.policy.begin(memory, at)

    def learn(self, memory: Memory, visits: Visits) -> None:
        """Let the inner policy learn, whichever policy chose the visits."""
        self.policy.learn(memory, visits)


def notes_of(policy: object) -> tuple[str, ...]:
    """Return what a policy, or one that it wraps, has to say of its work: its attribute `notes`, where it has one."""
    inner = getattr(policy, "policy", None)
    return (*getattr(policy, "notes", ()), *(notes_of(inner) if inner is not None else ()))


def remembers_choices(policy: object) -> bool:
    """Whether a policy, or one that it wraps, knows from its choices what its visits do not tell."""
    inner = getattr(policy, "policy", None)
    return bool(getattr(policy, "remembers_choices", False)) or (inner is not None and remembers_choices(inner))


class Explains(Protocol):
    """A policy that can say why a page ranks as it does, after it has chosen."""

    def explain(self, page: int) -> object:
        """Return the reasons; `str` of it is for people. InputError where there is nothing to explain."""


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
    except ValueError as error:
        takes = ", ".join(str(parameter) for parameter in arguments.parameters(make)) or "no arguments"
        raise InputError(f"policy {text!r}: {error}; {name} takes {takes}") from None
    try:
        policy = make(setting, **values)
    except ValueError as error:
        raise InputError(f"policy {text!r}: {error}") from None
    if not callable(getattr(policy, "choose", None)):
        raise InputError(f"policy {text!r}: its maker returned {type(policy).__name__}, which has no method 'choose'")
    return policy, arguments.spell(name, make, values)
