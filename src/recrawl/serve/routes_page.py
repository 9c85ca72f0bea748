"""One page's story, why it comes next, and the plan of the next cycle."""

from __future__ import annotations

import difflib
import re
from typing import Any

from aiohttp import web

from recrawl.eligibility import Bar
from recrawl.errors import InputError
from recrawl.live.bodies import Bodies
from recrawl.live.store import Store
from recrawl.live.views import page_of, show
from recrawl.see.page import see_page
from recrawl.serve.dashboard_data import barred_reasons, due_words
from recrawl.serve.rendering import moment, render
from recrawl.serve.routes_dashboard import csv_file, said_of
from recrawl.serve.service import SERVICE, Service
from recrawl.serve.shadow import Shadow

SHADOW = web.AppKey("shadow", Shadow)
MOST_WORDS = 20_000  # of a version that are compared
ROWS = 200
_WORDS = re.compile(r"\s*\S+\s*")


def add(app: web.Application) -> None:
    """Add the routes."""
    app[SHADOW] = Shadow(app[SERVICE].crawl)
    for path, handler in (("/page", page), ("/page/why", why), ("/plan", plan), ("/plan.csv", plan_csv)):
        app.router.add_get(path, handler)


def _url(request: web.Request) -> str:
    url = request.query.get("url", "")
    if not url:
        raise InputError("which page? add ?url=...")
    return url


async def page(request: web.Request) -> web.Response:
    """Show a page: its visits, and the words that changed between two of its versions."""
    service, url = request.app[SERVICE], _url(request)
    old, new = (_number(request.query.get(name, "")) for name in ("old", "new"))
    shown = await service.readings.ask(lambda store: _story(service, store, url, old, new))
    return render(request, "page.html", "Page", **shown, said=said_of(request))


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0


def _story(service: Service, store: Store, url: str, old: int, new: int) -> dict[str, Any]:
    directory = service.crawl.directory
    story = show(directory, store, url)
    bodies = store.bodies_of(story.page)
    new = min(new or len(bodies), len(bodies))
    old = min(old or new - 1, len(bodies))
    words: list[tuple[str, str]] = []
    if len(bodies) > 1 and old >= 1:
        reader = Bodies(directory.warc)
        texts = [see_page(reader.read(bodies[number - 1][2]), story.url).main_text for number in (old, new)]
        words = word_diff(*texts)
    changes = sum(visit["outcome"] == "changed" for visit in story.visits)
    said_at = store.announced_at(story.page)
    return {
        "story": story,
        "versions": [at for at, _, _ in bodies],
        "old": old,
        "new": new,
        "words": words,
        "removed": store.bar_of(story.page) == Bar.REMOVED,
        "summary": f"{len(story.visits)} visits, {changes} found a change, {len(bodies)} versions kept",
        "signal": f"Its site said that it changed {moment(said_at)}." if said_at is not None else "",
    }


def word_diff(old: str, new: str) -> list[tuple[str, str]]:
    """Return the words of two texts: kept ("="), removed ("-") and added ("+"); long kept parts are shortened."""
    one, two = _WORDS.findall(old)[:MOST_WORDS], _WORDS.findall(new)[:MOST_WORDS]
    parts: list[tuple[str, str]] = []
    # by lines first: matching long texts word by word takes too long
    lines_one, lines_two = "".join(one).splitlines(keepends=True), "".join(two).splitlines(keepends=True)
    for tag, a, b, c, d in difflib.SequenceMatcher(None, lines_one, lines_two, autojunk=False).get_opcodes():
        if tag == "equal":
            parts.append(("=", _shortened("".join(lines_one[a:b]))))
        else:
            parts += _changed_words("".join(lines_one[a:b]), "".join(lines_two[c:d]))
    return parts if any(kind != "=" for kind, _ in parts) else []


def _changed_words(old: str, new: str) -> list[tuple[str, str]]:
    one, two = _WORDS.findall(old), _WORDS.findall(new)
    if len(one) * len(two) > 4_000_000:
        return [("-", old), ("+", new)]
    parts: list[tuple[str, str]] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        if tag == "equal":
            parts.append(("=", "".join(one[a:b])))
            continue
        parts += [(kind, text) for kind, text in (("-", "".join(one[a:b])), ("+", "".join(two[c:d]))) if text]
    return parts


def _shortened(text: str, around: int = 300) -> str:
    return text if len(text) <= 2 * around else f"{text[:around]}\n[ ... ]\n{text[-around:]}"


async def why(request: web.Request) -> web.Response:
    """Say when a page will be visited next, and why, in the policy's words."""
    service, shadow, url = request.app[SERVICE], request.app[SHADOW], _url(request)

    def ask(store: Store) -> str:
        number, _ = page_of(service.crawl.directory, store, url)
        return shadow.forecaster(store).of(store, number).why

    return web.Response(text=await service.readings.ask(ask), content_type="text/plain")


async def plan(request: web.Request) -> web.Response:
    """Show what the next cycle would fetch, and which rule excludes the rest."""
    try:
        shown = await _plan(request, ROWS)
    except InputError as error:  # no pages yet, or too many
        return render(request, "message.html", "Plan", line=str(error))
    return render(request, "plan.html", "Plan", **shown)


async def plan_csv(request: web.Request) -> web.Response:
    """Return the whole plan as CSV."""
    rows = (await _plan(request, 10**7))["rows"]
    return csv_file("plan.csv", rows)


async def _plan(request: web.Request, most: int) -> dict[str, Any]:
    service, shadow = request.app[SERVICE], request.app[SHADOW]

    def ask(store: Store) -> dict[str, Any]:
        forecaster = shadow.forecaster(store)
        pages = forecaster.chosen[:most].tolist()
        scores = [forecaster.score(number) for number in pages]
        rows = [
            {"rank": rank, "url": url, "score": "" if score is None else f"{score:.4g}"}
            for rank, (url, score) in enumerate(zip(store.urls(pages), scores, strict=True), 1)
        ]
        reasons = barred_reasons(store)
        return {
            "sentence": f"The next cycle {due_words(forecaster.due_at)}.",
            "policy": forecaster.policy_name,
            "chosen": len(forecaster.chosen),
            "budget": forecaster.budget,
            "eligible": forecaster.eligible,
            "excluded": sum(count for _, count in reasons),
            "reasons": reasons,
            "rows": rows,
        }

    return await service.readings.ask(ask)
