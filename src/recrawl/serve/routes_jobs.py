"""Routes for long work: what other policies or budgets would have found on the crawl's own history."""

from __future__ import annotations

import re
from typing import Any

from aiohttp import web

from recrawl.errors import InputError
from recrawl.live.crawl_defaults import MEASURES, REPLAYED
from recrawl.policies.catalogue import make_policy
from recrawl.policy import Setting
from recrawl.registry import split_specs
from recrawl.serve.answers import answer, lines
from recrawl.serve.jobs import Job
from recrawl.serve.request_parts import json_object
from recrawl.serve.service import SERVICE, Service
from recrawl.spans import budget_of

MOST_BUDGETS, MOST_POLICIES = 20, 50
FILES = re.compile(r"[/\\]|\.py\b|gp:")  # nothing that a client says names a file of the server


def add(app: web.Application) -> None:
    """Add the routes."""
    app.router.add_post("/v1/replay", replay)
    app.router.add_get("/v1/jobs", jobs)
    app.router.add_get("/v1/jobs/{job}", job)


async def replay(request: web.Request) -> web.Response:
    """Begin a job that replays the history under policies and budgets; 202 with its number."""
    made = begin_replay(request.app[SERVICE], await json_object(request))
    headers = {"Location": f"/v1/jobs/{made.number}"}
    return answer({"job": made.number, "state": made.state}, 202, headers)


def begin_replay(service: Service, asked: dict[str, Any]) -> Job:
    """Check what is asked for, and begin the job: one replay per budget."""
    unknown = asked.keys() - {"policies", "budgets", "measures"}
    if unknown:
        raise InputError(f"unknown field {sorted(unknown)[0][:40]!r}: there are policies, budgets and measures")
    policies, measures = _texts(asked, "policies", REPLAYED), _texts(asked, "measures", MEASURES)
    for policy in policies:
        make_policy(policy, Setting())
    budgets = [str(budget) for budget in _list(asked, "budgets", [service.crawl.directory.config().budget])]
    for budget in budgets:
        budget_of(budget)
    if len(budgets) > MOST_BUDGETS or len(policies) > MOST_POLICIES:
        raise InputError(f"at most {MOST_BUDGETS} budgets and {MOST_POLICIES} policies")
    words = ["replay", "--policies", ",".join(policies), "--measures", ",".join(measures), "--budget"]
    asked = {"policies": policies, "measures": measures, "budgets": budgets}
    return service.jobs.add(asked, [(budget, [*words, budget]) for budget in budgets])


def _list(asked: dict[str, Any], name: str, default: list[Any]) -> list[Any]:
    value = asked.get(name, default)
    value = [value] if isinstance(value, str | int | float) and not isinstance(value, bool) else value
    if not isinstance(value, list) or not value:
        raise InputError(f"{name} must be a list that is not empty")
    if not all(isinstance(each, str | int | float) and not isinstance(each, bool) for each in value):
        raise InputError(f"{name} must hold texts or numbers")
    return value


def _texts(asked: dict[str, Any], name: str, default: str) -> list[str]:
    texts = [text for each in _list(asked, name, [default]) for text in split_specs(str(each))]
    for text in texts:
        if FILES.search(text) or text.startswith("-"):
            raise InputError(f"{name}: {text[:60]!r} names a file; only what is built in can be replayed here")
    return texts


async def jobs(request: web.Request) -> web.Response:
    """List the jobs, without their results."""
    shown = (each.shown() for each in request.app[SERVICE].jobs.all())
    return lines({name: value for name, value in each.items() if name != "results"} for each in shown)


async def job(request: web.Request) -> web.Response:
    """Show one job, with its results so far: per budget what `recrawl replay --json` prints."""
    return answer(request.app[SERVICE].jobs.find(request.match_info["job"]).shown())
