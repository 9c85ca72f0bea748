"""Pages whose visits fail again and again are asked ever less often, and leave the budget to others."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from recrawl.live.facade import Crawl
from recrawl.memory import Memory
from recrawl.visits import Outcome, Visits, no_pages
from support.live_crawls import Days, settings
from support.loopback_servers import Answer, Asked, Loopback

CYCLES = 16


def visit(memory: Memory, outcome: Outcome) -> None:
    none = np.zeros(1, dtype=np.int64)
    found = np.array([outcome], dtype=np.uint8)
    memory.record(Visits(none, np.zeros(1), found, none, none, np.zeros(1), no_pages()))


def test_a_page_that_fails_is_eligible_after_four_cycles_then_eight_and_so_on() -> None:
    """Three failed visits in a row cost nothing yet (a 404 is asked three times); any answer begins anew."""
    memory = Memory(np.arange(2), np.zeros(2, dtype=np.int32))
    memory.learn_of(np.arange(2), 0.0)
    asked = []
    for cycle in range(1, 140):
        memory.begin_cycle()
        assert memory.eligible()[1]
        if memory.eligible()[0]:
            asked.append(cycle)
            visit(memory, Outcome.FAILED)
    assert asked == [1, 2, 3, 7, 15, 31, 63, 95, 127]
    memory.cycle = 158
    memory.begin_cycle()
    visit(memory, Outcome.FIRST)
    memory.begin_cycle()
    assert memory.eligible().all()


def test_half_a_site_that_refuses_leaves_the_budget_to_the_other_half(tmp_path: Path) -> None:
    """Pages that answer 403 from some day on are asked five times in sixteen cycles; `status` and `show` say so."""

    def answer(asked: Asked) -> Answer:
        if asked.path == "/robots.txt":
            return 404, {}, b""
        refuses = calendar.day > 7 and asked.path.startswith("/shut")
        return (403 if refuses else 200), {}, f"<title>page</title><p>the time is {time.time_ns()} words".encode()

    calendar = Days()
    with Loopback(answer) as server:
        at = f"http://a.replay:{server.port}"
        with Crawl.create(tmp_path / "news", settings("age", "6"), clock=calendar) as crawl:
            crawl.add(*[f"{at}/{name}{number}" for name in ("open", "shut") for number in range(6)])
            calendar.day = 7.0
            crawl.run(cycles=1)  # a warm-up
            for cycle in range(2, CYCLES + 2):
                calendar.day = 7.0 * cycle
                crawl.run(cycles=1)
        asked = [each.path for each in server.asked]
        status, shown = crawl.status(), [crawl.page(f"{at}/shut{number}").why for number in range(6)]
    visits = sum(path.startswith("/open") for path in asked)
    assert visits > 6 + 0.6 * 6 * CYCLES
    assert max(asked.count(f"/shut{number}") for number in range(6)) <= 6
    assert any("whose visits failed rest" in note for note in status["notes"])
    assert any("its last visits failed" in why for why in shown)  # which of them rest now depends on who answered first
