"""The politeness gate: no host is asked sooner than it should be, whatever happens."""

from __future__ import annotations

import asyncio
import itertools
import re
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recrawl
from hostile.asking import with_fetcher
from hostile.hostile_server import HostileServer, answer, reset
from recrawl.clock import SystemClock
from recrawl.errors import InputError
from recrawl.fetch.agent import user_agent
from recrawl.fetch.fetcher import Fetcher
from recrawl.fetch.gate import Gate, HostState
from recrawl.fetch.outcome import Kind
from recrawl.fetch.settings import FetchSettings, GateSettings
from support.manual_clock import ManualClock

T = TypeVar("T")
PAGE = answer("<p>some words")


def run(work: Awaitable[T]) -> T:
    async def main() -> T:
        return await work

    return asyncio.run(main())


async def ask_once(gate: Gate, host: str = "h", *, takes_s: float = 0.0, failed: bool = False) -> float:
    """Go through the gate once; returns when the request went out."""
    assert await gate.enter(host, 1e9)
    sent_s = gate.clock.monotonic_s()
    if takes_s:
        await gate.clock.sleep(takes_s)
    gate.leave(host, latency_s=takes_s, failed=failed)
    return sent_s


@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 20), st.booleans()), max_size=20))
def test_requests_keep_their_distance(requests: list[tuple[str, float, bool]]) -> None:
    """Between the end of one answer and the next request to the same host lies at least the delay, failures or not."""

    async def crawl() -> None:
        gate = Gate(ManualClock(), GateSettings(min_delay_s=2.0, breaker_failures=3))
        ended_s: dict[str, float] = {}
        for host, takes_s, failed in requests:
            sent_s = await ask_once(gate, host, takes_s=takes_s, failed=failed)
            assert sent_s - ended_s.get(host, float("-inf")) >= 2.0 - 1e-6
            ended_s[host] = gate.clock.monotonic_s()

    run(crawl())


def test_one_connection_a_host_by_default() -> None:
    """Two fetches of one host never overlap; two hosts do."""

    async def crawl() -> None:
        gate = Gate(SystemClock(), GateSettings(min_delay_s=0.0, latency_factor=0.0))
        open_now: dict[str, int] = {"a": 0, "b": 0}
        together: list[dict[str, int]] = []

        async def fetch(host: str) -> None:
            assert await gate.enter(host, 10.0)
            open_now[host] += 1
            together.append(dict(open_now))
            await asyncio.sleep(0.01)
            open_now[host] -= 1
            gate.leave(host)

        await asyncio.gather(*(fetch(host) for host in "aabbaabb"))
        assert max(count for moment in together for count in moment.values()) == 1
        assert any(moment == {"a": 1, "b": 1} for moment in together)

    run(crawl())


def test_slow_hosts_are_asked_less_often() -> None:
    """The delay is five times the host's recent latency, within bounds."""

    async def crawl() -> None:
        gate = Gate(ManualClock(), GateSettings(min_delay_s=1.0, max_delay_s=30.0, latency_factor=5.0))
        await ask_once(gate, takes_s=0.1)
        assert gate.delay_s("h") == 1.0
        await ask_once(gate, "slow", takes_s=4.0)
        assert gate.delay_s("slow") == pytest.approx(20.0)
        await ask_once(gate, "slow", takes_s=60.0)
        assert gate.delay_s("slow") == 30.0

    run(crawl())


def test_the_breaker_opens_and_closes() -> None:
    """After five failures in a row a host is left alone for a minute, then two, four; one good answer closes it."""

    async def crawl() -> None:
        gate = Gate(ManualClock(), GateSettings(min_delay_s=1.0))
        for _ in range(5):
            await ask_once(gate, failed=True)
        assert gate.ready_in_s("h") == pytest.approx(60)
        assert await gate.enter("h", 30.0) is False
        await ask_once(gate, failed=True)
        assert gate.ready_in_s("h") == pytest.approx(120)
        await ask_once(gate)
        assert gate.ready_in_s("h") == pytest.approx(1)
        await ask_once(gate, failed=True)
        assert gate.ready_in_s("h") == pytest.approx(1)

    run(crawl())


def test_backing_off_doubles_without_retry_after() -> None:
    """A host that says 429 without a date is left alone for longer each time."""
    gate = Gate(ManualClock())
    assert [gate.back_off("h", "") for _ in range(3)] == [60, 120, 240]
    assert gate.back_off("h", "7") == 7
    assert gate.ready_in_s("h") == pytest.approx(240)


@given(st.floats(0, 500), st.floats(-50, 50), st.floats(0, 100_000))
def test_a_restart_never_shortens_a_delay(wait_s: float, jump_days: float, passed_s: float) -> None:
    """After a restart every host waits at least its whole delay, even if the calendar was set meanwhile."""

    async def crawl() -> None:
        clock = ManualClock()
        before = Gate(clock, GateSettings(min_delay_s=3.0))
        before.back_off("h", str(int(wait_s)))
        before.set_crawl_delay("slow", 10.0)
        states = before.export_changed()
        assert {state.host for state in states} == {"h", "slow"}
        assert before.export_changed() == []
        clock.advance(passed_s)
        clock.set_wall(clock.now() + jump_days)
        after = Gate(clock, GateSettings(min_delay_s=3.0))
        after.restore(states)
        assert after.ready_in_s("h") >= 3.0 - 1e-6
        assert after.ready_in_s("slow") >= 10.0 - 1e-6
        assert after.ready_in_s("stranger") >= 3.0 - 1e-6, "it may have been asked just before the crash"
        assert after.ready_in_s("h") <= max(wait_s, 3.0) + 1e-6

    run(crawl())


def test_a_restart_remembers_long_waits() -> None:
    """A host that asked for an hour still has the rest of it after a restart."""
    clock = ManualClock()
    gate = Gate(clock)
    gate.restore([HostState("h", clock.now() - 600 / 86_400, wait_s=3_600, delay_s=1.0, failures=6)])
    assert gate.ready_in_s("h") == pytest.approx(3_000, abs=1)


def test_cancelled_waiters_leave_the_gate_open() -> None:
    """A fetch that is cancelled while it waits or while it runs does not hold up the host."""

    async def crawl() -> None:
        gate = Gate(SystemClock(), GateSettings(min_delay_s=0.2, latency_factor=0.0))
        await ask_once(gate)
        waiting = asyncio.create_task(gate.enter("h", 10.0))
        await asyncio.sleep(0.01)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert waiting.cancelled()
        asked_s = time.monotonic()
        await asyncio.wait_for(ask_once(gate), 10.0)
        assert time.monotonic() - asked_s < 5.0  # its delay, not the waiter's ten seconds

    run(crawl())


def test_the_servers_log_shows_the_delay() -> None:
    """In the log of a real server no two requests are closer than the delay, across many fetches at once."""

    async def script(fetcher: Fetcher, server: HostileServer) -> None:
        results = await asyncio.gather(*(fetcher.fetch(server.url(f"/{i}")) for i in range(6)))
        assert {result.kind for result in results} == {Kind.GONE}
        times = [asked.at_s for asked in server.asked]
        assert len(times) == 7, "robots.txt once, then six pages"
        assert min(b - a for a, b in itertools.pairwise(times)) >= 0.1

    with_fetcher({}, script, gate=GateSettings(min_delay_s=0.1, latency_factor=0.0), max_wait_s=10.0)


def test_failing_hosts_do_not_hold_up_others() -> None:
    """While one host resets every connection, the pages of another one come in as always."""

    async def script(fetcher: Fetcher, server: HostileServer) -> None:
        bad = [fetcher.fetch(server.url(f"/{i}", "bad.test")) for i in range(20)]
        good = [fetcher.fetch(server.url("/", "good.test")) for _ in range(20)]
        results = await asyncio.gather(*bad, *good)
        assert all(result.kind is Kind.OK for result in results[20:])
        assert all(result.kind is not Kind.OK for result in results[:20])
        assert sum(asked.host.startswith("bad") for asked in server.asked) < 10, "the breaker opened"

    plays = (
        {"good.test/": PAGE}
        | {f"bad.test/{i}": reset for i in range(20)}
        | {"bad.test/robots.txt": answer("", "404 No")}
    )
    with_fetcher(plays, script, gate=GateSettings(min_delay_s=0.0, latency_factor=0.0))


def test_only_the_clock_reads_the_clock() -> None:
    """No module of fetch or see reads the time or sleeps by itself, so tests can bring their own time."""
    source = Path(recrawl.__file__).parent
    own = re.compile(
        r"\btime\.(?:time|monotonic|perf_counter|sleep)\(|datetime\.(?:now|utcnow)\(|asyncio\.sleep\(|\.time\(\)"
    )
    files = [*(source / "fetch").glob("*.py"), *(source / "see").glob("*.py")]
    assert files
    assert [path.name for path in files if own.search(path.read_text().replace("clock.now()", ""))] == []


def test_settings_that_make_no_sense_are_refused() -> None:
    """Settings that make no sense are refused in one line."""
    assert abs(SystemClock().now() - 20_000) < 20_000
    assert user_agent("https://example.org/bot").endswith("(+https://example.org/bot)")
    with pytest.raises(InputError, match="plain ASCII"):
        FetchSettings(contact="evil\r\nX: y")
    with pytest.raises(InputError, match="positive"):
        FetchSettings(deadline_s=0)
    with pytest.raises(InputError, match="at least one connection"):
        FetchSettings(gate=GateSettings(connections=0))
