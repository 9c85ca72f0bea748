"""How a planner waits for its workers: rounds end, and no answer is passed over."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from recrawl.clock import SystemClock
from recrawl.fetch.outcome import FetchResult, Kind
from recrawl.live.bodies import Bodies
from recrawl.live.fleet.fleet_world import FleetFetcher, FleetLanes
from recrawl.live.fleet.inbox_format import Reply, pack_reply
from recrawl.live.fleet.store_fleet import FleetTables
from recrawl.live.postgres.store_postgres import PostgresStore
from recrawl.live.recorder import Recorder
from recrawl.live.site_settings import SiteSettings
from recrawl.live.standing import Standing
from recrawl.live.store_place import StoreSettings
from recrawl.memory import Memory
from recrawl.urls.traps import DiscoveryBudget
from recrawl.urls.url import host_of
from support.postgres_server import LocalServer


@contextmanager
def planner_lanes(
    postgres: LocalServer, folder: Path, urls: Sequence[str], slow_s: Callable[[str], float] = lambda _: 0.0
) -> Iterator[Callable[[], FleetLanes]]:
    """Yield a maker of a planner's lanes, each as after a restart, on one database with these pages, in cycle 1."""
    place = StoreSettings(postgres.new_database())
    PostgresStore.create_in(place, "")
    store = PostgresStore.open_in(place)
    store.load_index()
    hosts = [host_of(url) for url in urls]
    with store.transaction():
        store.add_pages(urls, hosts, 1.0)
    sites = np.unique(hosts, return_inverse=True)[1].astype(np.int32)
    fleet, memory = FleetTables(store.db), Memory(np.arange(len(urls)), sites)
    recorder = Recorder(store, Bodies(folder), None, lambda _: True, DiscoveryBudget(), lambda _: None)
    standing = Standing(store, FleetFetcher(fleet, SystemClock()), memory)
    fleet.open_cycle(1, None)

    def begun_lanes() -> FleetLanes:
        lanes = FleetLanes(fleet, recorder, standing, lambda _: SiteSettings(), asyncio.Event(), slow_s)
        lanes.begin(1)
        return lanes

    yield begun_lanes
    store.close()


def released(url: str) -> bytes:
    return pack_reply(Reply("released", FetchResult(url, Kind.HOST_PAUSED, 1.0)))


async def round_s(lanes: FleetLanes, new: int) -> float:
    began_s = time.monotonic()
    await lanes.run(asyncio.get_running_loop().create_future(), new)
    return time.monotonic() - began_s


@pytest.mark.parametrize("pace_s", [0.0, 30.0])
def test_a_round_does_not_wait_for_a_slow_host(pace_s: float, postgres: LocalServer, tmp_path: Path) -> None:
    """It ends when all but the pages of a host with a long delay are in; a host not known to be slow gets patience."""
    urls = ["http://fast.org/1", "http://fast.org/2", "http://slow.org/"]
    paces = {"slow.org": pace_s}
    with planner_lanes(postgres, tmp_path, urls, lambda host: paces.get(host, 0.0)) as begun_lanes:
        lanes = begun_lanes()
        lanes.patience_s = 1.0
        lanes.add(enumerate(map(host_of, urls)))
        worker = lanes.fleet.join("one", 60)
        lanes.fleet.send(worker, [(1, number, number, released(urls[number - 1])) for number in (1, 2)], [], [])
        assert (asyncio.run(round_s(lanes, 3)) < 1.0) == (pace_s > 0)
        assert sorted(lanes.released) == [0, 1]
        lanes.fleet.send(worker, [(1, 3, 3, released(urls[2]))], [], [])
        asyncio.run(round_s(lanes, 3))
        assert sorted(lanes.released) == [0, 1, 2]


def test_answers_that_wait_are_not_passed_over_while_a_file_is_asked_for(postgres: LocalServer, tmp_path: Path) -> None:
    """A planner that is started again probes hosts and reads sitemaps before it knows which pages are still planned."""
    urls = ["http://a.org/1", "http://a.org/2"]
    with planner_lanes(postgres, tmp_path, urls) as begun_lanes:
        before = begun_lanes()
        before.add(enumerate(map(host_of, urls)))
        worker = before.fleet.join("one", 60)
        before.fleet.send(worker, [(1, number, number, released(urls[number - 1])) for number in (1, 2)], [], [])

        lanes = begun_lanes()

        async def asked_and_visited() -> Reply | None:
            asking = asyncio.ensure_future(lanes.ask("robots", "http://b.org/", {"again": True}))
            while lanes.fleet.last_task() < 3:
                await asyncio.sleep(0.01)
            lanes.fleet.send(worker, [(1, 3, 3, pack_reply(Reply("answer", extra={"answered": True})))], [], [])
            reply = await asking
            lanes.add(enumerate(map(host_of, urls)))
            await asyncio.wait_for(round_s(lanes, 0), 10)
            return reply

        reply = asyncio.run(asked_and_visited())
        assert reply is not None
        assert reply.extra == {"answered": True}
        assert sorted(lanes.released) == [0, 1]
