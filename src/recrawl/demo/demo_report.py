"""The demonstration as one page: curves, the pages that changed most, and one page's changes in its own words."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure

from recrawl.demo.living_demo import BUDGET, CYCLES, EPOCH_DAY, MEASURES, WARMUP, Judged
from recrawl.live.bodies import Bodies
from recrawl.live.directory import CrawlDirectory
from recrawl.live.store import Store
from recrawl.live.views import pages
from recrawl.recording.recording import Recording
from recrawl.report.comparison_page import inline
from recrawl.report.plots import COLOURS, picture
from recrawl.see.page import see_page

MOST_VERSIONS = 6
MOST_WORDS = 60  # of a change that are shown


@dataclass(frozen=True)
class Step:
    """One version of a page against the one before."""

    week: int
    size: float
    diff: Markup


def rows_of(judged: list[Judged]) -> list[dict[str, Any]]:
    """Return the table: one row a crawl."""
    top = sum(judged[-1].found) or 1
    base = sum(next(j for j in judged if j.policy == "age").found) or 1
    return [
        {
            "policy": j.policy,
            "how": "over HTTP" if j.live else "simulated",
            "changes": sum(j.found),
            "of_oracle": sum(j.found) / top,
            "versus_age": sum(j.found) / base - 1,
            "change_rate": j.result.value(MEASURES[0]),
            "freshness": j.result.value(MEASURES[2]),
            "new_pages": j.new_pages,
        }
        for j in judged
    ]


def render(judged: list[Judged], recording: Recording, folder: Path) -> str:
    """Render the page from the results and the learned policy's own crawl."""
    source = (files("recrawl.demo") / "demo.html.j2").read_text(encoding="utf-8")
    template = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    directory = CrawlDirectory.open(folder / judged[0].policy)
    store = Store.open(directory.state, read_only=True)
    top = pages(store, sort="changes", limit=12)
    steps = timeline(directory, store, top[0]["page"], top[0]["url"]) if top else []
    store.close()
    _, svg = picture(lambda: curves(judged))
    return template.from_string(source).render(
        rows=rows_of(judged),
        first=judged[0].policy,
        pages=len(recording),
        sites=len(set(recording.site.tolist())),
        changes=len(recording.change_day),
        cycles=CYCLES,
        warmup=WARMUP,
        budget=f"{BUDGET:.0%}",
        figure=inline(svg.decode(), "curves"),
        top=top,
        steps=steps,
    )


def curves(judged: list[Judged]) -> Figure:
    """Draw changes found so far, and freshness, week by week."""
    figure = Figure(figsize=(10, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    weeks = np.arange(WARMUP + 1, CYCLES + 1)
    for j, colour in zip(judged, COLOURS, strict=False):
        style = "-" if j.live else "--"
        left.plot(weeks, np.cumsum(j.found), style, color=colour, label=j.policy, linewidth=2)
        right.plot(weeks, j.freshness, style, color=colour, label=j.policy, linewidth=2)
    left.set_title("Changes found so far")
    right.set_title("Share of copies that are up to date")
    for axes in (left, right):
        axes.set_xlabel("week")
        axes.grid(True, axis="y")
        axes.legend(frameon=False)
    return figure


def timeline(directory: CrawlDirectory, store: Store, page: int, url: str) -> list[Step]:
    """Return the page's changes, each as words taken out and put in, the newest first."""
    rows = store.db.execute(
        "select at, change_size, warc, offset, length from versions join visits using (visit, page)"
        " where page = ? and warc is not null order by visit",
        (page,),
    ).fetchall()
    bodies = Bodies(directory.warc)
    texts = [see_page(bodies.read((row[2], row[3], row[4])), url).main_text for row in rows]
    steps = [
        Step(round((row[0] - EPOCH_DAY) / 7), row[1], word_diff(old, new))
        for row, old, new in zip(rows[1:], texts, texts[1:], strict=False)
    ]
    return steps[::-1][:MOST_VERSIONS]


def word_diff(old: str, new: str) -> Markup:
    """Return what changed between two texts as escaped HTML with <del> and <ins>."""
    before, after = old.split(), new.split()
    parts: list[Markup] = []
    for what, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if what == "equal":
            parts.append(Markup("<span>… </span>"))
            continue
        if b > a:
            parts.append(Markup("<del>{}</del> ").format(_cut(before[a:b])))
        if d > c:
            parts.append(Markup("<ins>{}</ins> ").format(_cut(after[c:d])))
    return Markup("").join(parts)


def _cut(words: list[str]) -> str:
    return " ".join(words[:MOST_WORDS]) + (" …" if len(words) > MOST_WORDS else "")
