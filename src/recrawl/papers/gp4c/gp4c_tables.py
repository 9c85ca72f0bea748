"""The tables of the GP4C experiment (Santos et al. 2014, Tables 2 to 4), for people and as JSON."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from recrawl import __version__
from recrawl.evaluate.measures.measure import Measure
from recrawl.evaluate.statistics import CycleScore, PairedTest, cycle_score, paired_test
from recrawl.evolve.evolution import NEARLY, SELECTIONS, SHORT
from recrawl.papers.gp4c.gp4c_protocol import BASELINES, BOUND, FITNESS, MEASURES, OVER_CYCLES, Gp4cExperiment, Variant
from recrawl.report.results import number
from recrawl.report.table import Table, said

RIVALS = ("nad", "sad", "aad", "gad", "cg", "tx", "bayes", *OVER_CYCLES)


def label(variant: Variant) -> str:
    """Name a variant as the paper does."""
    return f"GP4C {variant.terminals.capitalize()}"


def methods(experiment: Gp4cExperiment, measure: Measure) -> list[str | Variant]:
    """Return all methods; evolved ones with the measure as their fitness function."""
    evolved = [experiment.for_measure(terminals, measure) for terminals in experiment.protocol.terminals]
    return [*BASELINES, *OVER_CYCLES, *evolved]


def overall(experiment: Gp4cExperiment) -> Table:
    """Table 2: ChangeRate and NDCG of all methods over all test cycles."""
    columns = [methods(experiment, measure) for measure in MEASURES]
    values = [
        [experiment.summary(method, measure) for method in column]
        for column, measure in zip(columns, MEASURES, strict=True)
    ]
    best = [int(np.argmax([value.mean for value in column])) for column in values]
    rows = []
    for i, method in enumerate(columns[0]):
        name = label(method) if isinstance(method, Variant) else method
        gaps = [_against_best_rival(experiment, columns[m][i], measure) for m, measure in enumerate(MEASURES)]
        rows.append([name, *(text for m in range(2) for text in (said(values[m][i], 4), gaps[m]))])
    bound = [said(experiment.summary(BOUND, measure), 4) for measure in MEASURES]
    rows.append([f"{BOUND} (bound)", bound[0], "", bound[1], ""])
    return Table(
        ("method", "ChangeRate", "to the best rival", "NDCG", "to the best rival"),
        rows,
        "Mean over all test cycles with the 95% interval over the folds. Evolved formulas are those bred for the "
        "measure at hand. The best rival is the best of the estimators, age and t * X; * marks a paired t-test over "
        "the folds that is significant at 95%.",
        frozenset({(best[0], 1), (best[1], 3)}),
    )


def best_rival(experiment: Gp4cExperiment, measure: Measure) -> str:
    """Return the best classical method."""
    return max((*RIVALS, "age"), key=lambda name: experiment.summary(name, measure).mean)


def against(experiment: Gp4cExperiment, variant: str | Variant, rival: str, measure: Measure) -> PairedTest:
    """Test a method against a rival, fold by fold."""
    means = [experiment.values(method, measure).mean(axis=1) for method in (variant, rival)]
    return paired_test(means[0], means[1])


def _against_best_rival(experiment: Gp4cExperiment, method: str | Variant, measure: Measure) -> str:
    if not isinstance(method, Variant):
        return ""
    rival = best_rival(experiment, measure)
    test = against(experiment, method, rival, measure)
    base = experiment.summary(rival, measure).mean
    gain = 100 * test.difference / base if base else math.nan
    return f"{gain:+.2f}%{'*' if test.significant else ''} ({rival})"


def contests(experiment: Gp4cExperiment) -> list[Table]:
    """Table 3: cycles won and lost against each rival."""
    tables = []
    for measure in MEASURES:
        rows = []
        for rival in RIVALS:
            cells = []
            for terminals in experiment.protocol.terminals:
                score = contest(experiment, experiment.for_measure(terminals, measure), rival, measure)
                cells += [_count(score.victories, score.gain_pct), _count(score.losses, score.loss_pct)]
            rows.append([rival, *cells])
        heads = [f"GP4C {t.capitalize()} {word}" for t in experiment.protocol.terminals for word in ("won", "lost")]
        note = (
            f"Test cycles (of {_cycles(experiment)}) in which a paired t-test over the folds is significant at 95%, "
            "and the mean relative difference in them."
        )
        tables.append(Table((measure.spec, *heads), rows, note))
    return tables


def contest(experiment: Gp4cExperiment, variant: Variant, rival: str, measure: Measure) -> CycleScore:
    """Count the cycles that an evolved method wins and loses."""
    return cycle_score(experiment.values(variant, measure), experiment.values(rival, measure))


def formulas(experiment: Gp4cExperiment, selection: str = "best") -> list[Table]:
    """Table 4: the best formula of each test set."""
    tables = []
    for terminals in experiment.protocol.terminals:
        columns = [experiment.chosen(Variant(terminals, fitness), selection) for fitness in FITNESS]
        rows = [
            [str(i + 1), *(text for c in (a, b) for text in (str(c.formula), f"{c.train:.4f} / {c.validation:.4f}"))]
            for i, (a, b) in enumerate(zip(*columns, strict=True))
        ]
        heads = (f"{terminals}, test set", "bred for ChangeRate", "train / valid.", "bred for NDCG", "train / valid.")
        tables.append(Table(heads, rows))
    return tables


def selections(experiment: Gp4cExperiment) -> Table:
    """How the three ways to choose the final formula do, and in how many cycles they differ."""
    rows = []
    for terminals in experiment.protocol.terminals:
        for name in (*SELECTIONS, SHORT):
            cells = []
            for measure in MEASURES:
                variant = experiment.for_measure(terminals, measure)
                cells.append(said(experiment.summary(variant, measure, name), 4))
                score = cycle_score(
                    experiment.values(variant, measure, name), experiment.values(variant, measure, "best")
                )
                cells.append("" if name == "best" else f"{score.victories} / {score.losses}")
            rows.append([f"{terminals}, {name}", *cells])
    heads = ("selection", "ChangeRate", "won / lost to best", "NDCG", "won / lost to best")
    return Table(
        heads,
        rows,
        f"Cycles that differ significantly from those of the selection by validation alone (best). "
        f"Short is the shortest formula within {NEARLY * 100:g}% of the best in validation; the paper has no such.",
    )


def cross_fitness(experiment: Gp4cExperiment) -> Table:
    """Each fitness function judged by each measure."""
    rows = [
        [
            f"{label(variant)}, bred for {MEASURES[FITNESS.index(variant.fitness)].spec}",
            *(said(experiment.summary(variant, measure), 4) for measure in MEASURES),
        ]
        for variant in experiment.variants
    ]
    return Table(("method", *(measure.spec for measure in MEASURES)), rows)


def _count(cycles: int, pct: float) -> str:
    return f"{cycles} ({pct:+.2f}%)" if cycles else "0"


def _cycles(experiment: Gp4cExperiment) -> int:
    return experiment.protocol.cycles[2] - experiment.protocol.plan.warmup


def correlation(experiment: Gp4cExperiment, method: str | Variant, measure: Measure) -> float:
    """Pearson's correlation of the pages that change in a cycle with the measure (the paper: .56 and .42)."""
    changed = np.stack([fold.changed for fold in experiment.folds]).mean(axis=0)
    curve = experiment.values(method, measure).mean(axis=0)
    if changed.std() == 0 or curve.std() == 0:
        return math.nan
    return float(np.corrcoef(changed, curve)[0, 1])


# -- JSON -------------------------------------------------------------------------------------------------------------


def results(experiment: Gp4cExperiment, command: str) -> dict[str, Any]:
    """Return everything measured as plain values."""
    protocol = experiment.protocol
    return {
        "recrawl": __version__,
        "experiment": "gp4c",
        "command": command,
        "data": experiment.name,
        "protocol": {
            "cycle_days": protocol.plan.cycle_days,
            "cycles": protocol.cycles,
            "warmup": protocol.plan.warmup,
            "budget": protocol.plan.budget,
            "folds": protocol.folds,
            "train_folds": protocol.train_folds,
            "over": protocol.over,
            "seed": protocol.plan.seed,
            "population": protocol.settings.population,
            "generations": protocol.settings.generations,
            "seeds": protocol.settings.seeds,
        },
        "folds": [
            {"pages": fold.pages, "simulated": {str(v): d.simulated for v, d in fold.discoveries.items()}}
            for fold in experiment.folds
        ],
        "baselines": {
            name: {m.spec: _measured(experiment, name, m) for m in MEASURES}
            for name in (*BASELINES, *OVER_CYCLES, BOUND)
        },
        "evolved": {str(v): _variant(experiment, v) for v in experiment.variants},
    }


def _measured(
    experiment: Gp4cExperiment, method: str | Variant, measure: Measure, selection: str = "best"
) -> dict[str, Any]:
    values = experiment.values(method, measure, selection)
    summary = experiment.summary(method, measure, selection)
    return {
        "mean": number(summary.mean),
        "ci95": number(summary.half),
        "folds": [number(v) for v in values.mean(axis=1)],
        "cycles": [number(v) for v in values.mean(axis=0)],
    }


def _variant(experiment: Gp4cExperiment, variant: Variant) -> dict[str, Any]:
    measured = {
        selection: {m.spec: _measured(experiment, variant, m, selection) for m in MEASURES}
        for selection in (*SELECTIONS, SHORT)
    }
    versus = {rival: {m.spec: _versus(experiment, variant, rival, m) for m in MEASURES} for rival in (*RIVALS, "age")}
    return {
        "selections": measured,
        "versus": versus,
        "formulas": {
            selection: [
                {
                    "formula": str(c.formula),
                    "seed": c.seed,
                    "train": number(c.train),
                    "validation": number(c.validation),
                }
                for c in experiment.chosen(variant, selection)
            ]
            for selection in (*SELECTIONS, SHORT)
        },
        "interrupted": np.stack([fold.interrupted[variant] for fold in experiment.folds]).mean(axis=0).tolist(),
        "new_picks": np.stack([fold.new_picks[variant] for fold in experiment.folds]).mean(axis=0).tolist(),
    }


def _versus(experiment: Gp4cExperiment, variant: Variant, rival: str, measure: Measure) -> dict[str, Any]:
    test, score = against(experiment, variant, rival, measure), contest(experiment, variant, rival, measure)
    return {
        "difference": number(test.difference),
        "p": number(test.p),
        "victories": score.victories,
        "losses": score.losses,
        "gain_pct": number(score.gain_pct),
        "loss_pct": number(score.loss_pct),
    }
