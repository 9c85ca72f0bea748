"""Crawlers with intervals: each rule with its shipped constants, and who is visited when many are due."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from recrawl.cycle import run_cycle
from recrawl.policies.catalogue import make_policy
from recrawl.policies.classical.adaptive import Nutch, StormCrawler
from recrawl.policies.classical.intervals import IntervalRule, Intervals
from recrawl.policy import Setting
from recrawl.simulate.recorded import RecordedWorld
from support.handmade_memory import choice, remember, visits
from support.small_recordings import recording

MINUTE = 1 / 1440


def schedule(rule: IntervalRule, *steps: tuple[str, float]) -> list[list[float]]:
    """Visit one page with these outcomes at these times; return its interval and due time after each visit, rounded."""
    policy = Intervals(rule)
    found = []
    for mark, at in steps:
        policy.learn(remember("."), visits([0], mark, at))
        found.append([round(float(column[0]), 9) for column in (policy.books.interval_days, policy.books.due_at)])
    return found


def test_nutch_by_hand() -> None:
    """I = 30 d; changed: I * 0.8; unchanged: I * 1.4; d days after the last change, I >= d and due 0.3 d earlier."""
    steps = schedule(Nutch(), ("c", 10.0), ("u", 40.0), ("u", 100.0), ("c", 170.0))
    assert steps == [
        [24.0, 34.0],  # d = 0
        [33.6, 64.6],  # d = 30 < 33.6: due 40 - 9 + 33.6
        [90.0, 163.0],  # d = 90 > 33.6 * 1.4: due 100 - 27 + 90
        [72.0, 242.0],
    ]


def test_nutch_without_sync() -> None:
    """Without sync the next visit comes a whole interval after this one."""
    assert schedule(Nutch(sync=False), ("c", 10.0), ("u", 40.0))[-1] == [33.6, 73.6]


def test_nutch_limits() -> None:
    """Intervals stay between a minute and a year; a first copy leaves the interval as it is."""
    assert schedule(Nutch(first_days=MINUTE), ("c", 1.0))[0][0] == pytest.approx(MINUTE)
    assert schedule(Nutch(first_days=300.0), ("u", 1.0)) == [[365.0, 366.0]]
    assert schedule(Nutch(), ("f", 5.0)) == [[30.0, 35.0]]


def test_nutch_failures() -> None:
    """A failure is repeated after a day, three times; then, as for a gone page, I *= 1.5, or 81 d near 90 d."""
    failing = schedule(Nutch(), ("x", 1.0), ("x", 2.0), ("x", 3.0), ("x", 4.0))
    assert failing == [[30.0, 2.0], [30.0, 3.0], [30.0, 4.0], [45.0, 49.0]]
    assert schedule(Nutch(), ("x", 1.0), ("x", 2.0), ("u", 3.0), ("x", 4.0))[-1][1] == 5.0  # an answer starts anew
    assert schedule(Nutch(first_days=60.0), ("g", 1.0)) == [[81.0, 82.0]]


def test_stormcrawler_by_hand() -> None:
    """Minutes: 1440; changed: floor(0.5 I + 0.5 * 60); unchanged: min(floor(1.5 I), 20160)."""
    steps = schedule(StormCrawler(), ("f", 1.0), ("c", 2.0), ("c", 3.0), ("c", 4.0), ("u", 5.0))
    minutes = [interval / MINUTE for interval, _ in steps]
    assert minutes == pytest.approx([1440, 750, 405, 232, 348])  # 0.5 * 405 + 30 = 232.5
    assert steps[-1][1] == pytest.approx(5 + 348 * MINUTE)
    assert schedule(StormCrawler(first_days=13.0), ("u", 0.0))[0][0] == pytest.approx(14.0)


def test_stormcrawler_failures() -> None:
    """A failure waits 120 minutes and forgets the interval; the third in a row waits a month."""
    steps = schedule(StormCrawler(), ("c", 1.0), ("x", 2.0), ("x", 3.0), ("x", 4.0), ("u", 40.0))
    assert [due - at for (_, due), at in zip(steps, (1, 2, 3, 4, 40), strict=True)] == pytest.approx(
        [750 * MINUTE, 120 * MINUTE, 120 * MINUTE, 31.0, 1.5]
    )


def test_news_crawl_constants() -> None:
    """Common Crawl's news crawl is stormcrawler(least=90m, most=90d, dec=0.2)."""
    policy = cast(Intervals, make_policy("stormcrawler(least=90m, most=90d, dec=0.2)", Setting()))
    policy.learn(remember(".", "."), visits([0, 1], "cu", 0.0))
    assert policy.books.interval_days[:2] / MINUTE == pytest.approx([0.8 * 1440 + 0.2 * 90, 2160])


def test_fixed_interval_in_a_crawl() -> None:
    """A page with a 3-day interval is visited on days 3, 6 and 9, and the rest of the budget stays unspent."""
    web = recording(9, [(0.5, 4.5), ()])
    world = RecordedWorld(web)
    memory, policy = world.memory(cycle_days=1.0), make_policy("fixed(3d)", Setting())
    visited = [[len(v) for v in run_cycle(world, memory, policy, 2, day)] for day in range(1, 10)]
    assert visited == [[], [], [2], [], [], [2], [], [], [2]]
    assert memory.changes.tolist() == [2, 0]


def test_fill_spends_the_rest_on_the_next_due() -> None:
    """With fill the budget is spent: the page due sooner, though not yet due, comes next."""
    histories = ("..u", ".u.", "u..")  # with 10 days: due on days 13, 12, 11; it is day 4
    assert choice("fixed(10d)", *histories, budget=2) == []
    assert choice("fixed(10d, fill=yes)", *histories, budget=2) == [2, 1]


def test_due_pages_by_importance_then_longest_due() -> None:
    """Missing copies come first, then due pages by importance and due time; pages that are not due wait."""
    histories, importance = ("u...", ".u..", "u...", "?", "...u"), [1.0, 1.0, 5.0, 0.0, 9.0]
    assert choice("fixed(2d)", *histories, budget=9, importance=importance) == [3, 2, 0, 1]
    assert choice("fixed(2d, fill=yes)", *histories, budget=9, importance=importance) == [3, 2, 0, 1, 4]
    assert set(choice("fixed(2d)", *histories, budget=9)) == {0, 1, 2, 3}


def test_ache_visits_relevant_pages_again() -> None:
    """Pages of relevance below 299 are fetched once; without relevances all are fetched every hour."""
    importance = [300.0, -299.0, 298.0, 1.0]
    histories = ("u", "u", "u", "?")
    assert choice("ache", *histories, budget=9, importance=importance) == [3, 0, 1]
    assert sorted(choice("ache", *histories, budget=9)) == [0, 1, 2, 3]


def test_a_failed_first_fetch_waits() -> None:
    """A page that did not answer at its first visit is due when the rule says so, not at once."""
    assert choice("nutch(retry=2d)", "x", budget=1) == []  # tried on day 1, it is day 2
    assert choice("nutch(retry=1d)", "x", budget=1) == [0]


def test_books_grow() -> None:
    """Pages beyond the first ones seen get rows of their own."""
    policy = Intervals(Nutch())
    policy.learn(remember("."), visits([0], "u", 1.0))
    memory = remember(*["."] * 8)
    policy.learn(memory, visits([7], "c", 2.0))
    assert policy.due_at(memory)[[1, 7]] == pytest.approx([30.0, 2.0 + 24.0])
    assert np.isnan(policy.books.due_at[3])
