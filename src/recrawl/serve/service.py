"""Service: what the routes of one server share."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field

from aiohttp import web

from recrawl.clock import Clock, SystemClock
from recrawl.live.facade import Crawl
from recrawl.serve.access import Access
from recrawl.serve.jobs import Jobs
from recrawl.serve.planner_owner import PlannerOwner
from recrawl.serve.readings import Readings


@dataclass
class Service:
    """The crawl that is served, who may ask, and whether the server is stopping."""

    crawl: Crawl
    access: Access
    readings: Readings
    planner: PlannerOwner
    jobs: Jobs
    clock: Clock = field(default_factory=SystemClock)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    async def pause(self, seconds: float) -> bool:
        """Wait, as streams and long polls do between two looks; True, at once, if the server stops."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.stopping.wait(), seconds)
        return self.stopping.is_set()


SERVICE = web.AppKey("service", Service)
