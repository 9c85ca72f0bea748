"""The figures of the GP4C experiment (Santos et al. 2014, Figs 3 to 6)."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from recrawl.columns import FloatArray
from recrawl.evaluate.statistics import interval
from recrawl.evolve.candidates import SELECTIONS
from recrawl.papers.gp4c.gp4c_protocol import FITNESS, MEASURES, SHARES, Gp4cExperiment, Variant
from recrawl.papers.gp4c.gp4c_published import NEW_PAGES
from recrawl.report.style import COLOURS, INK, MUTED, Plot, Sheet

CURVES = ("nad", "sad", "aad", "gad", "cg")


def figure3(sheet: Sheet, experiment: Gp4cExperiment) -> Figure:
    """Best, sum and avg."""
    figure, axes = _two_panels(sheet, experiment)
    terminals = experiment.protocol.terminals[-1]
    for axis, measure in zip(axes, MEASURES, strict=True):
        variant = experiment.for_measure(terminals, measure)
        for name, colour, shift in zip(SELECTIONS, COLOURS, (-0.15, 0.0, 0.15), strict=False):
            values = experiment.values(variant, measure, name)
            _errorbars(axis, _cycles(experiment) + shift, values, colour, f"GP4C {name}")
        axis.legend()
    return figure


def figure4(sheet: Sheet, experiment: Gp4cExperiment) -> Figure:
    """Estimators and GP4C."""
    figure, axes = _two_panels(sheet, experiment)
    for axis, measure in zip(axes, MEASURES, strict=True):
        for name, colour in zip(CURVES, COLOURS[1:], strict=False):
            axis.plot(
                _cycles(experiment), experiment.values(name, measure).mean(axis=0), color=colour, label=name.upper()
            )
        for terminals, style in zip(experiment.protocol.terminals[::-1], ("-", ":"), strict=False):
            variant = experiment.for_measure(terminals, measure)
            axis.plot(
                _cycles(experiment), experiment.values(variant, measure).mean(axis=0), color=COLOURS[0], linewidth=2.2,
                linestyle=style, label=f"GP4C {terminals.capitalize()}",
            )  # fmt: skip
        axis.legend(ncols=2)
    return figure


def figure5(sheet: Sheet, experiment: Gp4cExperiment) -> Figure:
    """Both fitness functions with smaller budgets."""
    figure, axes = _two_panels(sheet, experiment)
    budget = experiment.protocol.plan.budget
    x = np.array(SHARES) * (100 * budget if isinstance(budget, float) else budget)
    terminals = experiment.protocol.terminals[-1]
    for at, (axis, measure) in enumerate(zip(axes, MEASURES, strict=True)):
        for fitness, bred, colour in zip(FITNESS, MEASURES, COLOURS, strict=False):
            values = np.stack([fold.interrupted[Variant(terminals, fitness)][at] for fold in experiment.folds])
            _errorbars(axis, x, values, colour, f"bred for {bred.spec}")
        axis.set_xlabel("budget: % of the pages per cycle" if isinstance(budget, float) else "budget: visits per cycle")
        axis.set_title(measure.spec)
        axis.legend()
    return figure


def figure6(sheet: Sheet, experiment: Gp4cExperiment) -> Figure:
    """New pages by cycle."""
    figure, (axis,) = sheet.panels(height=3.2, width=9.0)
    sheet.values(axis)
    terminals = experiment.protocol.terminals[-1]
    for fitness, bred, colour in zip(FITNESS, MEASURES, COLOURS, strict=False):
        values = np.stack([fold.new_picks[Variant(terminals, fitness)] for fold in experiment.folds])
        _errorbars(axis, _cycles(experiment), values, colour, f"bred for {bred.spec}")
        other = np.stack([fold.other_picks[Variant(terminals, fitness)] for fold in experiment.folds]).mean(axis=0)
        axis.plot(_cycles(experiment), other, color=colour, linewidth=1.0, linestyle="--")
    axis.axhline(NEW_PAGES, color=MUTED, linestyle=":", linewidth=1.0)
    axis.annotate("paper", (_cycles(experiment)[-1], NEW_PAGES), color=MUTED, fontsize=8, ha="right", va="bottom")
    axis.set_ylim(0, 1.05)
    axis.set(xlabel=_cycle_word(experiment), title=f"New pages visited, GP4C {terminals.capitalize()}")
    axis.legend()
    return figure


def evolution(sheet: Sheet, experiment: Gp4cExperiment) -> Figure:
    """Fitness by generation."""
    figure, axes = _two_panels(sheet, experiment)
    for axis, fitness in zip(axes, FITNESS, strict=True):
        for terminals, colour in zip(experiment.protocol.terminals, (MUTED, COLOURS[0]), strict=False):
            runs = [run for fold in experiment.folds for run in fold.discoveries[Variant(terminals, fitness)].runs]
            best = np.array([[g.best for g in run.generations] for run in runs]).mean(axis=0)
            mean = np.array([[g.mean for g in run.generations] for run in runs]).mean(axis=0)
            x = np.arange(1, len(best) + 1)
            axis.plot(x, best, color=colour, linewidth=1.8, label=f"{terminals}: best")
            axis.plot(x, mean, color=colour, linewidth=0.8, label=f"{terminals}: mean")
        axis.set_xlabel("generation")
        axis.legend()
    return figure


def _two_panels(sheet: Sheet, experiment: Gp4cExperiment) -> tuple[Figure, list[Any]]:
    figure, axes = sheet.panels(2, height=3.6)
    for axis, measure in zip(axes, MEASURES, strict=True):
        sheet.values(axis)
        axis.set(title=measure.spec, xlabel=_cycle_word(experiment))
    return figure, axes


def _errorbars(axis: Any, x: FloatArray, values: FloatArray, colour: str, label: str) -> None:
    """Mean of the folds with 95% intervals."""
    points = [interval(values[:, i]) for i in range(values.shape[1])]
    half = np.nan_to_num([point.half for point in points])
    axis.errorbar(
        x, [point.mean for point in points], yerr=half, color=colour, ecolor=colour, label=label, linewidth=1.4,
        elinewidth=0.8, capsize=2, marker="o", markersize=2.5, markeredgecolor=INK, markeredgewidth=0.2,
    )  # fmt: skip


def _cycles(experiment: Gp4cExperiment) -> FloatArray:
    protocol = experiment.protocol
    return np.arange(protocol.plan.warmup + 1, protocol.cycles[2] + 1, dtype=np.float64)


def _cycle_word(experiment: Gp4cExperiment) -> str:
    days = experiment.protocol.plan.cycle_days
    return f"test cycle of {days:g} {'day' if days == 1 else 'days'}"


PLOTS = {
    "figure3": Plot(
        figure3, "Three ways to choose the final formula, cycle by cycle: means over the folds, 95% intervals (Fig 3)."
    ),
    "figure4": Plot(figure4, "The methods cycle by cycle, averages over the folds (Fig 4)."),
    "figure5": Plot(
        figure5, "Schedules that are interrupted: formulas bred for the whole budget, run with less of it (Fig 5)."
    ),
    "figure6": Plot(
        figure6,
        "Share of each cycle's visits that go to pages not visited before (Fig 6); dashed: not in the cycle before.",
    ),
    "evolution": Plot(evolution, "Best and mean fitness in training by generation, mean over folds and seeds."),
}
