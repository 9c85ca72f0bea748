"""The outlinks experiment as tables, files and one page."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from recrawl.features.newlinks import WHERE
from recrawl.papers.outlinks.outlinks_figures import CAPTIONS, pictures
from recrawl.papers.outlinks.outlinks_models import Scores
from recrawl.papers.outlinks.outlinks_protocol import OutlinksExperiment
from recrawl.report.result_page import Page, Picture, Section, Table

TARGETS = ("LCR", "NL", "NNL")


def is_ours(name: str) -> bool:
    """Whether a file of this name may have been written by this experiment."""
    stem, _, kind = name.rpartition(".")
    return name in ("results.json", "report.html") or (stem in CAPTIONS and kind in ("png", "svg"))


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


def findings(experiment: OutlinksExperiment) -> Table:
    """Say of each of the paper's findings whether it holds here."""
    return Table(
        ["the paper's finding", *WHERE],
        [
            [name, *("–" if ok is None else "holds" if ok else "does not hold" for ok in row)]
            for name, row in judged(experiment)
        ],
        "By the means over the repetitions. Accuracy is balanced; rankings are judged by the links in their top 5%.",
        prose=True,
    )


def judged(experiment: OutlinksExperiment) -> list[tuple[str, list[bool | None]]]:
    """Return the findings with a verdict for each sort of links; None where it cannot be said."""

    def each(judge: Any) -> list[bool | None]:
        return [judge(where) for where in WHERE]

    def accuracy(where: str, name: str) -> float:
        return next((s.values["accuracy (b)"] for s in experiment.history[where] if s.name == name), float("nan"))

    def found(where: str, name: str) -> float:
        return next((r.found for r in experiment.rankings[where] if r.name == name), float("nan"))

    last = f"history {max(experiment.ground.protocol.histories)}"

    def dynamic(where: str) -> bool | None:
        return _above(accuracy(where, last), accuracy(where, "history 0"))

    def one_week(where: str) -> bool | None:
        zero, one, most = (accuracy(where, name) for name in ("history 0", "history 1", last))
        return None if np.isnan([zero, one, most]).any() or most <= zero else one - zero >= 0.5 * (most - zero)

    def model_above_baseline(where: str) -> bool | None:
        return _above(accuracy(where, "history 1"), accuracy(where, "NNL-Pr"))

    def ccr(where: str) -> bool | None:
        return _above(min(found(where, "NNL-Av"), found(where, "NNL-ET LBLA")), found(where, "CCR"))

    def lbla(where: str) -> bool | None:
        return _above(found(where, "NNL-ET LBLA") + 0.005, found(where, "NNL-ET"))

    return [
        ("dynamic features beat static ones", each(dynamic)),
        ("one week of history brings most of it", each(one_week)),
        ("a model with one week of history beats NNL-Pr", each(model_above_baseline)),
        ("CCR is a poorer predictor than NNL-Av and LBLA", each(ccr)),
        ("LBLA is not worse than all features", each(lbla)),
    ]


def _above(first: float, second: float) -> bool | None:
    return None if np.isnan(first) or np.isnan(second) else first > second


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
        "findings": {name: dict(zip(WHERE, row, strict=True)) for name, row in judged(experiment)},
    }


def all_tables(experiment: OutlinksExperiment) -> list[Table]:
    """Return every table, in the order of the paper, and what holds."""
    parts = (experiment.static, experiment.history)
    scores = [scores_table(where, part[where]) for part in parts for where in WHERE]
    return [table2(experiment), *scores, *(rankings_table(experiment, where) for where in WHERE), findings(experiment)]


def results_text(experiment: OutlinksExperiment, command: str) -> str:
    """Return everything measured as JSON."""
    return json.dumps(_plain(results(experiment, command)), indent=1, ensure_ascii=False)


def files_of(experiment: OutlinksExperiment, command: str) -> dict[str, bytes]:
    """Return all files by name."""
    drawn = pictures(experiment)
    out = {"results.json": (results_text(experiment, command) + "\n").encode()}
    for name, (png, svg) in drawn.items():
        out[f"{name}.png"], out[f"{name}.svg"] = png, svg
    out["report.html"] = page(experiment, {name: svg for name, (_, svg) in drawn.items()}, command).html().encode()
    return out


def page(experiment: OutlinksExperiment, svgs: dict[str, bytes], command: str) -> Page:
    """Lay out the report."""

    def figures(*names: str) -> list[Picture]:
        return [Picture(name, svgs[name], CAPTIONS[name]) for name in names]

    def tables(held: dict[str, list[Scores]]) -> list[Table]:
        return [scores_table(where, held[where]) for where in WHERE]

    return Page(
        title="Look back, look around: where new links appear",
        intro=[headline(experiment)],
        sections=[
            Section("Which findings hold", tables=[findings(experiment)]),
            Section(
                "New links (Table 2, Figs 3 to 6)",
                tables=[table2(experiment)],
                pictures=figures("figure3", "figure4", "figure5", "figure6"),
            ),
            Section(
                "Static features (Figs 8 to 11)",
                tables=tables(experiment.static),
                pictures=figures("figure8", "figure9", "figure11"),
            ),
            Section(
                "History (Figs 12 and 13)", tables=tables(experiment.history), pictures=figures("figure12", "figure13")
            ),
            Section(
                "Rankings (Figs 14 and 15)",
                tables=[rankings_table(experiment, where) for where in WHERE],
                pictures=figures("figure14", "figure15"),
            ),
        ],
        command=command,
    )


def headline(experiment: OutlinksExperiment) -> str:
    """Say in one line what was done."""
    protocol, ground = experiment.ground.protocol, experiment.ground
    return (
        f"{experiment.statistics.pages:,} pages that live through {protocol.weeks + 1} weekly crawls; learners see "
        f"{len(ground.pages):,} of them, a quarter held out, {protocol.repeats} draws, {protocol.trees} trees; "
        f"{protocol.neighbours} related pages found with recall {ground.recall:.3f}."
    )


def _cell(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.3f}"


def _plain(value: Any) -> Any:
    """Replace what JSON has no word for: NaN is null."""
    if isinstance(value, dict):
        return {key: _plain(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(held) for held in value]
    if isinstance(value, float | np.floating):
        return None if np.isnan(value) else float(value)
    return bool(value) if isinstance(value, np.bool_) else value
