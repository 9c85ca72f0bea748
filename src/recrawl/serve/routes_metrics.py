"""/metrics for Prometheus: with the token, or open to all by --metrics-open."""

from __future__ import annotations

from aiohttp import web

from recrawl.errors import InputError
from recrawl.live.fleet.alive_workers import alive_workers
from recrawl.live.store import Store
from recrawl.serve.delivery_data import deliveries
from recrawl.serve.routes_dashboard import ESTIMATES
from recrawl.serve.service import SERVICE


def add(app: web.Application) -> None:
    """Add the route."""
    try:
        from recrawl.serve.metrics import CrawlMetrics
    except ImportError:
        app.router.add_get("/metrics", _missing)
        return
    metrics = CrawlMetrics(app[ESTIMATES])

    async def show(request: web.Request) -> web.Response:
        """Return the metrics as text."""
        service = request.app[SERVICE]
        directory = service.crawl.directory

        def read(store: Store) -> bytes:
            return metrics.text(store, deliveries(directory.path, store), alive_workers(directory, store))

        text = await service.readings.ask(read)
        return web.Response(body=text, headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})

    app.router.add_get("/metrics", show)


async def _missing(request: web.Request) -> web.Response:
    raise InputError("metrics need prometheus-client: pip install 'recrawl[serve]'")
