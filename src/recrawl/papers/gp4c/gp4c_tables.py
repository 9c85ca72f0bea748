"""The tables of the GP4C experiment (Santos et al. 2014, Tables 1 to 4), the paper's numbers beside ours."""

from __future__ import annotations

import math

import numpy as np

from recrawl.evaluate.measures.measure import Measure
from recrawl.evaluate.statistics import CycleScore, cycle_score
from recrawl.evolve.candidates import NEARLY, PROGRAM_SELECTIONS, SELECTIONS, SHORT
from recrawl.papers.gp4c.gp4c_findings import against, stability
from recrawl.papers.gp4c.gp4c_protocol import (
    BASELINES,
    BOUND,
    FITNESS,
    MEASURES,
    OVER_CYCLES,
    PAPERS_CG,
    Gp4cExperiment,
    Variant,
)
from recrawl.papers.gp4c.gp4c_published import TABLE_1, TABLE_2, TABLE_3
from recrawl.policies.formulas.expression import Expression
from recrawl.policies.formulas.published import NAMED
from recrawl.report.table import Table, with_interval

FORMULAS = {
    "best": "The best formula of each test set, by validation.",
    SHORT: f"Shorter: the shortest formula whose validation is within {NEARLY * 100:g}% of the best; not in the paper.",
}
RIVALS = ("nad", "sad", "aad", "gad", PAPERS_CG, "cg", "tx", "bayes", *OVER_CYCLES)


def label(variant: Variant) -> str:
    """Name a variant as the paper does."""
    return f"GP4C {variant.terminals.capitalize()}"


def methods(experiment: Gp4cExperiment, measure: Measure) -> list[str | Variant]:
    """Return all methods; evolved ones with the measure as their fitness function."""
    evolved = [experiment.for_measure(terminals, measure) for terminals in experiment.protocol.terminals]
    return [*BASELINES, *OVER_CYCLES, *evolved]


def data(experiment: Gp4cExperiment) -> Table:
    """Table 1: the data."""
    data = experiment.data
    ours = [
        f"{data.days:g}",
        f"{data.pages:,}",
        f"{data.sites:,}",
        f"{data.least:,}",
        f"{data.most:,}",
        f"{data.pages / data.sites:.2f}",
        f"{100 * data.error_share:.2f}%",
        f"{data.removed:,}",
    ]
    rows = [[name, mine, paper] for (name, paper), mine in zip(TABLE_1.items(), ours, strict=True)]
    return Table(("after filtering", experiment.name, "paper (BRDC'12)"), rows)


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
        cells = (
            (with_interval(values[m][i], 4), gaps[m], _papers(name, measure)) for m, measure in enumerate(MEASURES)
        )
        rows.append([name, *(text for cell in cells for text in cell)])
    bound = [with_interval(experiment.summary(BOUND, measure), 4) for measure in MEASURES]
    rows.append([f"{BOUND} (bound)", bound[0], "", "", bound[1], "", ""])
    return Table(
        ("method", "ChangeRate", "to the best rival", "paper", "NDCG", "to the best rival", "paper"),
        rows,
        "Mean over all test cycles with the 95% interval over the folds. Evolved formulas are those bred for the "
        "measure at hand. The best rival is the best of the estimators, age and t * X; * marks a paired t-test over "
        "the folds that is significant at 95%. The paper's CG is eq. 4 as printed, without t: cg(form=rate).",
        frozenset({(best[0], 1), (best[1], 4)}),
    )


def _papers(method: str, measure: Measure) -> str:
    if method not in TABLE_2:
        return ""
    mean, half = TABLE_2[method][measure.spec]
    return f"{mean:.4f} ± {half:.4f}"


def best_rival(experiment: Gp4cExperiment, measure: Measure) -> str:
    """Return the best classical method."""
    return max((*RIVALS, "age"), key=lambda name: experiment.summary(name, measure).mean)


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
                cells.append(_papers_contest(measure, rival, terminals))
            rows.append([rival, *cells])
        words = ("won", "lost", "paper")
        heads = [f"GP4C {t.capitalize()} {word}" for t in experiment.protocol.terminals for word in words]
        note = (
            f"Test cycles (of {experiment.judged}; the paper 17) in which a paired t-test over the folds is "
            "significant at 95%, and the mean relative difference in them; paper: won / lost."
        )
        tables.append(Table((measure.spec, *heads), rows, note))
    return tables


def _papers_contest(measure: Measure, rival: str, terminals: str) -> str:
    published = TABLE_3[measure.spec].get(rival, {}).get(terminals)
    return "" if published is None else f"{_count(published[0], published[1])} / {_count(published[2], published[3])}"


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
        tables.append(Table(heads, rows, FORMULAS[selection]))
    return tables


def selections(experiment: Gp4cExperiment) -> Table:
    """How the three ways to choose the final formula do, and in how many cycles they differ."""
    rows = []
    for terminals in experiment.protocol.terminals:
        for name in (*SELECTIONS, *PROGRAM_SELECTIONS, SHORT):
            cells = []
            for measure in MEASURES:
                variant = experiment.for_measure(terminals, measure)
                cells.append(with_interval(experiment.summary(variant, measure, name), 4))
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
        "Sum and avg subtract sigma, the standard deviation of training and validation; by cycles: sigma of the values "
        "of all cycles, as in the authors' program, whose best is the best in training. "
        f"Short is the shortest formula within {NEARLY * 100:g}% of the best in validation; the paper has no such.",
    )


def cross_fitness(experiment: Gp4cExperiment) -> Table:
    """Each fitness function judged by each measure."""
    rows = [
        [
            f"{label(variant)}, bred for {MEASURES[FITNESS.index(variant.fitness)].spec}",
            *(with_interval(experiment.summary(variant, measure), 4) for measure in MEASURES),
        ]
        for variant in experiment.variants
    ]
    return Table(("method", *(measure.spec for measure in MEASURES)), rows)


def _count(cycles: int, pct: float) -> str:
    return f"{cycles} ({pct:+.2f}%)" if cycles else "0"


def printed(experiment: Gp4cExperiment) -> Table:
    """The formulas that the paper's Table 4 prints, on these test sets, with rates and with chances."""
    forms = ("rate", "chance")
    names = list(dict.fromkeys(name for name, _ in experiment.folds[0].printed))
    rows = []
    for name in names:
        shown = str(Expression.of(NAMED[name]))
        means = [np.mean([fold.printed[name, form] for fold in experiment.folds], axis=0) for form in forms]
        rows.append([name, shown, *(f"{mean[m]:.4f}" for m in range(2) for mean in means)])
    heads = ("printed in Table 4", "formula", *(f"{m.spec}, {form}s" for m in MEASURES for form in forms))
    note = "Mean over folds and cycles; with the estimators as rates (as the authors' program has them) or as chances."
    return Table(heads, rows, note)


def stable(experiment: Gp4cExperiment) -> Table:
    """The best formulas in training, validation and test (section 5.3: differences below 1%, across folds 3%)."""
    rows = []
    for terminals in experiment.protocol.terminals:
        for measure in MEASURES:
            variant = experiment.for_measure(terminals, measure)
            test = experiment.values(variant, measure).mean(axis=1)
            for number, (c, value) in enumerate(zip(experiment.chosen(variant), test, strict=True), 1):
                cells = (c.train, c.validation, float(value))
                rows.append([f"{label(variant)}, {measure.spec}, {number}", *(f"{v:.4f}" for v in cells)])
            apart, folds = stability(experiment, variant, measure)
            rows.append([f"{label(variant)}, {measure.spec}", "", "", f"{apart:.1f}% apart, folds {folds:.1f}%"])
    return Table(("formula of test set", "training", "validation", "test"), rows)
