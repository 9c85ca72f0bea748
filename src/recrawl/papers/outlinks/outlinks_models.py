"""What predicts new links (Dang et al. 2022, sections 6 and 7: Figs 9 to 15).

Features of week 9 are those known at crawl 8. The link change rate is over all weeks and not a forecast: it is inferred
from what is known at the last crawl, without the page's own history, which would give it away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from recrawl.columns import FloatArray, PageIds
from recrawl.features.link_learners import Options, has_ngboost
from recrawl.papers.outlinks.agreement import area, precision_curve, share_found, spearman
from recrawl.papers.outlinks.outlinks_training import (
    CLASSIFIERS,
    REGRESSORS,
    FeatureTable,
    Tuned,
    chance,
    class_scores,
    errors,
    number,
    r_squared,
)
from recrawl.papers.outlinks.taxonomy import CCR, LCR, NEW, around, features, look_around, mean_back

if TYPE_CHECKING:
    from recrawl.papers.outlinks.outlinks_protocol import OutlinkData, Split

STATIC_SETS = {"SP": ("SP",), "SPsem": ("SP", "SPsem"), "SP+SN": ("SP", "SN"), "SPsem+SN": ("SP", "SPsem", "SN")}
ALL = ("SP", "SPsem", "SN", "DP", "DN")
LOOKED_AT = 4_000  # test pages that importances are measured on
SHUFFLES = 3
TOP = 0.05


@dataclass(frozen=True)
class Scores:
    """Scores by name, one value for each repetition, and which learner was chosen at each."""

    name: str
    repeats: dict[str, list[float]]
    learners: tuple[str, ...] = ()
    options: dict[str, list[Options]] = field(default_factory=dict)  # learner -> tuned settings of each repetition

    @property
    def values(self) -> dict[str, float]:
        """Means over the repetitions."""
        return {key: _nan_mean(values) for key, values in self.repeats.items()}

    @property
    def spread(self) -> dict[str, float]:
        """Standard deviations over the repetitions; NaN for a single one."""
        return {
            key: float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
            for key, values in self.repeats.items()
        }


@dataclass(frozen=True)
class Importances:
    """How much the score falls when a feature is shuffled among the test pages, the most important first."""

    score: str
    features: list[tuple[str, str, float]]  # name, kind, fall
    related_place: int = 0  # place of the related pages' link change rate among all features, from 1; 0: not there


@dataclass(frozen=True)
class LinkRanking:
    """A method's agreement with the three targets, as means over the repetitions."""

    name: str
    kind: str  # prediction, lbla or baseline
    rho: dict[str, float]  # LCR, NL, NNL -> Spearman's rho
    curve: FloatArray  # Precision@k% for NNL
    area: float
    found: float  # share of all new links that is on the first TOP of the pages
    repeats: dict[str, list[float]] = field(default_factory=dict)  # the same of each repetition


def _nan_mean(values: Sequence[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")


def _scores(name: str, found: Sequence[dict[str, float]], models: Sequence[Tuned] = ()) -> Scores:
    options = {
        learner: [model.options[learner] for model in models] for learner in (models[0].options if models else ())
    }
    repeats = {key: [values[key] for values in found] for key in found[0]}
    return Scores(name, repeats, tuple(model.model.learner for model in models), options)


# -- section 6 --------------------------------------------------------------------------------------------------------


def static_sets(ground: OutlinkData, where: str) -> list[Scores]:
    """Predict the link change rate from static features (Figs 9 and 10), the baseline of always 0 last."""
    target, out = ground.targets[where].lcr, []
    for name, sets in STATIC_SETS.items():
        table = FeatureTable(ground, features(sets, 0), len(ground.crawls) - 1, semantic="SPsem" in sets)
        models = [number(ground, split, table, target, REGRESSORS, at) for at, split in enumerate(ground.splits())]
        found = [errors(target[s.test], m.predict(table[s.test])) for s, m in zip(ground.splits(), models, strict=True)]
        out.append(_scores(name, found, models))
    zero = [errors(target[s.test], np.zeros(len(s.test))) for s in ground.splits()]
    return [*out, _scores("always 0", zero)]


def by_history(ground: OutlinkData, where: str) -> list[Scores]:
    """Predict the presence of new links with more and more history (Fig 12, Table 3), NNL-Pr last."""
    target, crawl = ground.targets[where].nl, len(ground.crawls) - 2
    out = []
    for history in sorted(set(ground.protocol.histories)):
        sets = ALL if history else ("SP", "SPsem", "SN")
        table = FeatureTable(ground, features(sets, history), crawl, semantic=True, history=history)
        models = [chance(ground, split, table, target, CLASSIFIERS, at) for at, split in enumerate(ground.splits())]
        found = [
            class_scores(target[s.test], m.predict(table[s.test]) > 0.5)
            for s, m in zip(ground.splits(), models, strict=True)
        ]
        out.append(_scores(f"history {history}", found, models))
    before = NEW[where].value(ground.crawls, crawl) > 0
    return [*out, _scores("NNL-Pr", [class_scores(target[s.test], before[s.test]) for s in ground.splits()])]


def importances(ground: OutlinkData, where: str, *, static: bool, most: int = 10) -> Importances:
    """Shuffle one feature after the other: of the static model of LCR (Fig 11), of NL with all history (Fig 13)."""
    split = ground.splits()[0]
    if static:
        table = FeatureTable(ground, features(("SP", "SN"), 0), len(ground.crawls) - 1)
        target = ground.targets[where].lcr
        model = number(ground, split, table, target, REGRESSORS, 0)
        return _importances(ground, table, split.test, model, "R2", lambda t, p: r_squared(target[t], p), most, where)
    history = max(ground.protocol.histories)
    table = FeatureTable(ground, features(ALL, history), len(ground.crawls) - 2, semantic=True, history=history)
    present = ground.targets[where].nl
    model = chance(ground, split, table, present, CLASSIFIERS, 0)

    def score(test: PageIds, p: FloatArray) -> float:
        return class_scores(present[test], p > 0.5)["accuracy (b)"]

    return _importances(ground, table, split.test, model, "balanced accuracy", score, most, where)


def _importances(
    ground: OutlinkData,
    table: FeatureTable,
    test: PageIds,
    model: Tuned,
    name: str,
    score: Callable[[PageIds, FloatArray], float],
    most: int,
    where: str,
) -> Importances:
    random = np.random.default_rng(ground.protocol.seed)
    test = test[:LOOKED_AT]
    rows = table[test].copy()
    base = score(test, model.predict(rows))
    fall = np.zeros(len(table.names))
    for column in range(len(table.names)):
        values = rows[:, column].copy()
        if (values == values[0]).all():
            continue
        for _ in range(SHUFFLES):
            rows[:, column] = random.permutation(values)
            fall[column] += (base - score(test, model.predict(rows))) / SHUFFLES
        rows[:, column] = values
    order = np.argsort(-fall, kind="stable")
    asked = around(LCR[where]).name
    place = 1 + [table.names[i] for i in order].index(asked) if asked in table.names else 0
    best = [(table.names[i], table.kinds[i], float(fall[i])) for i in order[:most]]
    return Importances(name, best, place)


# -- section 7 --------------------------------------------------------------------------------------------------------


def rankings(ground: OutlinkData, where: str) -> list[LinkRanking]:
    """Rank the test pages by every prediction and baseline (Table 4; Figs 14 and 15)."""
    targets = ground.targets[where]
    truth = {"LCR": targets.lcr, "NL": targets.nl.astype(np.float64), "NNL": targets.nnl}
    tables = _tables(ground, where)
    found: dict[str, list[tuple[dict[str, float], FloatArray]]] = {}
    draw = ground.protocol.seed
    for repeat, split in enumerate(ground.splits()):
        test = split.test
        for name, score in _predictions(ground, where, tables, split, repeat).items():
            rho = {target: spearman(values[test], score) for target, values in truth.items()}
            curve = precision_curve(targets.nnl[test], score, seed=draw + repeat)
            rho["found"] = share_found(targets.nnl[test], score, TOP, seed=draw + repeat)
            found.setdefault(name, []).append((rho, curve))
    out = []
    for name, repeats in found.items():
        kind = "baseline" if name in BASELINES else "lbla" if name.endswith("LBLA") else "prediction"
        curve = np.mean([drawn for _, drawn in repeats], axis=0)
        each = {key: [scores[key] for scores, _ in repeats] for key in repeats[0][0]}
        each["area"] = [area(drawn) for _, drawn in repeats]
        rho = {target: _nan_mean(each[target]) for target in truth}
        out.append(LinkRanking(name, kind, rho, curve, area(curve), _nan_mean(each["found"]), each))
    return out


BASELINES = ("NNL-Av", "NNL-Pr", "CCR", "random")


def _tables(ground: OutlinkData, where: str) -> dict[str, FeatureTable]:
    """Return the features of each sort of model: all and LBLA, to forecast and to infer the link change rate."""
    history = max(ground.protocol.histories)
    before, last = len(ground.crawls) - 2, len(ground.crawls) - 1
    return {
        "all": FeatureTable(ground, features(ALL, history), before, semantic=True, history=history),
        "lbla": FeatureTable(ground, features(("LBLA",), history, (where,)), before),
        "lcr": FeatureTable(ground, features(("SP", "SPsem", "SN", "DN"), history), last, semantic=True),
        "lcr lbla": FeatureTable(ground, [around(LCR[where]), *look_around(where, history)[1:]], last),
    }


def _predictions(
    ground: OutlinkData, where: str, tables: dict[str, FeatureTable], split: Split, repeat: int
) -> dict[str, FloatArray]:
    targets, test, before = ground.targets[where], split.test, len(ground.crawls) - 2

    def value(table: str, target: FloatArray, learner: str) -> FloatArray:
        return number(ground, split, tables[table], target, (learner,), repeat).predict(tables[table][test])

    def present(table: str) -> FloatArray:
        return chance(ground, split, tables[table], targets.nl, ("extratrees",), repeat).predict(tables[table][test])

    full, own = present("all"), present("lbla")
    out = {
        "LCR-ET LBLA": value("lcr lbla", targets.lcr, "extratrees"),
        "LCR-ET": value("lcr", targets.lcr, "extratrees"),
        "NL-ET LBLA": (own > 0.5).astype(np.float64),
        "PNL-ET LBLA": own,
        "NL-ET": (full > 0.5).astype(np.float64),
        "PNL-ET": full,
    }
    natural = has_ngboost() if ground.protocol.natural is None else ground.protocol.natural
    if natural:
        out["NNL-NGB"] = value("all", targets.nnl, "ngboost")
        out["NNL-NGB LBLA"] = value("lbla", targets.nnl, "ngboost")
    out["NNL-Poisson"] = value("all", targets.nnl, "poisson")
    out["NNL-Poisson LBLA"] = value("lbla", targets.nnl, "poisson")
    out["NNL-ET LBLA"] = value("lbla", targets.nnl, "extratrees")
    out["NNL-ET"] = value("all", targets.nnl, "extratrees")
    out["NNL-Av"] = np.nan_to_num(mean_back(NEW[where]).value(ground.crawls, before)[test])
    out["NNL-Pr"] = np.nan_to_num(NEW[where].value(ground.crawls, before)[test])
    out["CCR"] = np.nan_to_num(CCR.value(ground.crawls, before)[test])
    out["random"] = np.random.default_rng((ground.protocol.seed, repeat)).random(len(test))
    return out
