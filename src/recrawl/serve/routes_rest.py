"""REST for other crawlers, under /v1 (docs/openapi.json): what to visit next, and what visits found."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from aiohttp import web

from recrawl.errors import InputError
from recrawl.live.dry_run import dry_run
from recrawl.live.exporting import write_csv
from recrawl.live.planner import PlannedVisit, Planner
from recrawl.live.report_files import seen_of
from recrawl.live.reported import Refusal, Reported, Seen
from recrawl.live.store import Store
from recrawl.serve.answers import answer, lines, refusal
from recrawl.serve.planner_owner import seconds_until_due
from recrawl.serve.request_parts import MOST_LINES, limited_body, number, numbered_rows, one_of, whole
from recrawl.serve.service import SERVICE
from recrawl.spans import dated, iso_of
from recrawl.visits import Outcome

LONGEST_WAIT_S = 60.0
LONGEST_LEASE_S = 30 * 86_400.0
NO_KEYS = 200  # characters of an Idempotency-Key


def add(app: web.Application) -> None:
    """Add the routes."""
    app.router.add_get("/v1/status", status)
    app.router.add_get("/v1/next", next_pages)
    app.router.add_get("/v1/plan", plan)
    app.router.add_post("/v1/visits", visits)
    app.router.add_get("/v1/leases", leases)
    app.router.add_delete("/v1/leases/{lease}", release)


async def status(request: web.Request) -> web.Response:
    """Say how the crawl stands, in numbers."""
    service = request.app[SERVICE]
    numbers = await service.readings.ask(
        lambda store: {**store.status(), "barred": store.count_barred(), "notes": store.notes()}
    )
    planned = service.planner.is_open
    return answer(dated({**numbers, "running": not planned and service.crawl.is_held(), "planned_here": planned}))


async def next_pages(request: web.Request) -> web.Response:
    """Lease the pages to visit now, best first; with `wait`, wait until some are due. 204: none are."""
    service = request.app[SERVICE]
    most, per_host = whole(request, "budget", 100, 1, MOST_LINES), whole(request, "per_host", 0, 0, MOST_LINES)
    lease_s = number(request, "lease", 600.0, 1.0, LONGEST_LEASE_S)
    wait_s = number(request, "wait", 0.0, 0.0, LONGEST_WAIT_S)
    loop = asyncio.get_running_loop()
    ends_s = loop.time() + wait_s

    def ask(planner: Planner) -> tuple[list[dict[str, Any]], float]:
        chosen = planner.next(most, per_host=per_host, lease_s=lease_s)
        return [_row(planner, visit) for visit in chosen], seconds_until_due(planner)

    while True:
        rows, due_s = await service.planner.ask(ask)
        left_s = ends_s - loop.time()
        if rows or left_s <= 0 or service.stopping.is_set():
            break
        await service.planner.news(min(left_s, max(due_s, 0.05)), service.stopping)
    return lines(rows) if rows else web.Response(status=204)


def _row(planner: Planner, visit: PlannedVisit) -> dict[str, Any]:
    """Return a page to visit as clients get it."""
    kept = planner.store.request_of(visit.page)
    assert planner.cycle is not None, "a cycle has begun"
    return {
        "url": visit.url,
        "page": visit.page,
        "lease": visit.lease,
        "rank": visit.rank,
        "score": visit.score,
        "etag": visit.validators.get("If-None-Match"),
        "last_modified": visit.validators.get("If-Modified-Since"),
        "due": iso_of(planner.cycle.at),
        "request": None if kept is None else json.loads(kept),
    }


async def plan(request: web.Request) -> web.Response:
    """Show what would be visited next and why, as JSON lines or CSV; nothing is leased."""
    service = request.app[SERVICE]
    most, per_host = whole(request, "most", 1000, 1, MOST_LINES), whole(request, "per_host", 0, 0, MOST_LINES)
    shape = one_of(request, "format", "json", ("json", "csv"))
    name, settings = service.crawl.steering()

    def ask(store: Store) -> list[dict[str, Any]]:
        now, config = service.clock.now(), service.crawl.directory.config()
        return [asdict(each) for each in dry_run(store, name, settings, config, most, per_host=per_host, at=now)]

    rows = await service.readings.ask(ask)
    if shape == "json":
        return lines(rows)
    text = io.StringIO()
    write_csv(rows, text)
    return web.Response(text=text.getvalue(), content_type="text/csv")


async def visits(request: web.Request) -> web.Response:
    """Take in what visits found, a JSON object per line; refused ones are named by their number."""
    service = request.app[SERVICE]
    key = request.headers.get("Idempotency-Key", "")
    if len(key) > NO_KEYS:
        return refusal(400, f"Idempotency-Key is longer than {NO_KEYS} characters")
    body = await limited_body(request)
    by_line = request.content_type != "application/json"
    discover = one_of(request, "discover", "yes", ("yes", "no")) == "yes"
    if one_of(request, "record", "yes", ("yes", "no")) == "no":
        told = await service.planner.ask(lambda planner: _take(planner, body, by_line, _judge))
        return answer(told, 413 if "error" in told else 200)

    def take(planner: Planner) -> tuple[int, dict[str, Any]]:
        digest = hashlib.sha256(body).hexdigest()
        before = planner.store.answer_to(key) if key else None
        if before is not None:
            same = before[0] == digest
            return (200, json.loads(before[1])) if same else (422, {"error": "this Idempotency-Key had another body"})
        told = _take(planner, body, by_line, lambda planner, seen: planner.report(seen, discover=discover))
        if key and "error" not in told:
            with planner.store.transaction():
                planner.store.keep_answer(key, digest, json.dumps(told), planner.now())
        return (413 if "error" in told else 200), told

    code, told = await service.planner.tell(take)
    return answer(told, code)


def _judge(planner: Planner, seen: list[Seen]) -> Reported:
    """Say what visits found, without recording them."""
    outcomes: Counter[str] = Counter()
    refused = []
    for number_, each in enumerate(seen):
        try:
            record = planner.judge(each).record
            assert record is not None, "judged"
            outcomes[Outcome(record.outcome).name.lower()] += 1
        except (InputError, ValueError) as error:
            refused.append(Refusal(number_, each.url, str(error)))
    return Reported(refused=tuple(refused), outcomes=dict(outcomes))


def _take(
    planner: Planner, body: bytes, by_line: bool, use: Callable[[Planner, list[Seen]], Reported]
) -> dict[str, Any]:
    seen: list[Seen] = []
    numbers: list[int] = []
    refused: list[dict[str, Any]] = []
    for i, row in numbered_rows(body, lines=by_line):
        if len(seen) + len(refused) >= MOST_LINES:
            return {"error": f"more than {MOST_LINES} visits: send them in parts; none was taken"}
        try:
            if isinstance(row, str):
                raise ValueError(row)
            seen.append(seen_of(row))
            numbers.append(i)
        except (ValueError, TypeError) as error:
            refused.append({"line": i, "why": str(error)[:300]})
    told = use(planner, seen)
    refused += [{"line": numbers[each.number], "why": each.why[:300]} for each in told.refused]
    refused.sort(key=lambda each: each["line"])
    return {"recorded": told.recorded, "folded": told.folded, "outcomes": told.outcomes, "refused": refused}


async def leases(request: web.Request) -> web.Response:
    """List what is leased, and until when."""
    rows = await request.app[SERVICE].readings.ask(lambda store: store.leases())
    return lines({**row, "until": iso_of(row["until"])} for row in rows)


async def release(request: web.Request) -> web.Response:
    """Give a page back: it is offered again at once."""
    text = request.match_info["lease"]
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        return refusal(404, f"no lease {text[:40]!r}")
    if not await request.app[SERVICE].planner.tell(lambda planner: planner.release([int(text)])):
        return refusal(404, f"no lease {text}")
    return web.Response(status=204)
