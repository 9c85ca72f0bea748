"""Terminals of score formulas: what a formula may use of a page, as columns over the crawler's memory.

`basic` and `all` are those of Santos et al. 2014, section 4.2.1. There the estimators are "of page change
probability", but the formulas of Table 4 multiply them by t, and the authors' released program has rates. So both
forms are offered: `rate`, changes per cycle, and `chance`, phi = 1 - exp(-rate t). `extended` goes beyond the paper.
All are finite for every page, and all come from the memory alone, so a formula needs no state of its own and goes on
where a stopped crawl left off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray, IntArray
from recrawl.compiled import kernel
from recrawl.errors import InputError
from recrawl.memory import RING, Memory
from recrawl.policies.classical import estimators

MEANING = {
    "n": "visits that could have seen a change",
    "X": "visits that saw one",
    "t": "cycles since the last visit",
    "CG": "Cho & Garcia-Molina's estimate: changes per cycle, or the probability that it has changed by now",
    "NAD": "the same, by the mean of all visits",
    "SAD": "the same, by the last visit",
    "AAD": "the same, weights growing arithmetically",
    "GAD": "the same, weights growing geometrically",
    "since": "cycles since a change was last seen (since the page was first seen, if never)",
    "age": "cycles since the page was first seen",
    "recent": "share of the last 8 visits that saw a change",
    "site": "share of changes among the latest visits to this site, recent ones counting more",
    "dir": "the same for the pages of the same directory",
    "links": "new links seen per visit",
    "importance": "the page's weight; 1 where all count the same",
}
NAMES = tuple(MEANING)
SETS = {"basic": NAMES[:3], "all": NAMES[:8], "extended": NAMES}
CONSTANTS = (0.001, 0.01, 0.1, 0.5, 1.0, 10.0, 100.0, 1000.0)
OVER = ("visits", "cycles")  # what the estimators' weights run over
FORMS = ("rate", "chance")  # what the estimators give: changes per cycle, or the probability of a change by now

FORGET = 0.8  # weight of a visit of the cycle before relative to one of this cycle, in `site` and `dir`


def terminal_set(name: str) -> tuple[str, ...]:
    """Return the terminals of a named set."""
    if name not in SETS:
        raise InputError(f"unknown terminal set {name!r}; there are {', '.join(SETS)}")
    return SETS[name]


def columns(
    memory: Memory,
    names: Sequence[str],
    at: float,
    over: str = "visits",
    directory: IntArray | None = None,
    form: str = "chance",
) -> FloatArray:
    """Return one row per terminal of the catalogue for a visit at `at`; only the rows named are filled.

    `directory` saves looking up each page's directory when the same pages are scored often.
    """
    out = np.empty((len(NAMES), len(memory)))
    waited = memory.waited()
    for name in names:
        line = out[NAMES.index(name)]
        if name == "t":
            line[:] = waited
        elif name in _RATES:
            rate = _RATES[name](memory, over)
            line[:] = estimators.probability(rate, waited) if form == "chance" else rate
        elif name == "dir":
            line[:] = _share_of(memory, directories(memory) if directory is None else directory)
        else:
            line[:] = _PLAIN[name](memory, at)
    return out


_RATES: dict[str, Callable[[Memory, str], FloatArray]] = {
    "CG": lambda memory, over: estimators.cg(memory),
    "NAD": estimators.nad,
    "SAD": estimators.sad,
    "AAD": estimators.aad,
    "GAD": estimators.gad,
}


def _since(memory: Memory, at: float) -> FloatArray:
    seen = np.where(np.isnan(memory.last_change), memory.first_seen, memory.last_change)
    return np.nan_to_num((at - seen) / memory.cycle_days)


def _age(memory: Memory, at: float) -> FloatArray:
    return np.nan_to_num((at - memory.first_seen) / memory.cycle_days)


def _recent(memory: Memory, at: float) -> FloatArray:
    found = np.bitwise_count(memory.ring).astype(np.float64)
    return found / np.clip(memory.n, 1, RING)


def _links(memory: Memory, at: float) -> FloatArray:
    return memory.new_links.sum(axis=1) / np.maximum(memory.n, 1)


def _importance(memory: Memory, at: float) -> FloatArray:
    return np.ones(len(memory)) if memory.importance is None else np.nan_to_num(memory.importance)


def _share_of(memory: Memory, group: IntArray) -> FloatArray:
    return _share(group.astype(np.int64), memory.n, memory.ring, memory.last_cycle, memory.cycle)


@kernel
def _share(group: IntArray, n: IntArray, ring: Any, last_cycle: IntArray, cycle: int) -> FloatArray:
    """Share of changes per group at the latest visits, weighted by FORGET**t and shrunk to the overall share."""
    groups = 0
    for g in group:
        groups = max(groups, g + 1)
    seen, found = np.zeros(groups), np.zeros(groups)
    all_seen, all_found = 1e-9, 0.0
    for p in range(len(group)):
        if n[p] > 0:
            weight = FORGET ** (cycle - last_cycle[p])
            seen[group[p]] += weight
            all_seen += weight
            if ring[p] & 1:
                found[group[p]] += weight
                all_found += weight
    overall = all_found / all_seen
    out = np.empty(len(group))
    for p in range(len(group)):
        out[p] = (found[group[p]] + overall) / (seen[group[p]] + 1.0)
    return out


def directories(memory: Memory) -> IntArray:
    """Return each page's directory as a dense number; its site where no paths are known."""
    if memory.load_paths is None:
        return memory.site
    folders = [str(path).rpartition("/")[0] for path in memory.load_paths()]
    keys = [f"{site}/{folder}" for site, folder in zip(memory.site.tolist(), folders, strict=True)]
    return np.asarray(np.unique(keys, return_inverse=True)[1], dtype=np.int64)


_PLAIN: dict[str, Callable[[Memory, float], npt.NDArray[Any]]] = {
    "n": lambda memory, at: memory.n,
    "X": lambda memory, at: memory.changes,
    "since": _since,
    "age": _age,
    "recent": _recent,
    "site": lambda memory, at: _share_of(memory, memory.site),
    "links": _links,
    "importance": _importance,
}
