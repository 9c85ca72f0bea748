"""Lanes of hosts across the rounds of a cycle."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from recrawl.live.lanes import Lanes


async def never() -> None:
    """What goes on beside a round, and has not ended."""
    await asyncio.Event().wait()


def lanes_of(asked: list[int], until: asyncio.Event, room: Callable[[str], int] = lambda _: 100) -> Lanes:
    async def ask(page: int) -> None:
        asked.append(page)
        if page == 1:
            await until.wait()

    return Lanes(ask, room, lambda _: True, asyncio.Event())


def test_a_host_whose_pages_end_between_two_rounds_is_asked_in_the_next() -> None:
    """A lane that ended while the round before was recorded does not keep its host idle for a whole round."""

    async def crawl() -> list[int]:
        asked, until = list[int](), asyncio.Event()
        lanes = lanes_of(asked, until)
        lanes.patience_s = 0.02
        beside = asyncio.ensure_future(never())
        lanes.add([(0, "quick.test"), (1, "slow.test")])
        await lanes.run(beside, 2)  # ends without the slow page
        until.set()
        await asyncio.sleep(0.01)  # the answer comes while the round is recorded
        lanes.add([(2, "slow.test")])
        await lanes.run(beside, 1)
        beside.cancel()
        return asked

    assert asyncio.run(asyncio.wait_for(crawl(), 20)) == [0, 1, 2]


def test_a_cap_below_what_was_asked_before_a_restart_releases_the_rest() -> None:
    """A cycle goes on although a site's cap was lowered while it was interrupted; no lane is kept for nothing."""

    async def crawl() -> Lanes:
        lanes = lanes_of([], asyncio.Event(), lambda _: -5)
        lanes.add([(1, "a.test"), (2, "a.test")])
        lanes.add([(3, "b.test")])
        beside = asyncio.ensure_future(never())
        await lanes.run(beside, 3)
        beside.cancel()
        return lanes

    lanes = asyncio.run(crawl())
    assert (sorted(lanes.released), sorted(lanes.shut)) == ([1, 2, 3], [2, 3])
    assert not lanes._queues
