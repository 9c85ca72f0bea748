"""Everything that the GP4C experiment measured, as plain values for results.json."""

from __future__ import annotations

from typing import Any

import numpy as np

from recrawl import __version__
from recrawl.columns import FloatArray
from recrawl.evaluate.measures.measure import Measure
from recrawl.evaluate.statistics import interval
from recrawl.evolve.candidates import PROGRAM_SELECTIONS, SELECTIONS, SHORT
from recrawl.papers.gp4c.gp4c_findings import against, correlation, findings
from recrawl.papers.gp4c.gp4c_protocol import (
    BASELINES,
    BOUND,
    MEASURES,
    OVER_CYCLES,
    SHARES,
    Gp4cExperiment,
    Variant,
)
from recrawl.papers.gp4c.gp4c_published import CORRELATIONS, NEW_PAGES, TABLE_1, TABLE_2, TABLE_3
from recrawl.papers.gp4c.gp4c_tables import RIVALS, contest
from recrawl.report.results import number

NAMES = (*SELECTIONS, *PROGRAM_SELECTIONS, SHORT)


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
            "split": protocol.split,
            "over": protocol.over,
            "form": protocol.form,
            "errors": protocol.errors,
            "seed": protocol.plan.seed,
            "population": protocol.settings.population,
            "generations": protocol.settings.generations,
            "seeds": protocol.settings.seeds,
            "archive": protocol.settings.archive,
            "depth": protocol.settings.depth,
            "parents": protocol.settings.parents,
            "rates": protocol.settings.rates._asdict(),
        },
        "table1": vars(experiment.data),
        "paper": {
            "table1": TABLE_1, "table2": TABLE_2, "table3": TABLE_3, "correlations": CORRELATIONS, "new": NEW_PAGES
        },
        "too_small": experiment.too_small(),
        "findings": [finding.to_dict() for finding in findings(experiment)],
        "folds": [
            {
                "pages": fold.pages,
                "visits": fold.visits,
                "changed": fold.changed.tolist(),
                "shown": fold.shown,
                "simulated": {str(v): d.simulated for v, d in fold.discoveries.items()},
            }
            for fold in experiment.folds
        ],
        "baselines": {
            name: {m.spec: _measured(experiment, name, m) for m in MEASURES}
            for name in (*BASELINES, *OVER_CYCLES, BOUND)
        },
        "evolved": {str(v): _variant(experiment, v) for v in experiment.variants},
        "table4": {
            name: {
                form: _intervals(np.stack([fold.printed[name, form] for fold in experiment.folds]))
                for form in ("rate", "chance")
            }
            for name in dict.fromkeys(name for name, _ in experiment.folds[0].printed)
        },
    }  # fmt: skip


def _intervals(values: FloatArray) -> list[dict[str, Any]]:
    """Mean and 95% interval over the folds (rows) of every column."""
    points = [interval(column) for column in values.T]
    return [{"mean": number(point.mean), "ci95": number(point.half)} for point in points]


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
        selection: {m.spec: _measured(experiment, variant, m, selection) for m in MEASURES} for selection in NAMES
    }
    folds = experiment.folds
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
            for selection in NAMES
        },
        "interrupted": {
            m.spec: {"shares": SHARES, "values": _intervals(np.stack([f.interrupted[variant][i] for f in folds]))}
            for i, m in enumerate(MEASURES)
        },
        "new_picks": _intervals(np.stack([fold.new_picks[variant] for fold in folds])),
        "other_picks": _intervals(np.stack([fold.other_picks[variant] for fold in folds])),
        "correlations": {m.spec: _correlations(experiment, variant, m) for m in MEASURES},
        "generations": [
            {"fold": i, "seed": run.seed, "best": [g.best for g in run.generations],
             "mean": [g.mean for g in run.generations], "distinct": [g.distinct for g in run.generations]}
            for i, fold in enumerate(folds, 1) for run in fold.discoveries[variant].runs
        ],
    }  # fmt: skip


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


def _correlations(experiment: Gp4cExperiment, variant: Variant, measure: Measure) -> dict[str, Any]:
    """With the pages that change in a cycle; and without the first two judged cycles."""
    (r, p), (later, later_p) = (correlation(experiment, variant, measure, skip) for skip in (0, 2))
    return {"r": number(r), "p": number(p), "later_r": number(later), "later_p": number(later_p)}
