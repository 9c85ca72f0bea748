"""A living web on loopback: a dead host, a slow one, a disallowed site, a newcomer of 4,000 pages, an outage.

Ten honest hosts with pages that change, and around them all that starves a crawl. Prints a table of what the crawl
asked for and found in each cycle, beside what a simulation of the same web finds where nothing is in the way; every
request is counted in the servers' own log, and in the end the pages of each host that were never asked for.

    python -m benchmarks.living [--cycles 12] [--seconds 4]
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from recrawl.clock import SystemClock
from recrawl.live.choice import DEFAULT
from recrawl.live.directory import CrawlDirectory
from recrawl.live.recorder import Noted
from recrawl.live.session import Session
from recrawl.live.store import Store
from recrawl.plan import Plan
from recrawl.urls.url import host_of
from recrawl.visits import Outcome

HONEST = tuple(f"h{number}.test" for number in range(10))
DEAD, SLOW, SHUT, NEWCOMER, OUTAGE = "dead.test", "slow.test", "shut.test", "newcomer.test", "outage.test"
TRAP = "trap.test"
CYCLE_S = 4.0
NEWCOMER_COMES, OUTAGE_BEGINS, OUTAGE_ENDS = 5, 7, 10  # cycles
TOML = """
[crawl]
signals = false
[fetch]
allow_networks = ["127.0.0.0/8"]
connect_to = [["outage.test", "127.0.0.1:{outage}"], ["dead.test", "127.0.0.1:{dead}"], ["*.test", "127.0.0.1:{port}"]]
[fetch.gate]
min_delay_s = 0.01
latency_factor = 0.0
breaker_s = 0.1
"""


def pace_of(name: str) -> int:
    """Days between two changes of a page."""
    return 1 + sum(name.encode()) % 7


@dataclass
class LivingWeb:
    """Serves the hosts; `day` is the web's calendar, on which every page of an honest host changes at its own pace."""

    honest: tuple[str, ...] = HONEST
    pages: int = 20  # of each honest host, the slow one and the one with an outage
    newcomers: int = 4_000
    slow_delay_s: int = 1  # the slow host's Crawl-delay
    day: int = 0
    log: list[tuple[str, str]] = field(default_factory=list)  # host, path
    authorised: dict[str, set[str]] = field(default_factory=dict)  # by host: the credentials that were sent
    port: int = 0
    outage_port: int = 0

    def __enter__(self) -> LivingWeb:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._do(self._open())
        return self

    def __exit__(self, *_: object) -> None:
        self._do(self._runner.cleanup())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _do(self, work: object) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(20)  # type: ignore[arg-type]

    async def _open(self) -> None:
        self._runner = web.ServerRunner(web.Server(self._answer, access_log=None))
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self._site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await self._site.start()
        self.port, self.outage_port = (int(address[1]) for address in self._runner.addresses)

    def begin_outage(self) -> None:
        """Let the host of the outage refuse connections."""
        self._do(self._site.stop())

    def end_outage(self) -> None:
        """Let it answer again."""
        self._site = web.TCPSite(self._runner, "127.0.0.1", self.outage_port)
        self._do(self._site.start())

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        host = (request.host or "").rsplit(":", 1)[0]
        self.log.append((host, request.path))
        if told := request.headers.get("Authorization"):
            self.authorised.setdefault(host, set()).add(told)
        headers = {"Connection": "close"} if host == OUTAGE else {}
        if request.path == "/robots.txt":
            rules = {SHUT: "Disallow: /", SLOW: f"Crawl-delay: {self.slow_delay_s}\nAllow: /"}
            return web.Response(text=f"User-agent: *\n{rules.get(host, 'Allow: /')}\n", headers=headers)
        text = self._page(host, request.path.strip("/"))
        return web.Response(text=f"<title>{host}</title><p>{text}", content_type="text/html", headers=headers)

    def _page(self, host: str, name: str) -> str:
        if host == TRAP:
            words = ["red", "green", "blue", "white", "black", "grey", "pink", "gold"]
            here = "/".join(part for part in name.split("/") if part)
            return " ".join(f"<a href='/{here}/{word}'>{word}</a>" for word in words).replace("//", "/")
        draw = random.Random(f"{host}{name}{self.day // pace_of(name) if host != NEWCOMER else 0}")
        return " ".join(
            draw.choices(
                ["stone", "river", "light", "hand", "winter", "paper", "glass", "letter", "harbour", "engine"], k=60
            )
        )

    def urls(self, host: str, count: int) -> list[str]:
        """Return the addresses of a host's first pages."""
        return [
            f"http://{host}:{self.port if host != OUTAGE else self.outage_port}/{number}" for number in range(count)
        ]

    def seeds(self) -> list[str]:
        """Return what a user adds to begin with: all hosts but the newcomer."""
        hosts = (*self.honest, SLOW, OUTAGE)
        return [url for host in hosts for url in self.urls(host, self.pages)] + [
            *self.urls(DEAD, self.pages),
            *self.urls(SHUT, 5 * self.pages),
        ]


class Calendar(SystemClock):
    """A day of the web takes as long as the caller says; waits stay real."""

    def __init__(self, web: LivingWeb) -> None:
        self.web = web

    def now(self) -> float:
        """Return the web's day."""
        return 20_000.0 + self.web.day


@dataclass
class Row:
    """What one cycle came to."""

    cycle: int
    requests: Counter[str]  # pages asked for, by host, as the server counted
    robots: int  # robots.txt files asked for
    outcomes: Counter[str]
    seconds: float
    barred: dict[str, int]


def begin(folder: Path, web: LivingWeb) -> CrawlDirectory:
    """Make a crawl of the web."""
    toml = TOML.format(port=web.port, outage=web.outage_port, dead=1)
    directory = CrawlDirectory.init(folder, toml)
    add(directory, web.seeds())
    return directory


def add(directory: CrawlDirectory, urls: list[str]) -> None:
    """Add pages while nobody holds the crawl."""
    store = Store.open(directory.state)
    store.load_index()
    with store.transaction():
        store.add_pages(urls, [host_of(url) for url in urls], 20_000.0)
    store.close()


def run(directory: CrawlDirectory, web: LivingWeb, policy: str, plan: Plan, cycle_s: float = CYCLE_S) -> Row:
    """Run one cycle, on the web's next day; return what it came to."""
    web.day += 1
    logged, seen = len(web.log), Counter[str]()

    def watch(noted: Noted) -> None:
        seen[Outcome(noted.record.outcome).name.lower()] += 1

    with Session(directory, policy, plan, clock=Calendar(web), watch=watch) as session:
        opened = time.monotonic()
        session.world.room_s = cycle_s
        session.world.lanes.patience_s = 0.5
        session.run_cycle()
        barred, cycle = session.store.count_barred(), session.memory.cycle
        seconds = time.monotonic() - opened
    asked = web.log[logged:]
    robots = sum(path == "/robots.txt" for _, path in asked)
    return Row(cycle, Counter(host for host, path in asked if path != "/robots.txt"), robots, seen, seconds, barred)


def simulated(living: LivingWeb, policy: str, plan: Plan, cycles: int, cycle_s: float) -> list[tuple[int, int, int]]:
    """Return visits, changes and first copies of each cycle of the same crawl in a simulation."""
    from benchmarks.living_simulated import Site, simulate

    paces = tuple(pace_of(str(number)) for number in range(living.pages))
    slow = Site(paces, room=1 + int(cycle_s / living.slow_delay_s))
    outage = Site(paces, down=tuple(range(OUTAGE_BEGINS, OUTAGE_ENDS)))
    newcomer = Site((0,) * living.newcomers, born=NEWCOMER_COMES - 0.5)
    return simulate([*[Site(paces) for _ in living.honest], slow, outage, newcomer], policy, plan, cycles)


def never_asked(living: LivingWeb) -> str:
    """Say how many of each host's pages no request was for."""
    asked = {(host, path) for host, path in living.log}
    hosts = [*((host, living.pages) for host in (*living.honest, SLOW, OUTAGE)), (NEWCOMER, living.newcomers)]
    missing = {host: sum((host, f"/{number}") not in asked for number in range(count)) for host, count in hosts}
    return ", ".join(f"{host} {count}" for host, count in missing.items() if count) or "none"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--policy", default=DEFAULT)
    parser.add_argument("--cycles", type=int, default=12)
    parser.add_argument("--budget", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=CYCLE_S, help="that a cycle's visits may take")
    args = parser.parse_args()
    plan = Plan(1.0, args.budget)
    columns = "honest slow outage newcomer shut dead"
    with LivingWeb() as living, tempfile.TemporaryDirectory() as folder:
        beside = simulated(living, args.policy, plan, args.cycles, args.seconds)
        print(f"cycle  what happens      requests ({columns}) robots | live: changed first failed | simulated: visits")
        print("       changed first | seconds, barred")
        directory = begin(Path(folder) / "crawl", living)
        for cycle in range(1, args.cycles + 1):
            event = ""
            if cycle == NEWCOMER_COMES:
                event = "newcomer: 4,000"
                add(directory, living.urls(NEWCOMER, living.newcomers))
            if cycle == OUTAGE_BEGINS:
                event = "outage begins"
                living.begin_outage()
            if cycle == OUTAGE_ENDS:
                event = "outage ends"
                living.end_outage()
            row = run(directory, living, args.policy, plan, args.seconds)
            counts = [sum(row.requests[host] for host in living.honest)]
            counts += [row.requests[host] for host in (SLOW, OUTAGE, NEWCOMER, SHUT, DEAD)]
            found = [row.outcomes[name] for name in ("changed", "first", "failed")]
            print(
                f"{row.cycle:>5}  {event:<16} {sum(counts):>5} ({' '.join(map(str, counts))}) {row.robots:>3} | "
                f"{' '.join(f'{n:>4}' for n in found)} | {' '.join(f'{n:>4}' for n in beside[cycle - 1])} | "
                f"{row.seconds:.1f}, {row.barred}", flush=True,
            )  # fmt: skip
        print(f"pages that were never asked for: {never_asked(living)}")


if __name__ == "__main__":
    main()
