"""The GP4C experiment as files: results.json, formulas, figures and one page."""

from __future__ import annotations

import json

from recrawl.evaluate.measures.ranking import NDCG
from recrawl.evolve.archive import SHORT
from recrawl.papers.gp4c import gp4c_tables as tables
from recrawl.papers.gp4c.gp4c_figures import CAPTIONS, pictures
from recrawl.papers.gp4c.gp4c_protocol import MEASURES, Gp4cExperiment
from recrawl.policies.formulas.formula import Formula
from recrawl.report.result_page import Page, Picture, Section

FIGURES = tuple(CAPTIONS)


def is_ours(name: str) -> bool:
    """Whether a file of this name may have been written by this experiment."""
    stem, _, kind = name.rpartition(".")
    if name in ("results.json", "report.html") or (stem in FIGURES and kind in ("png", "svg")):
        return True
    return kind == "json" and stem.startswith(("basic-", "all-", "extended-"))


def files_of(experiment: Gp4cExperiment, command: str) -> dict[str, bytes]:
    """Return all files by name."""
    drawn = pictures(experiment)
    out = {
        "results.json": (json.dumps(tables.results(experiment, command), indent=1, ensure_ascii=False) + "\n").encode()
    }
    for name, (png, svg) in drawn.items():
        out[f"{name}.png"], out[f"{name}.svg"] = png, svg
    named = [(v, selection) for v in experiment.variants for selection in ("best", SHORT)]
    for variant, selection in named:
        for number, candidate in enumerate(experiment.chosen(variant, selection), 1):
            about = {"data": experiment.name, "fitness": variant.fitness, "fold": number, "seed": candidate.seed}
            formula = Formula(candidate.formula, experiment.protocol.over, about)
            kind = "" if selection == "best" else f"-{selection}"
            out[f"{variant.terminals}-{variant.fitness}-{number}{kind}.json"] = formula.to_json().encode()
    svgs = {name: svg for name, (_, svg) in drawn.items()}
    out["report.html"] = page(experiment, svgs, command).html().encode()
    return out


def page(experiment: Gp4cExperiment, svgs: dict[str, bytes], command: str) -> Page:
    """Lay out the report."""

    def figure(name: str) -> Picture:
        return Picture(name, svgs[name], CAPTIONS[name])

    best = experiment.for_measure(experiment.protocol.terminals[-1], MEASURES[1])
    correlated = ", ".join(
        f"{tables.correlation(experiment, experiment.for_measure(best.terminals, m), m):.2f} with {m.spec}"
        for m in MEASURES
    )
    return Page(
        title="GP4C: evolved score functions against the estimators",
        intro=[headline(experiment)],
        cards=cards(experiment),
        sections=[
            Section("Overall (Table 2)", tables=[tables.overall(experiment)]),
            Section(
                "Cycle by cycle (Table 3, Fig 4)", tables=tables.contests(experiment), pictures=[figure("figure4")]
            ),
            Section("The formulas (Table 4)", tables=tables.formulas(experiment)),
            Section("Short formulas that are nearly as good", tables=tables.formulas(experiment, SHORT)),
            Section("Ways to choose (Fig 3)", tables=[tables.selections(experiment)], pictures=[figure("figure3")]),
            Section(
                "What to breed for (Fig 5)", tables=[tables.cross_fitness(experiment)], pictures=[figure("figure5")]
            ),
            Section("New pages (Fig 6)", pictures=[figure("figure6")]),
            Section("Evolution", pictures=[figure("evolution")]),
            Section("Busy cycles", f"Correlation of the number of pages that change in a cycle: {correlated}."),
        ],
        command=command,
    )


def headline(experiment: Gp4cExperiment) -> str:
    """Say in one line what was done."""
    protocol, fold = experiment.protocol, experiment.folds[0]
    budget = protocol.plan.budget
    said = f"{budget * 100:g}% of the pages" if isinstance(budget, float) else f"{budget} visits"
    windows = " + ".join(str(c) for c in protocol.cycles)
    settings = protocol.settings
    return (
        f"{protocol.folds} folds; {windows} cycles of {protocol.plan.cycle_days:g} d to train, validate and test, "
        f"{protocol.plan.warmup} of each for warm-up; {said} a cycle; about {fold.pages[0]:,} pages to train on and "
        f"{fold.pages[2]:,} to test on; {settings.seeds} seeds x {settings.generations} generations of "
        f"{settings.population}; the estimators' weights run over {protocol.over}."
    )


def cards(experiment: Gp4cExperiment) -> list[tuple[str, str, str]]:
    """Return the headline numbers."""
    found = []
    for measure in MEASURES:
        variant = experiment.for_measure(experiment.protocol.terminals[-1], measure)
        rival = tables.best_rival(experiment, measure)
        test = tables.against(experiment, variant, rival, measure)
        base = experiment.summary(rival, measure).mean
        gain = f"{100 * test.difference / base:+.2f}%" if base else "–"
        word = f"to {rival}, the best classical method; {'' if test.significant else 'not '}significant"
        found.append(
            (f"{tables.label(variant)}: {measure.spec}", tables.shown(experiment.summary(variant, measure)), "")
        )
        found.append((f"{measure.spec} gained", gain, word))
    chosen = experiment.chosen(experiment.for_measure(experiment.protocol.terminals[-1], NDCG()), SHORT)
    shortest = min(chosen, key=lambda c: (len(c.formula), -c.validation))
    return [*found, ("a formula", str(shortest.formula), "the shortest of those bred for NDCG")]
