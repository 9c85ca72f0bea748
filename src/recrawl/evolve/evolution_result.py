"""Result of an evolution, beside the classical estimators: as a table, JSON, files and a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from recrawl import __version__
from recrawl.evolve.evolution import Discovery
from recrawl.evolve.formula_export import to_python, to_sql
from recrawl.plan import Plan
from recrawl.policies.formulas.expression import Expression
from recrawl.policies.formulas.formula import Formula
from recrawl.report.layout import Page, Picture, Section, Table
from recrawl.report.results import json_text, number
from recrawl.report.style import COLOURS, MUTED, Drawing, Sheet, picture

SHOWN = 10


@dataclass(frozen=True)
class EvolutionResult:
    """What was found on which data."""

    discovery: Discovery
    plan: Plan
    measure: str
    over: str
    form: str
    name: str
    pages: tuple[int, int]  # training, validation
    cycles: tuple[int, int]
    classical: list[tuple[Expression, float, float]]  # fitness in training and validation

    @property
    def formula(self) -> Formula:
        """The chosen formula, with where it comes from."""
        best = self.discovery.best
        about = {
            "recrawl": __version__,
            "data": self.name,
            "fitness": self.measure,
            "train": number(best.train),
            "validation": number(best.validation),
            "cycle_days": self.plan.cycle_days,
            "budget": self.plan.budget,
            "seed": best.seed,
        }
        return Formula(best.formula, self.over, about, self.form)


def headline(outcome: EvolutionResult) -> str:
    """Return in one line what was done."""
    settings, found = outcome.discovery.settings, outcome.discovery
    return (
        f"{settings.seeds} x {settings.generations} generations of {settings.population}, "
        f"{found.simulated:,} different formulas judged by {outcome.measure} on {outcome.pages[0]:,} pages, "
        f"{outcome.cycles[0]} cycles of {outcome.plan.cycle_days:g} d; validated on {outcome.pages[1]:,} other pages "
        f"in the {outcome.cycles[1]} cycles after"
    )


def rows(outcome: EvolutionResult) -> list[tuple[str, float, float, str]]:
    """Return rows of formula, training and validation fitness and role: chosen, runner-up or classical."""
    found = outcome.discovery
    shown: dict[str, tuple[str, float, float, str]] = {}
    for name, candidate in found.chosen.items():
        text = str(candidate.formula)
        word = f"{shown[text][3]}, {name}" if text in shown else name
        shown[text] = (text, candidate.train, candidate.validation, word)
    for candidate in sorted(found.candidates, key=lambda c: (-c.validation, len(c.formula), c.formula.key)):
        if len(shown) >= SHOWN:
            break
        if all(abs(candidate.validation - row[2]) > 1e-12 for row in shown.values()):
            shown[str(candidate.formula)] = (str(candidate.formula), candidate.train, candidate.validation, "")
    return [*shown.values(), *((str(e), a, b, "classical") for e, a, b in outcome.classical)]


def formulas_table(outcome: EvolutionResult) -> Table:
    """The best formulas and, to compare, the classical estimators."""
    found = rows(outcome)
    best = frozenset((r, c) for r, row in enumerate(found) if row[3].split(", ")[0] == "best" for c in range(3))
    cells = [(formula, f"{train:.4f}", f"{valid:.4f}", word) for formula, train, valid, word in found]
    return Table(("formula", "training", "validation", "chosen as"), cells, best=best)


def to_json(outcome: EvolutionResult, command: str) -> str:
    """Write everything that was found."""
    found = outcome.discovery
    content: dict[str, Any] = {
        "recrawl": __version__,
        "command": command,
        "data": {"name": outcome.name, "pages": outcome.pages, "cycles": outcome.cycles},
        "fitness": outcome.measure,
        "over": outcome.over,
        "form": outcome.form,
        "terminals": found.settings.terminals,
        "simulated": found.simulated,
        "chosen": {name: candidate_json(c) for name, c in found.chosen.items()},
        "classical": [
            {"formula": str(e), "train": number(a), "validation": number(b)} for e, a, b in outcome.classical
        ],
        "candidates": [candidate_json(c) for c in found.candidates],
        "generations": [
            {
                "seed": g.seed, "generation": g.number, "best": number(g.best), "mean": number(g.mean),
                "distinct": g.distinct, "new": g.new, "behaviours": g.behaviours, "size": number(g.size),
            }
            for run in found.runs
            for g in run.generations
        ],
    }  # fmt: skip
    return json_text(content)


def candidate_json(candidate: Any) -> dict[str, Any]:
    """Write a candidate."""
    return {
        "formula": str(candidate.formula),
        "seed": candidate.seed,
        "train": number(candidate.train),
        "validation": number(candidate.validation),
        "nodes": len(candidate.formula),
    }


def draw(sheet: Sheet, outcome: EvolutionResult) -> Figure:
    """Best and mean fitness by generation, one colour per seed."""
    figure, (axis,) = sheet.panels(height=3.6, width=9.0)
    sheet.values(axis)
    for run, colour in zip(outcome.discovery.runs, COLOURS * len(outcome.discovery.runs), strict=False):
        x = np.array([g.number for g in run.generations])
        axis.plot(x, [g.best for g in run.generations], color=colour, linewidth=1.8, label=f"seed {run.seed}")
        axis.plot(x, [g.mean for g in run.generations], color=colour, linewidth=0.8, alpha=0.6)
    top = max(outcome.classical, key=lambda row: row[1])
    axis.axhline(top[1], color=MUTED, linestyle="--", linewidth=1.0)
    axis.annotate(f"{top[0]}", (1, top[1]), xytext=(0, 3), textcoords="offset points", color=MUTED, fontsize=8)
    axis.set(xlabel="generation", title=f"{outcome.measure} in training: best so far (bold) and mean of the population")
    axis.legend(loc="lower right")
    return figure


def files_of(outcome: EvolutionResult, command: str) -> dict[str, bytes]:
    """Return all files of a report by name."""
    drawing = picture(draw, outcome)
    formula = outcome.formula
    text = {
        "results.json": to_json(outcome, command),
        "best.json": formula.to_json(),
        "best.py": to_python(formula),
        "best.sql": f"-- {formula}\n{to_sql(formula)}\n",
        "report.html": page(outcome, drawing, command).html(),
    }
    return {name: content.encode() for name, content in text.items()} | drawing.files("fitness")


def page(outcome: EvolutionResult, drawing: Drawing, command: str) -> Page:
    """Lay out the report."""
    formula, best = outcome.formula, outcome.discovery.best
    top = max(outcome.classical, key=lambda row: row[2])
    gain = 100 * (best.validation / top[2] - 1) if top[2] else 0.0
    return Page(
        title="An evolved score formula",
        intro=[headline(outcome) + "."],
        cards=[
            ("formula", str(formula), "higher is sooner"),
            (f"{outcome.measure} in validation", f"{best.validation:.4f}", f"{best.train:.4f} in training"),
            (f"against {top[0]}", f"{gain:+.1f}%", "the best classical estimator in validation"),
        ],
        sections=[
            Section("The best formulas", tables=[formulas_table(outcome)]),
            Section("Evolution", pictures=[Picture("fitness", drawing, "Dashed: the best classical estimator.")]),
            Section("In Python", code=to_python(formula)),
            Section("In SQL", code=to_sql(formula)),
        ],
        command=command,
    )
