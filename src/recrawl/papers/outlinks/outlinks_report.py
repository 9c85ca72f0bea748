"""The report of the outlinks experiment: what of the paper holds, its tables and figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from recrawl.features.newlinks import WHERE
from recrawl.papers.base import Figures, Finding, PaperReport, Verdict
from recrawl.papers.outlinks.outlinks_figures import PLOTS
from recrawl.papers.outlinks.outlinks_models import Scores
from recrawl.papers.outlinks.outlinks_protocol import OutlinksExperiment
from recrawl.report.layout import Section, Table
from recrawl.report.style import Plot

TARGETS = ("LCR", "NL", "NNL")


def table2(experiment: OutlinksExperiment) -> Table:
    """Mean and deviation of the number of new links."""
    held = experiment.statistics
    rows = [
        [
            f"week {week + 1}",
            *(f"{value[sort, week]:.3f}" for sort in range(3) for value in (held.mean, held.deviation)),
        ]
        + [f"{held.gaining[at, week]:.2%}" for at in range(2)]
        for week in range(held.mean.shape[1])
    ]
    heads = [
        "", "total μ", "σ", "internal μ", "σ", "external μ", "σ", "gain internal", "gain external"
    ]  # fmt: skip
    return Table(heads, rows, f"{held.pages:,} pages; {held.external_share:.0%} of the new links are external.")


def scores_table(title: str, scores: list[Scores]) -> Table:
    """Scores in columns, models in rows; the best model of each column is marked."""
    keys = list(scores[0].values)
    values = np.array([[score.values[key] for key in keys] for score in scores])
    lower = np.array([key in ("MAE", "MedAE") for key in keys])
    ranked = np.where(np.isnan(values), -np.inf, np.where(lower, -values, values))
    best = frozenset((int(np.argmax(ranked[:, c])), c + 1) for c in range(len(keys)))
    return Table([title, *keys], [[s.name, *(_cell(s.values[key]) for key in keys)] for s in scores], best=best)


def rankings_table(experiment: OutlinksExperiment, where: str) -> Table:
    """Spearman's rho with the targets and the area under Precision@k%."""
    held = experiment.rankings[where]
    values = np.array([[*(ranking.rho[target] for target in TARGETS), ranking.area, ranking.found] for ranking in held])
    ranked = np.where(np.isnan(values), -np.inf, values)
    own_history = [at for at, ranking in enumerate(held) if ranking.name in ("NNL-Av", "NNL-Pr")]
    ranked[own_history, 0] = -np.inf  # they hold a part of the link change rate itself
    best = frozenset((int(np.argmax(ranked[:, c])), c + 1) for c in range(5))
    rows = [[ranking.name, *(_cell(value) for value in row)] for ranking, row in zip(held, values, strict=True)]
    note = (
        "NNL-Av and the models of NL and NNL know most of the page's own weeks, which the link change rate is made of."
    )
    return Table([where, *(f"ρ {target}" for target in TARGETS), "area (NNL)", "links in top 5%"], rows, note, best)


def findings(experiment: OutlinksExperiment, where: str) -> list[Finding]:
    """Say of each of the paper's findings whether it holds for one sort of links, by the means over the repetitions.

    Accuracy is balanced; rankings are judged by the links in their top 5%.
    """
    last = f"history {max(experiment.ground.protocol.histories)}"

    def accuracy(name: str) -> float:
        return next((s.values["accuracy (b)"] for s in experiment.history[where] if s.name == name), math.nan)

    def found(name: str) -> float:
        return next((r.found for r in experiment.rankings[where] if r.name == name), math.nan)

    def above(question: str, claim: str, first: float, second: float, *, slack: float = 0.0) -> Finding:
        seen = "" if math.isnan(first) or math.isnan(second) else f"{first:.3f} against {second:.3f}"
        verdict: Verdict = ("yes" if first + slack > second else "no") if seen else "too small to judge"
        return Finding(question, claim, verdict, seen)

    zero, one, most = (accuracy(name) for name in ("history 0", "history 1", last))
    average, lbla = found("NNL-Av"), found("NNL-ET LBLA")
    history, ranking = "Does history help?", "How to rank pages?"
    gains = most > zero and not math.isnan(one)
    early: Verdict = "too small to judge" if not gains else "yes" if one - zero >= 0.5 * (most - zero) else "no"
    weeks = f"{one - zero:+.3f} of {most - zero:+.3f}" if gains else ""
    return [
        above(history, "dynamic features beat static ones", most, zero),
        Finding(history, "one week of history brings most of it", early, weeks),
        above(history, "a model with one week of history beats NNL-Pr", one, accuracy("NNL-Pr")),
        above(ranking, "CCR is a poorer predictor than NNL-Av and LBLA", min(average, lbla), found("CCR")),
        above(ranking, "LBLA is not worse than all features", lbla, found("NNL-ET"), slack=0.005),
    ]


def results(experiment: OutlinksExperiment, command: str) -> dict[str, Any]:
    """Return everything measured as plain values."""
    held, protocol = experiment.statistics, experiment.ground.protocol
    return {
        "command": command,
        "data": experiment.name,
        "pages": held.pages,
        "rows": len(experiment.ground.pages),
        "related_recall": round(experiment.ground.recall, 4),
        "protocol": {
            name: getattr(protocol, name) for name in ("weeks", "repeats", "trees", "tune", "histories", "seed")
        },
        "new_links": {"mean": held.mean.round(5).tolist(), "deviation": held.deviation.round(4).tolist()},
        "gaining": held.gaining.round(6).tolist(),
        "change_rates": {where: held.rates[where].tolist() for where in WHERE},
        "static": {where: {s.name: s.values for s in experiment.static[where]} for where in WHERE},
        "static_importance": {where: experiment.static_importance[where].features for where in WHERE},
        "history": {where: {s.name: s.values for s in experiment.history[where]} for where in WHERE},
        "history_importance": {where: experiment.history_importance[where].features for where in WHERE},
        "rankings": {
            where: {
                r.name: {**r.rho, "area": r.area, "found": r.found, "precision": r.curve.round(4).tolist()}
                for r in held_rankings
            }
            for where, held_rankings in experiment.rankings.items()
        },
        "findings": _verdicts(experiment),
    }


def _verdicts(experiment: OutlinksExperiment) -> dict[str, dict[str, bool | None]]:
    """Claim -> sort of links -> whether it holds; null where that cannot be said."""
    found: dict[str, dict[str, bool | None]] = {}
    for where in WHERE:
        for finding in findings(experiment, where):
            known = finding.verdict != "too small to judge"
            found.setdefault(finding.claim, {})[where] = finding.holds if known else None
    return found


class OutlinksReport(PaperReport[OutlinksExperiment]):
    """What predicts new links (Dang et al. 2022)."""

    title: ClassVar[str] = "Look back, look around: where new links appear"
    plots: ClassVar[Mapping[str, Plot]] = PLOTS

    def findings(self) -> Mapping[str, Sequence[Finding]]:
        """By sort of links."""
        return {f"{where} links": findings(self.results, where) for where in WHERE}

    def sections(self, figures: Figures) -> list[Section]:
        """Table 2 and Figs 3 to 15."""
        results = self.results
        static = [scores_table(where, results.static[where]) for where in WHERE]
        history = [scores_table(where, results.history[where]) for where in WHERE]
        ranked = [rankings_table(results, where) for where in WHERE]
        first = figures("figure3", "figure4", "figure5", "figure6")
        return [
            Section("New links (Table 2, Figs 3 to 6)", "", [table2(results)], first),
            Section("Static features (Figs 8 to 11)", "", static, figures("figure8", "figure9", "figure11")),
            Section("History (Figs 12 and 13)", "", history, figures("figure12", "figure13")),
            Section("Rankings (Figs 14 and 15)", "", ranked, figures("figure14", "figure15")),
        ]

    def to_dict(self, command: str) -> dict[str, Any]:
        """Everything measured."""
        return results(self.results, command)

    def intro(self) -> list[str]:
        """Say in one line what was done."""
        protocol, ground = self.results.ground.protocol, self.results.ground
        return [
            f"{self.results.statistics.pages:,} pages that live through {protocol.weeks + 1} weekly crawls; learners "
            f"see {len(ground.pages):,} of them, a quarter held out, {protocol.repeats} draws, {protocol.trees} trees; "
            f"{protocol.neighbours} related pages found with recall {ground.recall:.3f}."
        ]


def _cell(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.3f}"
