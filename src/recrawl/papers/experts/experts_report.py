"""The experiment on related pages as files: results.json, figures and one page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from recrawl.evaluate.compare import Comparison
from recrawl.evaluate.statistics import interval
from recrawl.papers.experts.experts_figures import CAPTIONS, draw
from recrawl.papers.experts.experts_tables import (
    as_json,
    counts_table,
    crawl_findings,
    crawl_table,
    findings,
    findings_table,
    sizes_table,
    tables,
)
from recrawl.papers.experts.experts_trials import DRAW, MAJORITY, MULTIPLE, OWN, TrialOutcome
from recrawl.report.result_page import Page, Picture, Section


def files_of(outcomes: Sequence[TrialOutcome], crawls: Mapping[str, Comparison], command: str) -> dict[str, bytes]:
    """Return all files by name."""
    out = {"results.json": (json.dumps(as_json(outcomes, crawls, command), indent=1) + "\n").encode()}
    drawn = draw(outcomes, crawls)
    for name, (png, svg) in drawn.items():
        out[f"{name}.png"], out[f"{name}.svg"] = png, svg
    out["report.html"] = page(outcomes, crawls, {k: svg for k, (_, svg) in drawn.items()}, command).html().encode()
    return out


def is_ours(name: str) -> bool:
    """Whether a file of this name may have been written by this experiment."""
    stem, _, kind = name.rpartition(".")
    return name in ("results.json", "report.html") or (stem in CAPTIONS and kind in ("png", "svg"))


def headline(outcome: TrialOutcome) -> str:
    """Say in one line what was predicted."""
    protocol = outcome.protocol
    passing = ", ".join(f"{count} at {share:g}" for share, count in outcome.passing.items())
    return (
        f"{protocol.name}: of {outcome.pages:,} pages with text those whose behaviour flips in {outcome.flips:.0%} of "
        f"the steps or more (pages left: {passing}; the paper asks for 0.3); {outcome.judged:,} predictions from "
        f"{protocol.train} steps each, {protocol.experts} experts, C = {outcome.cost:g}."
    )


def page(
    outcomes: Sequence[TrialOutcome], crawls: Mapping[str, Comparison], svgs: Mapping[str, bytes], command: str
) -> Page:
    """Lay out the report."""
    figure = {name: Picture(name, svg, CAPTIONS[name]) for name, svg in svgs.items()}
    sections = []
    for outcome in outcomes:
        name = outcome.protocol.name
        more = [counts_table(outcome)] + ([sizes_table(outcome)] if outcome.sizes else [])
        sections += [
            Section(f"{name}: what of the paper holds", tables=[findings_table(findings(outcome))]),
            Section(f"{name}: Tables 1 to 3", tables=tables(outcome)),
            Section(f"{name}: Figs 6 and 7 as numbers", tables=more),
        ]
    sections.append(Section("Training sizes and numbers of experts (Figs 6 and 7)", pictures=[figure["figures6-7"]]))
    if crawls:
        found = [f for name, comparison in crawls.items() for f in crawl_findings(name, comparison)]
        sections.append(
            Section(
                "Keeping copies fresh (Fig 8)",
                tables=[*(crawl_table(n, c) for n, c in crawls.items()), findings_table(found)],
                pictures=[figure["figure8"]],
            )
        )
    return Page(
        "Predicting content change: pages that predict pages",
        [headline(outcome) for outcome in outcomes],
        sections,
        [card for outcome in outcomes for card in cards(outcome)],
        command,
    )


def cards(outcome: TrialOutcome) -> list[tuple[str, str, str]]:
    """The headline numbers of a protocol."""
    mean = {m: 100 * interval(outcome.accuracy[m]).mean for m in (DRAW, MAJORITY, OWN, MULTIPLE)}
    word = f"2D {mean[OWN]:.1f}%, 1D {mean[DRAW]:.1f}%; more frequent outcome {mean[MAJORITY]:.1f}%"
    return [(f"{outcome.protocol.name}: 3D", f"{mean[MULTIPLE]:.1f}%", word)]
