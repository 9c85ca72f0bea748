"""Explanation of a page's chance of change: a sum of readable causes in log-odds (Shapley values).

The model is logit p = a + b (logit p0 + base + w trees), and the trees' part is the sum of the features' Shapley values
(LightGBM's `pred_contrib`) and a constant, so each cause has an effect in log-odds and the effects add up. The prior is
one cause among them, its log-odds less those of a page of which nothing is known, and the base model another.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.columns import FloatArray
from recrawl.policies.learned.forest import Rows
from recrawl.policies.learned.places import LEVELS

if TYPE_CHECKING:
    import lightgbm

MOST = 10  # causes that are shown
FAR = 1000  # cycles beyond which no next visit is expected


@dataclass(frozen=True)
class Cause:
    """One reason, and what it adds to the log-odds of a change."""

    words: str
    effect: float


@dataclass(frozen=True)
class Explanation:
    """A page's score and chance of change now, with the causes."""

    page: int
    score: float  # the index by which pages are ranked
    chance: float  # that the page has changed since its last visit
    prior: float  # the same without the learnt part
    causes: tuple[Cause, ...]  # the largest first
    next_visit: int | None  # in how many cycles the page would be chosen if nothing new is learnt; 0: in this one
    notes: tuple[str, ...] = ()  # what visits beside the score's have cost and brought in this crawl

    def __str__(self) -> str:
        when = {None: "no visit is in sight", 0: "visited in this cycle"}.get(
            self.next_visit, f"next visit in about {self.next_visit} cycles"
        )
        head = f"{self.chance:.0%} likely to have changed, score {self.score:.3g}; {when}"
        causes = [f"  {cause.effect:+.2f}  {cause.words}" for cause in self.causes]
        return "\n".join([head, *causes, *(f"  {note}" for note in self.notes)])


def causes_of(
    values: Mapping[str, float],
    effects: Mapping[str, float],
    groups: Sequence[str],
    prior: float,
    base: float,
    trust: float = 1.0,
    taught: float = 0.0,
) -> tuple[Cause, ...]:
    """Return the largest causes in words; `groups` are the names of the page's groups, level by level.

    `trust` is how far the prior is trusted, in log-odds; `taught` is what the base model adds to it.
    """
    causes = [
        Cause(words(name, values, groups), effect)
        for name, effect in effects.items()
        if effect and not math.isnan(effect)
    ]
    effect = trust * (_odds(prior) - _odds(base))
    causes.append(Cause(f"at the pace of its surroundings and its own past {prior:.0%}", effect))
    if taught:
        causes.append(Cause("by what other sites have taught about such pages", trust * taught))
    return tuple(sorted(causes, key=lambda cause: -abs(cause.effect))[:MOST])


def effects_of(model: lightgbm.Booster | None, row: Rows) -> FloatArray:
    """Return what each feature of one row adds to the log-odds (Shapley values); zeros without a model."""
    if model is None:
        return np.zeros(row.shape[1])
    return np.asarray(model.predict(row, pred_contrib=True, num_threads=1))[0, :-1]


def words(name: str, values: Mapping[str, float], groups: Sequence[str]) -> str:
    """Describe a feature's value in words: "4 of 6 pages in /blog/ visited this cycle had changed"."""
    level, colon, feature = name.partition(":")
    return _around(level, feature, values, groups) if colon else _back(name, values)


def _back(name: str, values: Mapping[str, float]) -> str:
    """Describe what the page's own visits showed."""
    value = values[name]
    if name == "words":
        return "its length is not known" if math.isnan(value) else f"it is {value:,.0f} words long"
    visits, changes = int(values["visits"]), int(values["changes"])
    return {
        "t": f"last visited {_cycles(value)} ago",
        "visits": f"{visits} visits so far",
        "changes": f"{changes} of {visits} visits found a change",
        "last_changed": f"the last visit found {'a change' if value else 'nothing new'}",
        "recent_changes": f"{int(value)} of the last {min(visits, 8)} visits found a change",
        "since_change": "no visit has found a change yet"
        if not changes
        else f"its last change was found {_cycles(value)} ago",
        "gap": f"the visit before the last came {_cycles(value)} earlier",
        "own_rate": f"its own rate is {value:.2g} changes per cycle",
    }[name]


def _around(level: str, feature: str, values: Mapping[str, float], groups: Sequence[str]) -> str:
    """Describe what visits to the page's group showed."""
    group = groups[LEVELS.index(level)]
    where = group if group.startswith("pages ") else f"pages {'on' if level == 'site' else 'in'} {group}"
    value, when = values[f"{level}:{feature}"], "this cycle" if feature.endswith("_now") else "since its last visit"
    if feature == "rate":
        return f"{where} change {value:.2g} times per cycle"
    if feature == "recent":
        return f"{where} changed {value:.2g} times per cycle lately"
    visits = int(values[f"{level}:visits_{feature.split('_')[1]}"])
    if feature.startswith("visits"):
        return f"{visits} {where} were visited {when}"
    if math.isnan(value):
        return f"no {where} were visited {when}"
    return f"{round(value * visits)} of {visits} {where} visited {when} had changed"


def next_visit(index: FloatArray, threshold: float, waited: int, wait: int) -> int | None:
    """Return the first cycle ahead in which `index` reaches the threshold, or the limit on waiting is met.

    index[s] is the page's index s cycles from now; `waited` are the cycles since its last visit, `wait` 0 is no limit.
    """
    reached = np.flatnonzero(index >= threshold)[:1].tolist()
    return min([*reached, *([max(0, wait - waited)] if wait else [])], default=None)


def _cycles(value: float) -> str:
    return f"{int(value)} cycle{'' if int(value) == 1 else 's'}"


def _odds(p: float) -> float:
    p = min(max(p, 1e-4), 1.0 - 1e-4)
    return math.log(p / (1.0 - p))
