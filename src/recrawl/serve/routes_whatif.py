"""What if: policies and budgets on the crawl's own history, as a job; and the budget that a freshness would take."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import urlencode

from aiohttp import web

from recrawl.serve.answers import answer
from recrawl.serve.dashboard_data import span_words
from recrawl.serve.jobs import Job
from recrawl.serve.rendering import render
from recrawl.serve.routes_jobs import begin_replay
from recrawl.serve.service import SERVICE
from recrawl.serve.what_if import BUDGETS, MEASURES, NOTE, POLICIES, budget_for, replay_rows
from recrawl.spans import share_of

USUAL = {"policies": ",".join(POLICIES), "budgets": ",".join(BUDGETS), "target": "90%"}


def add(app: web.Application) -> None:
    """Add the routes."""
    app.router.add_get("/whatif", show)
    app.router.add_post("/whatif", start)
    app.router.add_get("/whatif/chart", chart)


async def start(request: web.Request) -> web.Response:
    """Start a replay, and show it."""
    form = await request.post()
    asked = {name: str(form.get(name) or usual) for name, usual in USUAL.items()}
    share_of(asked["target"])
    budgets = [part.strip() for part in asked["budgets"].split(",")]
    for budget in budgets:
        share_of(budget)
    wanted = {"policies": asked["policies"], "budgets": budgets, "measures": list(MEASURES)}
    number = begin_replay(request.app[SERVICE], wanted).number
    where = urlencode({"job": number, "target": asked["target"]})
    return web.Response(status=303, headers={"Location": f"/whatif?{where}"})


def _job(request: web.Request) -> Job | None:
    number = request.query.get("job", "")
    return request.app[SERVICE].jobs.find(number) if number else None


async def show(request: web.Request) -> web.Response:
    """Show the form, and the job that is asked for."""
    job, target = _job(request), request.query.get("target", USUAL["target"])
    shown: dict[str, Any] = {**USUAL, "target": target, "note": NOTE, "rows": [], "answers": []}
    shown |= {"state": "", "error": "", "progress": "", "job": 0, "done": 0, "of": 1}
    if job is not None:
        policies = job.asked["policies"]
        shown |= {"state": job.state, "error": job.error, "job": job.number, "progress": _progress(job)}
        shown |= {"done": len(job.results), "of": len(job.commands)}
        shown |= {"policies": ",".join(policies), "budgets": ",".join(job.asked["budgets"])}
        shown["rows"] = rows = replay_rows(job.results)
        if job.state == "done":
            shown["answers"] = [_answer(rows, policy, share_of(target)) for policy in policies]
    return render(request, "whatif.html", "What if", **shown)


def _progress(job: Job) -> str:
    """Say how far a job is, and how long it will take at the pace so far."""
    done, of = len(job.results), len(job.commands)
    if job.state == "waiting":
        return "It waits for the replay before it."
    if job.state == "done":
        return f"Replayed in {span_words(job.took_s)}."
    text = f"{done} of {of} budgets done, {span_words(time.monotonic() - job.began_s)} so far"
    return text + (f", about {span_words((of - done) * job.took_s / done)} to go." if done else ".")


def _answer(rows: list[dict[str, Any]], policy: str, target: float) -> str:
    share = budget_for(rows, policy, target)
    if share is None:
        return f"{policy}: {target:.0%} fresh is beyond the budgets that were replayed."
    return f"{policy}: {target:.0%} fresh takes about {share:.1%} of the pages per cycle, on this history."


async def chart(request: web.Request) -> web.Response:
    """Return the curve of freshness by budget."""
    job = _job(request)
    if job is None:
        raise web.HTTPNotFound
    rows = replay_rows(job.results)
    x = sorted({share_of(row["budget"]) for row in rows})
    series = []
    for policy in job.asked["policies"]:
        fresh = {share_of(row["budget"]): row["Freshness"] for row in rows if row["policy"] == policy}
        series.append({"name": policy, "values": [fresh.get(share) for share in x]})
    return answer({"x": [100 * share for share in x], "time": False, "label": "% of the pages", "series": series})
