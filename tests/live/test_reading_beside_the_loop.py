"""Reading beside the event loop: no page holds up other hosts, and none takes more than its CPU limit."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from pathlib import Path

from benchmarks.living import Calendar, LivingWeb, add, begin

from recrawl.fetch.outcome import FetchResult, Kind
from recrawl.live.page_reader import PageReader
from recrawl.live.session import Session
from recrawl.plan import Plan
from recrawl.see.fingerprint import digest_of_bytes
from recrawl.see.page import see_page
from recrawl.urls.url import host_of

LARGE = b"<p>" + b"some words 12:34:56 and 5 views, token=abc " * 60_000  # 2.6 MB
URL = "http://a.example/"


def answer(body: bytes) -> FetchResult:
    return FetchResult(URL, Kind.OK, status=200, body=body, final_url=URL, headers=(("content-type", "text/html"),))


def test_a_large_page_says_in_a_process_what_it_says_here() -> None:
    """What a reading process returns is what see_page returns, one page after the other."""

    async def read() -> None:
        reader = PageReader()
        seen = await reader.see(answer(LARGE))
        assert seen == see_page(LARGE, URL, (("content-type", "text/html"),))
        assert (await reader.see(answer(LARGE + b"more"))).words == seen.words + 1
        assert len(reader._idle) == 1, "one process did both"
        await reader.close()

    asyncio.run(read())


def test_a_page_that_takes_too_long_is_an_outcome_of_its_own_visit() -> None:
    """It is unreadable, with the limit as the reason; the process is replaced, and the next page is read."""

    async def read() -> None:
        reader = PageReader(cpu_limit_s=0.005)
        seen = await reader.see(answer(LARGE))
        assert seen.unreadable == "it takes more than 0.005 s of CPU time to read"
        assert seen.digest == digest_of_bytes(LARGE)
        reader.cpu_limit_s = 60.0
        assert (await reader.see(answer(LARGE))).words > 100_000
        assert reader.replaced == 1
        await reader.close()

    asyncio.run(read())


def test_a_process_that_ended_while_idle_costs_no_page() -> None:
    """The next large page is read by a new one; Ctrl-C in a terminal, which is for the group, reaches none of them."""

    async def read() -> None:
        reader = PageReader()
        await reader.see(answer(LARGE))
        (idle,) = reader._idle
        assert os.getpgid(idle.pid) != os.getpgrp()
        idle.kill()
        await idle.wait()
        assert (await reader.see(answer(LARGE))).words > 100_000
        assert reader.replaced == 0
        await reader.close()

    asyncio.run(read())


HUGE = "huge.test"
HOSTS = tuple(f"h{number}.test" for number in range(20))


class HugePageWeb(LivingWeb):
    """Twenty small hosts, and one whose page is as large as a page may be, of all that is slow to read."""

    def _page(self, host: str, name: str) -> str:
        if host != HUGE or name != "0":
            return super()._page(host, name)
        links = "".join(f'<a class="x" href="/{self.day}/{n}?a=1">w {n}</a> ' for n in range(6_000))
        rest = "token= 10:15 jan 1.1. took &#1; <b id=x>é- views " * 300_000
        return f"Edition {chr(97 + self.day) * 3}. {links}{rest}"[:9_900_000]


async def _beat(stalls: list[float]) -> None:
    """Note how much CPU time the loop's thread spends from one beat to the next; other processes do not count."""
    before = time.thread_time()
    while True:
        await asyncio.sleep(0.002)
        now = time.thread_time()
        stalls.append(now - before)
        before = now


def test_the_largest_page_stalls_nobody(tmp_path: Path) -> None:
    """A hostile page of 9.9 MB is read and compared beside twenty hosts; the loop never works .25 s without a pause."""
    with HugePageWeb(HOSTS, pages=3, slow_delay_s=0) as web:
        directory = begin(tmp_path / "crawl", web)
        clock, plan, stalls, outcomes = Calendar(web), Plan(1.0, 100, warmup=0, discovery=0.1), list[float](), []
        with Session(directory, "age", plan, clock=clock, watch=lambda noted: outcomes.append(noted)) as session:
            session.run_cycle()  # loads kernels
            session.run_cycle()
        add(directory, web.urls(HUGE, 1))
        before = len(outcomes)
        with Session(directory, "age", plan, clock=clock, watch=lambda noted: outcomes.append(noted)) as session:
            beat = session.runner.get_loop().create_task(_beat(stalls))
            for _ in range(5):  # its visit may end in the cycle after the one in which it began
                web.day += 1
                session.run_cycle()
                huge = [noted.record for noted in outcomes if noted.url == web.urls(HUGE, 1)[0]]
                if len(huge) == 2:
                    break
            beat.cancel()
        assert [record.outcome for record in huge] == [2, 1], "first, then changed"
        assert huge[0].words > 1_000_000
        visits = Counter(host_of(noted.url) for noted in outcomes[before:])
        assert min(visits[host] for host in HOSTS) >= 3, visits
        assert max(stalls) < 0.25, sorted(stalls)[-5:]


class ManyHostsWeb(LivingWeb):
    """Many hosts, each with a page that is slow to read and just small enough to be read at once."""

    def _page(self, host: str, name: str) -> str:
        return f"{host} {name} on day {self.day}. " + "token= 10:15 jan 1.1. took &#1; <b id=x>é- views " * 1_250


def test_pages_that_come_together_stall_nobody(tmp_path: Path) -> None:
    """Ninety answers of 60 KB that come at once are read in pieces, between which the loop serves other hosts."""
    hosts = tuple(f"m{number}.test" for number in range(90))
    with ManyHostsWeb(hosts, pages=1, slow_delay_s=0) as web:
        directory = begin(tmp_path / "crawl", web)
        plan, stalls, outcomes = Plan(1.0, 100, warmup=0), list[float](), []
        with Session(
            directory, "age", plan, clock=Calendar(web), watch=lambda noted: outcomes.append(noted)
        ) as session:
            session.run_cycle()  # loads kernels
            beat = session.runner.get_loop().create_task(_beat(stalls))
            web.day += 1
            session.run_cycle()
            beat.cancel()
        assert sum(host_of(noted.url) in hosts for noted in outcomes) == 180
        assert 50_000 < outcomes[0].record.body_bytes < 65_536
        assert max(stalls) < 0.25, sorted(stalls)[-5:]


def test_a_round_in_which_no_host_may_be_asked_ends(tmp_path: Path) -> None:
    """Where every chosen page is released before its host is asked, or all answers are there already, a round ends."""
    with LivingWeb(HOSTS[:1], pages=2, slow_delay_s=0) as web:
        directory = begin(tmp_path / "crawl", web)
        with Session(directory, "age", Plan(1.0, 10, warmup=0), clock=Calendar(web)) as session:
            session.run_cycle()
            round_ = session.world._visit_round(0)
            session.runner.run(asyncio.wait_for(round_, 20))
            web.day += 1
            session.run_cycle()
            assert session.store.visits_in(2) == 6, "and the next rounds read what comes"
