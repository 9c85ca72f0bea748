"""The experiment on clusters as files: results.json, figures and one page."""

from __future__ import annotations

import json

from recrawl.papers.clusters import clusters_tables as tables
from recrawl.papers.clusters.clusters_figures import CAPTIONS, pictures
from recrawl.papers.clusters.clusters_protocol import CLS, IDEAL, ClustersExperiment
from recrawl.report.result_page import Page, Picture, Section


def is_ours(name: str) -> bool:
    """Whether a file of this name may have been written by this experiment."""
    stem, _, kind = name.rpartition(".")
    return name in ("results.json", "report.html") or (stem in CAPTIONS and kind in ("png", "svg"))


def files_of(experiment: ClustersExperiment, command: str) -> dict[str, bytes]:
    """Return all files by name."""
    drawn = pictures(experiment)
    text = json.dumps(tables.results(experiment, command), indent=1, ensure_ascii=False) + "\n"
    out = {"results.json": text.encode()}
    for name, (png, svg) in drawn.items():
        out[f"{name}.png"], out[f"{name}.svg"] = png, svg
    out["report.html"] = page(experiment, {name: svg for name, (_, svg) in drawn.items()}, command).html().encode()
    return out


def page(experiment: ClustersExperiment, svgs: dict[str, bytes], command: str) -> Page:
    """Lay out the report: what was run, in the order of the paper."""

    def figure(name: str) -> list[Picture]:
        return [Picture(name, svgs[name], CAPTIONS[name])] if name in svgs else []

    sections = [Section("Which findings hold", tables=[tables.findings(experiment)])]
    if experiment.counts:
        sections.append(Section("How many clusters (Fig 1)", "", [tables.counts(experiment)], figure("figure1")))
    if experiment.units:
        sections.append(Section("Pages in a cluster and in a site (Table 2)", "", [tables.units(experiment)]))
    if experiment.features:
        sections.append(Section("Sets of features (Fig 2)", "", [tables.features(experiment)], figure("figure2")))
    places = list(dict.fromkeys((c, b) for c, b, _ in experiment.runs))
    if places:
        sections.append(Section("Weights of past changes (Fig 3)", pictures=figure("figure3")))
        sections.append(Section("All policies (Fig 4)", "", [tables.overall(experiment, *p) for p in places],
                                figure("figure4")))  # fmt: skip
        kinds = ("precision", "fresh", "change")
        sections.append(
            Section("Tests (Table 3)", "", [tables.t_tests(experiment, *p, w) for p in places for w in kinds])
        )
    if experiment.cold:
        sections.append(Section("Pages born in the window", "", [tables.cold(experiment)]))
    return Page(
        title="Cluster-level sampling, and what freshness does to search results",
        intro=[headline(experiment)],
        cards=cards(experiment),
        sections=sections,
        command=command,
    )


def headline(experiment: ClustersExperiment) -> str:
    """Say in one line what was done."""
    protocol = experiment.protocol
    cycles = ", ".join(f"{cycle:g}" for cycle in protocol.cycles)
    budgets = ", ".join(tables.budget_word(budget) for budget in protocol.budgets)
    return (
        f"{experiment.name}: {experiment.pages:,} pages at the start; cycles of {cycles} d, {protocol.warmup} of them "
        f"for warm-up; {budgets} a cycle; {protocol.clusters} clusters; {len(experiment.asked)} queries."
    )


def cards(experiment: ClustersExperiment) -> list[tuple[str, str, str]]:
    """Return the headline numbers: the best of cluster-level sampling at the first place, beside the best rival."""
    if not experiment.runs:
        return []
    cycle, budget = next((c, b) for c, b, _ in experiment.runs)
    found = []
    for what, name in (("change", "ChangeRatio"), ("fresh", "freshness@10"), ("precision", "MAP@10")):
        value = {p: tables.mean(getattr(experiment.runs[cycle, budget, p], what)) for p in experiment.policies}
        best = max(CLS, key=lambda policy: value[policy])
        rival = max((p for p in value if p not in CLS and p != IDEAL), key=lambda policy: value[policy])
        found.append((f"{name}, {best}", tables.shown(value[best]), f"best other: {rival}, {value[rival]:.4f}"))
    return found
