"""The report of the outlinks experiment: what of the paper holds, its tables and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from recrawl.features.newlinks import WHERE
from recrawl.papers.base import Figures, Finding, PaperReport
from recrawl.papers.outlinks.outlinks_figures import PLOTS
from recrawl.papers.outlinks.outlinks_findings import findings
from recrawl.papers.outlinks.outlinks_models import Scores
from recrawl.papers.outlinks.outlinks_patterns import correlations_table, general
from recrawl.papers.outlinks.outlinks_published import HISTORY, RANKINGS, STATIC, TABLE_2, TABLE_3, published
from recrawl.papers.outlinks.outlinks_run import OutlinksExperiment
from recrawl.report.layout import Section, Table
from recrawl.report.style import Plot

TARGETS = ("LCR", "NL", "NNL")


def table2(experiment: OutlinksExperiment) -> Table:
    """Mean and deviation of the number of new links."""
    statistics = experiment.statistics
    rows = [
        [
            f"week {week + 1}",
            *(f"{value[sort, week]:.3f}" for sort in range(3) for value in (statistics.mean, statistics.deviation)),
        ]
        + [f"{statistics.gaining[at, week]:.2%}" for at in range(2)]
        + [TABLE_2[week] if week < len(TABLE_2) else ""]
        for week in range(statistics.mean.shape[1])
    ]
    heads = [
        "", "total μ", "σ", "internal μ", "σ", "external μ", "σ", "gain internal", "gain external", "the paper (μ ± σ)"
    ]  # fmt: skip
    return Table(
        heads,
        rows,
        f"{statistics.pages:,} pages; {statistics.external_share:.0%} of the new links are external. The paper's "
        "columns are all, internal and external links; of its links 14.7% are external.",
    )


def scores_table(title: str, scores: list[Scores], paper: Mapping[tuple[str, str], str]) -> Table:
    """Scores in columns, models in rows; the best model of each column is marked."""
    keys = list(scores[0].values)
    values = np.array([[score.values[key] for key in keys] for score in scores])
    lower = np.array([key in ("MAE", "MedAE") for key in keys])
    ranked = np.where(np.isnan(values), -np.inf, np.where(lower, -values, values))
    best = frozenset((int(np.argmax(ranked[:, c])), c + 1) for c in range(len(keys)))
    rows = []
    for s in scores:
        cells = [_with_spread(s.values[key], s.spread[key]) for key in keys]
        rows.append([s.name, *cells, _chosen(s), paper.get((title, s.name), "")])
    return Table([title, *keys, "learner", "the paper"], rows, best=best)


def _with_spread(value: float, spread: float) -> str:
    return _cell(value) if np.isnan(spread) else f"{_cell(value)} ± {spread:.3f}"


def _chosen(score: Scores) -> str:
    """The learners that the cross-validation chose, each with how often."""
    return ", ".join(f"{name} {score.learners.count(name)}x" for name in dict.fromkeys(score.learners))


def table3(experiment: OutlinksExperiment) -> Table:
    """Tuned settings of the extra-trees classifier by history."""
    rows = []
    for where in WHERE:
        for score in experiment.history[where][:-1]:
            history = int(score.name.split()[-1])
            tuned = score.options.get("extratrees", [])
            paper = TABLE_3[where][history] if history < len(TABLE_3[where]) else ("", "")
            cells = [", ".join(str(getattr(options, name)) for options in tuned) for name in ("trees", "leaf")]
            rows.append([where, str(history), cells[0], str(paper[0]), cells[1], str(paper[1])])
    heads = ("links", "history", "trees", "the paper", "fewest samples on a leaf", "the paper")
    note = "One value for each repetition." if experiment.ground.protocol.tune else "Nothing was tuned in this run."
    return Table(heads, rows, note)


def tuned_table(experiment: OutlinksExperiment) -> Table:
    """Tuned settings of the boosted regressor of the link change rate by static features (section 6.1)."""
    rows = []
    for where in WHERE:
        for score in experiment.static[where]:
            tuned = score.options.get("histgb", [])
            if tuned:
                cells = [", ".join(f"{getattr(o, name):g}" for o in tuned) for name in ("rate", "trees", "leaf")]
                rows.append([where, score.name, *cells])
    note = "HGBoost, one value for each repetition. The paper: 0.04, 500 and 25."
    note += "" if experiment.ground.protocol.tune else " Nothing was tuned in this run."
    return Table(("links", "features", "learning rate", "iterations", "fewest samples on a leaf"), rows, note)


def pairs_table(experiment: OutlinksExperiment) -> Table:
    """The most informative of the features LBLA (section 7)."""
    rows = []
    for where in WHERE:
        for place, (name, kind, fall) in enumerate(experiment.lbla_importance[where].features[:5], 1):
            rows.append([where if place == 1 else "", str(place), f"{name} ({kind})", f"{fall:.4f}"])
    note = (
        "Fall of Spearman's rho of NNL-ET LBLA with NNL when a feature is shuffled. The paper names the average number "
        "of new links and the link change rate of related pages as the most informative pair; not how they were found."
    )
    return Table(("links", "place", "feature", "fall"), rows, note)


def rankings_table(experiment: OutlinksExperiment, where: str) -> Table:
    """Spearman's rho with the targets and the area under Precision@k%."""
    rankings = experiment.rankings[where]
    values = np.array(
        [[*(ranking.rho[target] for target in TARGETS), ranking.area, ranking.found] for ranking in rankings]
    )
    ranked = np.where(np.isnan(values), -np.inf, values)
    own_history = [at for at, ranking in enumerate(rankings) if ranking.name in ("NNL-Av", "NNL-Pr")]
    ranked[own_history, 0] = -np.inf  # they hold a part of the link change rate itself
    best = frozenset((int(np.argmax(ranked[:, c])), c + 1) for c in range(5))
    rows = [
        [r.name, *(_cell(value) for value in row), RANKINGS.get((where, r.name), "")]
        for r, row in zip(rankings, values, strict=True)
    ]
    note = (
        "NNL-Av and the models of NL and NNL know most of the page's own weeks, which the link change rate is made of."
    )
    return Table(
        [where, *(f"ρ {target}" for target in TARGETS), "area (NNL)", "links in top 5%", "the paper"], rows, note, best
    )


def results(experiment: OutlinksExperiment, command: str) -> dict[str, Any]:
    """Return everything measured as plain values."""
    statistics, protocol = experiment.statistics, experiment.ground.protocol
    return {
        "command": command,
        "data": experiment.name,
        "pages": statistics.pages,
        "rows": len(experiment.ground.pages),
        "related_recall": round(experiment.ground.recall, 4),
        "protocol": {
            name: getattr(protocol, name)
            for name in ("weeks", "rows", "repeats", "trees", "tune", "folds", "histories", "neighbours", "seed")
        }
        | {**vars(protocol.reading), "trusted_sites": list(protocol.trusted_sites)},
        "ngboost": "NNL-NGB" in {r.name for r in experiment.rankings[WHERE[0]]},
        "domains": statistics.domains,
        "groups": {
            where: {"sizes": statistics.sizes[where].tolist(), "flows": statistics.flows[where].tolist()}
            for where in WHERE
        },
        "tails": {
            where: [{"links": c.tolist(), "share": s.round(6).tolist()} for c, s in statistics.tails[where]]
            for where in WHERE
        },
        "busiest": {"pages": statistics.busiest[0], "links": statistics.busiest[1].tolist()},
        "correlations": {"features": experiment.correlations[0], "rho": experiment.correlations[1].round(4).tolist()},
        "new_links": {"mean": statistics.mean.round(5).tolist(), "deviation": statistics.deviation.round(4).tolist()},
        "gaining": statistics.gaining.round(6).tolist(),
        "change_rates": {where: statistics.rates[where].tolist() for where in WHERE},
        "static": {where: {s.name: _score(s) for s in experiment.static[where]} for where in WHERE},
        "static_importance": {where: experiment.static_importance[where].features for where in WHERE},
        "history": {where: {s.name: _score(s) for s in experiment.history[where]} for where in WHERE},
        "lbla_importance": {where: experiment.lbla_importance[where].features for where in WHERE},
        "history_importance": {where: experiment.history_importance[where].features for where in WHERE},
        "place_of_related_change_rate": {where: experiment.history_importance[where].related_place for where in WHERE},
        "rankings": {
            where: {
                r.name: {
                    **r.rho,
                    "area": r.area,
                    "found": r.found,
                    "repeats": r.repeats,
                    "precision": r.curve.round(4).tolist(),
                }
                for r in held_rankings
            }
            for where, held_rankings in experiment.rankings.items()
        },
        "paper": published(),
        "findings": _verdicts(experiment),
    }


def _score(score: Scores) -> dict[str, Any]:
    tuned = {learner: [vars(options) for options in each] for learner, each in score.options.items()}
    return {**score.values, "repeats": score.repeats, "learners": list(score.learners), "tuned": tuned}


def _verdicts(experiment: OutlinksExperiment) -> list[dict[str, Any]]:
    """Every claim with its verdict and what was seen, by sort of links."""
    by_sort = {"all": general(experiment), **{where: findings(experiment, where) for where in WHERE}}
    return [{"links": sort, **finding.to_dict()} for sort, found in by_sort.items() for finding in found]


class OutlinksReport(PaperReport[OutlinksExperiment]):
    """What predicts new links (Dang et al. 2022)."""

    title: ClassVar[str] = "Look back, look around: where new links appear"
    plots: ClassVar[Mapping[str, Plot]] = PLOTS

    def findings(self) -> Mapping[str, Sequence[Finding]]:
        """By sort of links."""
        by_sort = {f"{where} links": findings(self.results, where) for where in WHERE}
        return {"all links": general(self.results), **by_sort}

    def sections(self, figures: Figures) -> list[Section]:
        """Tables 2 and 3, and Figs 2 to 15."""
        results = self.results
        static = [scores_table(where, results.static[where], STATIC) for where in WHERE]
        history = [scores_table(where, results.history[where], HISTORY) for where in WHERE]
        ranked = [rankings_table(results, where) for where in WHERE]
        first = figures("figure2", "figure3", "figure4", "figure5", "figure6")
        return [
            Section("New links (Table 2, Figs 2 to 6)", "", [table2(results)], first),
            Section(
                "Static features (Figs 8 to 11)",
                "",
                [correlations_table(results), *static, tuned_table(results)],
                figures("figure8", "figure9", "figure11"),
            ),
            Section(
                "History (Figs 12 and 13, Table 3)", "", [*history, table3(results)], figures("figure12", "figure13")
            ),
            Section("Rankings (Figs 14 and 15)", "", [*ranked, pairs_table(results)], figures("figure14", "figure15")),
        ]

    def to_dict(self, command: str) -> dict[str, Any]:
        """Everything measured."""
        return results(self.results, command)

    def lacking(self) -> list[str]:
        """What the recording lacks, and what follows for the experiment."""
        ground, lines = self.results.ground, list[str]()
        if not ground.has_words:
            lines.append("No words are recorded: no page has related pages, and nothing is said of looking around.")
        if ground.crawls.texts is None:
            lines.append(
                "No texts are recorded: text quality is that of the kept words, NaN where some are missing, and the "
                "semantic vector that of the first version, without a history."
            )
        if not ground.has_links:
            lines.append(
                "No links are recorded, only their numbers: a link that comes back counts again; inlinks, PageRank and "
                "TrustRank are unknown."
            )
        return lines

    def reading(self) -> str:
        """How the paper was read where it can be read in two ways."""
        protocol = self.results.ground.protocol
        ranks = "TrustRank alone" if protocol.reading.ranks == "trust" else "PageRank and TrustRank"
        weeks = "the weeks before the predicted one" if protocol.reading.related_rate == "past" else "all weeks"
        trusted = ", ".join(protocol.trusted_sites) or "all sites"
        return (
            f"Learners see {ranks}, which starts from the page of highest PageRank of {trusted}; the link change rate "
            f"of related pages is over {weeks}."
        )

    def intro(self) -> list[str]:
        """What was done, in one line, and what could not be."""
        protocol, ground = self.results.ground.protocol, self.results.ground
        tuned = f"tuned by {protocol.folds}-fold cross-validation" if protocol.tune else "not tuned"
        trees = f"{protocol.trees} trees" if protocol.trees else "200 to 500 trees"
        natural = "NNL-NGB" in {ranking.name for ranking in self.results.rankings[WHERE[0]]}
        lines = [
            f"{self.results.statistics.pages:,} pages that live through {protocol.weeks + 1} weekly crawls; learners "
            f"see {len(ground.pages):,} of them, a quarter held out, {protocol.repeats} draws, {trees}, {tuned}; "
            f"{protocol.neighbours} related pages found with recall {ground.recall:.3f}.",
            self.reading(),
        ]
        lines += self.lacking()
        if not natural:
            lines.append("NGBoost was left out (it is the extra `ngboost`); NNL-Poisson predicts the same mean.")
        return lines


def _cell(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.3f}"
