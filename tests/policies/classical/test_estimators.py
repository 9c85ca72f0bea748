"""The classical estimators and the likeliest rate, against examples worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.columns import PageIds
from recrawl.memory import NEVER, Memory
from recrawl.policies.classical import estimators
from recrawl.policies.classical.gaps import GapLog
from recrawl.policies.topk import Estimated
from recrawl.policy import Named
from recrawl.visits import Visits
from reference.likeliest import likeliest_rate
from support.handmade_memory import remember

HISTORIES = st.lists(st.text("uc.", min_size=6, max_size=6), min_size=1, max_size=5)

# visits in cycles 1, 2 and 3 found a change, none, a change; no visit in cycle 4; cycle 5 is open: n = 3, X = 2, t = 2
BY_HAND = [
    ("cg", "visits", -math.log((3 - 2 + 0.5) / (3 + 0.5))),  # Santos et al. 2014, eq. 4
    ("nad", "visits", 2 / 3),  # w_i = 1/n
    ("nad", "cycles", 2 / 4),
    ("sad", "visits", 1.0),  # w_n = 1: the third visit found a change
    ("sad", "cycles", 0.0),  # in the fourth cycle nothing was seen
    ("aad", "visits", (1 + 3) / (1 + 2 + 3)),  # w_i = 2i/(n(n+1))
    ("aad", "cycles", (1 + 3) / (1 + 2 + 3 + 4)),
    ("gad", "visits", (1 + 4) / (1 + 2 + 4)),  # w_i = 2^(i-1)/(2^n - 1)
    ("gad", "cycles", (1 + 4) / (1 + 2 + 4 + 8)),
    ("bayes", "visits", 2.5 / 4),  # (X + 1/2)/(n + 1)
]


def rate(name: str, over: str, *histories: str) -> list[float]:
    memory = remember(*histories)
    estimate = getattr(estimators, name)
    found = estimate(memory, over) if name in ("nad", "sad", "aad", "gad") else estimate(memory)
    return [float(value) for value in found]


@pytest.mark.parametrize(("name", "over", "expected"), BY_HAND)
def test_rates(name: str, over: str, expected: float) -> None:
    """Each rate is the paper's formula, with weights over visits and over cycles."""
    assert rate(name, over, "cuc.")[0] == pytest.approx(expected, rel=1e-12)


def test_probability() -> None:
    """The chance of a change is 1 - exp(-rate t), eq. 5, with t the cycles since the last visit."""
    phi = Estimated(estimators.nad).score(remember("cuc.", "uuuu", "c"), 5.0)
    assert phi == pytest.approx([1 - math.exp(-2 / 3 * 2), 0.0, 1 - math.exp(-1.0 * 4)])


def test_never_compared() -> None:
    """A page without a comparison has rate 0, and Bayes' prior mean a/b."""
    for name in ("cg", "nad", "sad", "aad", "gad"):
        assert rate(name, "visits", "f", "?", ".") == [0.0, 0.0, 0.0]
    assert rate("bayes", "visits", "f", "?", ".") == [0.5, 0.5, 0.5]
    assert estimators.bayes(remember("cu"), a=1.0, b=2.0) == pytest.approx([2 / 4])


@given(HISTORIES)
def test_weights_as_defined(histories: list[str]) -> None:
    """The running sums of the memory give the weighted sums of the definition, over visits and cycles."""
    memory = remember(*histories)
    for page, history in enumerate(histories):
        visited = [mark == "c" for mark in history if mark != "."]
        cycles = [mark == "c" for mark in history]
        for over, found in (("visits", visited), ("cycles", cycles), ("open cycles", [*cycles, False])):
            n = max(len(found), 1)
            assert estimators.nad(memory, over)[page] == pytest.approx(sum(found) / n)
            assert estimators.sad(memory, over)[page] == (float(found[-1]) if found else 0.0)
            arithmetic = sum(i * x for i, x in enumerate(found, 1)) / (n * (n + 1) / 2)
            assert estimators.aad(memory, over)[page] == pytest.approx(arithmetic)
            geometric = sum(2 ** (i - 1) * x for i, x in enumerate(found, 1)) / (2**n - 1)
            assert estimators.gad(memory, over)[page] == pytest.approx(geometric)


@given(HISTORIES)
def test_memory_is_a_recount_of_the_visits(histories: list[str]) -> None:
    """What the memory holds is what counting through the list of visits gives."""
    memory = remember(*histories, cycle_days=2.0)
    for page, history in enumerate(histories):
        seen = [(cycle, mark) for cycle, mark in enumerate(history, 1) if mark != "."]
        changed = [cycle for cycle, mark in seen if mark == "c"]
        last = [0, *(cycle for cycle, _ in seen)]
        gaps = [(now - before) * 2.0 for before, (now, mark) in zip(last, seen, strict=False) if mark == "u"]
        assert memory.n[page] == len(seen)
        assert memory.changes[page] == len(changed)
        assert memory.last_cycle[page] == last[-1]
        assert memory.last_visit[page] == last[-1] * 2.0
        assert memory.unchanged_days[page] == pytest.approx(sum(gaps))
        assert np.array_equal(memory.last_change[page], changed[-1] * 2.0 if changed else np.nan, equal_nan=True)
        assert memory.ring[page] == sum((mark == "c") << age for age, (_, mark) in enumerate(reversed(seen)))


def test_memory_of_firsts_failures_and_the_gone() -> None:
    """A first copy is not a comparison, a failure is no visit, and a gone page is not eligible."""
    memory = remember("f", "x", "cx", "ug", "?")
    assert memory.n.tolist() == [0, 0, 1, 1, 0]
    assert memory.last_cycle.tolist() == [1, NEVER, 1, 2, NEVER]
    assert memory.unfetched().tolist() == [False, True, False, False, True]
    assert memory.eligible().tolist() == [True, True, True, False, True]


def rate_after(history: str, cycle_days: float, log: GapLog | None = None) -> float:
    log = log or GapLog()
    memory = remember(history, policy=Logging(log), cycle_days=cycle_days)
    return float(log.rates(len(memory))[0])


def test_likeliest_rate_by_hand() -> None:
    """The rate solves sum a/(exp(Da) - 1) = sum of unchanged gaps, with a pseudo-gap of half a day of each kind."""
    assert rate_after(".", 1.0) == pytest.approx(2 * math.log(2))  # .5/(z - 1) = .5 with z = exp(D/2)
    assert rate_after("uu", 7.0) == pytest.approx(2 * math.log(1 + 0.5 / 14.5))
    # one changed gap of a day: .5/(z - 1) + 1/(z^2 - 1) = .5, so z^2 - z - 4 = 0
    assert rate_after("c", 1.0) == pytest.approx(2 * math.log((1 + math.sqrt(17)) / 2))
    assert rate_after(".", 1.0, GapLog(7.0)) == pytest.approx(math.log(2) / 7)


@given(HISTORIES)
def test_gap_log(histories: list[str]) -> None:
    """The log's chains give the rates that solve the likelihood equation, from the copy that the crawl started with."""
    log = GapLog()
    memory = remember(*histories, policy=Logging(log), cycle_days=3.0)
    for page, history in enumerate(histories):
        gaps: dict[str, list[float]] = {"c": [], "u": []}
        last = 0
        for cycle, mark in enumerate(history, 1):
            if mark != ".":
                gaps[mark].append(3.0 * (cycle - last))
                last = cycle
        expected = likeliest_rate(gaps["c"], sum(gaps["u"]))
        assert log.rates(len(memory))[page] == pytest.approx(expected, rel=1e-9)


def test_gap_log_needs_a_copy_to_begin_a_gap() -> None:
    """Failures leave the gap open, and a first copy begins one without ending any."""
    log = GapLog()
    remember("fx.cg", policy=Logging(log))
    assert log.rates(1)[0] == pytest.approx(likeliest_rate([3.0], 0.0))
    assert log.rates(3)[2] == pytest.approx(2 * math.log(2))


class Logging(Named):
    """A policy that only keeps the log."""

    def __init__(self, log: GapLog) -> None:
        self.log = log

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        return np.empty(0, dtype=np.int64)

    def learn(self, memory: Memory, visits: Visits) -> None:
        self.log.learn(memory, visits)
