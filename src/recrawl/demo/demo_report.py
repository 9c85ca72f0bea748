"""The demonstration as one page: curves, the pages that changed most, and the word-by-word changes of one page."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.figure import Figure

from recrawl.demo.living_demo import BUDGET, CYCLES, EPOCH_DAY, MEASURES, WARMUP, Judged
from recrawl.live.bodies import Bodies
from recrawl.live.directory import CrawlDirectory
from recrawl.live.store import Store
from recrawl.live.store_history import PageFilter
from recrawl.recording.recording import Recording
from recrawl.report.layout import Page, Picture, Section, Table
from recrawl.report.style import COLOURS, Sheet, picture
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
    """Return the table: one row per crawl."""
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
    directory = CrawlDirectory.open(folder / judged[0].policy)
    store = directory.open_store(read_only=True)
    top = store.pages(PageFilter(limit=12))
    steps = timeline(directory, store, top[0]["page"], top[0]["url"]) if top else []
    store.close()
    intro = (
        f"{len(recording):,} pages on {len(set(recording.site.tolist()))} sites with {len(recording.change_day):,} "
        f"changes in {CYCLES} weeks, served on loopback and crawled over real HTTP: one week visits every page, the "
        f"others {BUDGET:.0%} of them. Freshness is judged by the exact change times. This is one web with one seed: "
        "differences of a few changes may be chance."
    )
    policies = (
        "learned is the default of a live crawl, learned(objective=freshness): each visit goes where our copy is most "
        "likely out of date and the new one will stay up to date for longest. age visits the pages that have waited "
        "longest. The oracle knows every change beforehand and seeks nothing but changes: no crawler can find more."
    )
    seen = [[page["url"].partition("://")[2], str(page["visits"]), str(page["changes"])] for page in top]
    sections = [
        Section("What each policy found", tables=[_results(judged)]),
        Section("Week by week", pictures=[Picture("curves", picture(curves, judged), "Dashed: simulated.")]),
        Section(
            f"Pages that changed most, as the crawl under {judged[0].policy} saw them",
            tables=[Table(("page", "visits", "changes found"), seen)],
        ),
    ]
    if steps:
        html = Markup("").join(
            Markup(
                '<div class="step"><b>week {}</b> <span class="soft">{:g} words in and out</span><br>{}</div>'
            ).format(step.week, step.size, step.diff)
            for step in steps
        )
        sections.append(Section(f"How {top[0]['url']} changed", html=html))
    return Page(f"A living web, crawled with {BUDGET:.0%} of the visits", [intro, policies], sections).html()


def _results(judged: list[Judged]) -> Table:
    heads = (
        "policy",
        "crawled",
        "changes found",
        "of oracle",
        "vs age",
        "visits that found one",
        "copies up to date",
        "new pages",
    )
    rows = [
        [
            row["policy"], row["how"], f"{row['changes']:,}", f"{100 * row['of_oracle']:.0f}%",
            f"{100 * row['versus_age']:+.0f}%", f"{100 * row['change_rate']:.0f}%", f"{100 * row['freshness']:.1f}%",
            str(row["new_pages"]),
        ]
        for row in rows_of(judged)
    ]  # fmt: skip
    return Table(heads, rows, "More is better in every column.", sums=frozenset({0}))


def curves(sheet: Sheet, judged: list[Judged]) -> Figure:
    """Draw changes found so far, and freshness, week by week."""
    figure, axes = sheet.panels(2, height=3.4, width=10.0)
    weeks = np.arange(WARMUP + 1, CYCLES + 1)
    for j, colour in zip(judged, COLOURS, strict=False):
        for axis, values in zip(axes, (np.cumsum(j.found), j.freshness), strict=True):
            axis.plot(weeks, values, "-" if j.live else "--", color=colour, label=j.policy, linewidth=2)
    for axis, title in zip(axes, ("Changes found so far", "Share of copies that are up to date"), strict=True):
        axis.set(title=title, xlabel="week")
        sheet.values(axis)
        axis.legend()
    return figure


def timeline(directory: CrawlDirectory, store: Store, page: int, url: str) -> list[Step]:
    """Return the page's changes, each as words taken out and put in, the newest first."""
    rows = store.bodies_of(page)
    bodies = Bodies(directory.warc)
    texts = [see_page(bodies.read(place), url).main_text for _, _, place in rows]
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
