"""The server's application: routes from small modules, behind the guard.

A module of routes has `add(app)`, and is named in ROUTES. Its handlers find what they share in `request.app[SERVICE]`:
the crawl, `readings.ask(question)` for its store, `planner.ask` for what needs the planner, in its one thread, and
`pause` and `stopping` for streams, which must end when the server stops. Errors are raised as InputError or as
aiohttp's HTTP errors; the client gets one line.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from aiohttp import web

from recrawl.clock import Clock, SystemClock
from recrawl.live.facade import Crawl
from recrawl.serve.access import Access, add_headers, middleware_of
from recrawl.serve.answers import errors_as_answers
from recrawl.serve.jobs import Jobs
from recrawl.serve.planner_owner import PlannerOwner
from recrawl.serve.readings import Readings
from recrawl.serve.service import SERVICE, Service

ROUTES = (
    *("routes_login", "routes_rest", "routes_looks", "routes_announce", "routes_jobs"),
    *("routes_dashboard", "routes_page", "routes_actions", "routes_streams", "routes_metrics", "routes_whatif"),
)
MOST_BYTES = 1 << 20  # of a request's body, where a route does not read it piece by piece


def application(directory: str | Path, access: Access | None = None, *, clock: Clock | None = None) -> web.Application:
    """Return the application that serves a crawl."""
    clock = clock or SystemClock()
    crawl = Crawl.open(directory)
    access = access or Access()
    app = web.Application(middlewares=[errors_as_answers, middleware_of(access)], client_max_size=MOST_BYTES)
    readings, planner, jobs = Readings(crawl.directory), PlannerOwner(crawl, clock), Jobs(crawl.directory)
    app[SERVICE] = service = Service(crawl, access, readings, planner, jobs, clock)
    app.on_response_prepare.append(add_headers)
    for name in ROUTES:
        import_module(f"recrawl.serve.{name}").add(app)

    async def stop(_: web.Application) -> None:
        service.stopping.set()

    async def close(_: web.Application) -> None:
        await jobs.close()
        planner.close()
        readings.close()

    app.on_shutdown.append(stop)
    app.on_cleanup.append(close)
    return app
