"""Pages of the dashboard: overview, hosts, pages, errors, signals, deliveries, settings; their charts and files."""

from __future__ import annotations

import io
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlencode

from aiohttp import web

from recrawl.clock import DAY_S
from recrawl.errors import InputError
from recrawl.live.exporting import write_csv
from recrawl.live.feed import iso
from recrawl.live.fleet.alive_workers import alive_workers
from recrawl.live.store_dashboard import RECENT, SORTS, WHICH
from recrawl.serve import dashboard_data as data
from recrawl.serve.answers import answer
from recrawl.serve.delivery_data import deliveries, deliveries_word
from recrawl.serve.rendering import render
from recrawl.serve.service import SERVICE, Service
from recrawl.spans import days_of

ESTIMATES = web.AppKey("estimates", data.Estimates)
CHARTS = {"known": data.chart_known, "found": data.chart_found}
ORDERS = (
    ("changes", "most changes"),
    ("changed", "changed last"),
    ("visits", "most visits"),
    ("last", "visited last"),
    ("number", "as found"),
)
PER_PAGE, CSV_ROWS = 50, 50_000
_SECRET = ("headers", "auth", "cookie", "proxy", "key", "secret", "token", "password")


def add(app: web.Application) -> None:
    """Add the routes."""
    app[ESTIMATES] = data.Estimates()
    app.router.add_static("/static", Path(str(files("recrawl.serve") / "static")), show_index=False)
    for path, handler in (
        ("/", overview),
        ("/hosts", hosts),
        ("/pages", pages),
        ("/pages/rows", page_rows),
        ("/pages.csv", pages_csv),
        ("/errors", errors),
        ("/signals", signals),
        ("/deliveries", show_deliveries),
        ("/settings", settings),
        ("/charts/{name}", chart),
    ):
        app.router.add_get(path, handler)


async def overview(request: web.Request) -> web.Response:
    """Show how the crawl stands."""
    service, estimates = request.app[SERVICE], request.app[ESTIMATES]
    running, days = service.crawl.is_held(), days_of(service.crawl.directory.config().every)
    shown = await service.readings.ask(lambda store: data.overview(store, estimates, running, days))
    sent = await service.readings.ask(lambda store: deliveries(service.crawl.directory.path, store))
    workers = await service.readings.ask(lambda store: alive_workers(service.crawl.directory, store))
    return render(request, "overview.html", "Overview", **shown, deliveries=deliveries_word(sent), workers=workers)


async def hosts(request: web.Request) -> web.Response:
    """Show the hosts."""
    contains = request.query.get("contains", "")
    rows = await request.app[SERVICE].readings.ask(lambda store: data.hosts(store, contains))
    return render(request, "hosts.html", "Hosts", hosts=rows, contains=contains)


def _asked(request: web.Request) -> dict[str, str]:
    """Read which pages are asked for, and in which order."""
    asked = {name: request.query.get(name, default) for name, default in
             (("contains", ""), ("which", "all"), ("sort", "changes"), ("after", ""))}  # fmt: skip
    if asked["which"] not in WHICH or asked["sort"] not in SORTS:
        raise InputError(f"which is one of {', '.join(WHICH)}; sort one of {', '.join(SORTS)}")
    return asked


async def pages(request: web.Request) -> web.Response:
    """Show pages, with a search."""
    return await _page_list(request, "pages.html")


async def page_rows(request: web.Request) -> web.Response:
    """Return the table of pages alone, for the search as one types."""
    return await _page_list(request, "page_rows.html")


async def _page_list(request: web.Request, template: str) -> web.Response:
    asked = _asked(request)
    found = await request.app[SERVICE].readings.ask(lambda store: store.page_list(**asked, most=PER_PAGE))
    kept = {name: value for name, value in asked.items() if name != "after"}
    more = urlencode(kept | {"after": found.after}) if found.after else ""
    shown = {"rows": found.rows, "whole": found.whole, "more": more, "query": urlencode(kept)}
    return render(request, template, "Pages", **shown, **asked, all_which=WHICH, sorts=ORDERS)


async def pages_csv(request: web.Request) -> web.Response:
    """Return pages as CSV."""
    asked = _asked(request)
    found = await request.app[SERVICE].readings.ask(lambda store: store.page_list(**asked, most=CSV_ROWS))
    names = ("url", "title", "visits", "changes", "last_visit_at", "last_change_at", "gone")
    rows = [
        {name: iso(row[name]) if name.endswith("_at") and row[name] is not None else row[name] for name in names}
        for row in found.rows
    ]
    return csv_file("pages.csv", rows)


def csv_file(name: str, rows: list[dict[str, object]]) -> web.Response:
    """Return rows as a CSV file; no cell of it is a formula."""
    text = io.StringIO()
    write_csv(rows, text)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return web.Response(text=text.getvalue(), content_type="text/csv", headers=headers)


async def chart(request: web.Request) -> web.Response:
    """Return the numbers of a chart."""
    make = CHARTS.get(request.match_info["name"])
    if make is None:
        raise web.HTTPNotFound
    return answer(await request.app[SERVICE].readings.ask(make))


async def errors(request: web.Request) -> web.Response:
    """Show failed visits and robots.txt files."""
    return render(
        request, "errors.html", "Errors", **await request.app[SERVICE].readings.ask(data.errors), recent=RECENT
    )


async def signals(request: web.Request) -> web.Response:
    """Show sitemaps, feeds and whether they were right."""
    feeds, pending, trust = await request.app[SERVICE].readings.ask(
        lambda store: (store.feeds_known(), store.announced_pending(), store.signal_trust(50))
    )
    return render(request, "signals.html", "Signals", feeds=feeds, pending=pending, trust=trust)


async def show_deliveries(request: web.Request) -> web.Response:
    """Show sinks, and how far they are."""
    service = request.app[SERVICE]
    sinks = await service.readings.ask(lambda store: deliveries(service.crawl.directory.path, store))
    return render(request, "deliveries.html", "Deliveries", sinks=sinks, said=said_of(request))


SAID = {
    "soon": "It will be among the first visits of the next cycle.",
    "never": "It will not be visited again.",
    "again": "It may be visited again.",
    "sent": "What was put aside is sent again by the delivery that runs, or by `recrawl deliver --again`.",
}


def said_of(request: web.Request) -> str:
    """Return what an action that was just taken will do."""
    return SAID.get(request.query.get("done", ""), "")


async def settings(request: web.Request) -> web.Response:
    """Show recrawl.toml, without what may be secret."""
    return render(request, "settings.html", "Settings", **_settings(request.app[SERVICE]))


def _settings(service: Service) -> dict[str, str]:
    path = service.crawl.directory.path / "recrawl.toml"
    policy, plan = service.crawl.steering()
    kept = [line for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if not _is_secret(line)]
    hours = plan.cycle_days * DAY_S / 3600
    force = f"# in force: {policy}, a cycle of {hours:g} hours, a budget of {plan.budget:g}\n\n"
    return {"path": str(path), "text": force + "\n".join(kept)}


def _is_secret(line: str) -> bool:
    name = line.partition("=")[0].strip().lstrip("# ").lower()
    return "=" in line and any(word in name for word in _SECRET) and not name.endswith("_file")
