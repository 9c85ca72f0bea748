"""What predicts new links (Dang et al. 2022, sections 6 and 7: Figs 9 to 15).

Features of week 9 are those known at crawl 8. The link change rate is over all weeks and not a forecast: it is inferred
from what is known at the last crawl, without the page's own history, which would give it away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, PageIds
from recrawl.papers.outlinks.agreement import area, precision_curve, share_found, spearman
from recrawl.papers.outlinks.link_learners import Model, Options, classify, grid, has_ngboost, regress, tune
from recrawl.papers.outlinks.taxonomy import CCR, LCR, NEW, Feature, around, features, look_around, matrix, mean_back

if TYPE_CHECKING:
    from recrawl.papers.outlinks.outlinks_protocol import OutlinkData, Split

Rows = npt.NDArray[np.float32]

STATIC_SETS = {"SP": ("SP",), "SPsem": ("SP", "SPsem"), "SP+SN": ("SP", "SN"), "SPsem+SN": ("SP", "SPsem", "SN")}
ALL = ("SP", "SPsem", "SN", "DP", "DN")
LOOKED_AT = 4_000  # test pages that importances are measured on
SHUFFLES = 3
TOP = 0.05
GRID_SHARE = 4  # tuning is done with a quarter of the trees


@dataclass(frozen=True)
class Scores:
    """Means over the repetitions, by name of the score."""

    name: str
    values: dict[str, float]


@dataclass(frozen=True)
class Importances:
    """How much the score falls when a feature is shuffled among the test pages, the most important first."""

    score: str
    features: list[tuple[str, str, float]]  # name, kind, fall


@dataclass(frozen=True)
class LinkRanking:
    """A method's agreement with the three targets."""

    name: str
    kind: str  # prediction, lbla or baseline
    rho: dict[str, float]  # LCR, NL, NNL -> Spearman's rho
    curve: FloatArray  # Precision@k% for NNL
    area: float
    found: float  # share of all new links that is on the first TOP of the pages


class FeatureTable:
    """The features of the drawn pages at a crawl; a row is found by the page's number."""

    def __init__(self, ground: OutlinkData, chosen: Sequence[Feature], crawl: int, *, semantic: bool = False) -> None:
        full, self.names = matrix(ground.crawls, chosen, crawl, semantic=semantic)
        self.kinds = [feature.kind for feature in chosen] + ["SP"] * (len(self.names) - len(chosen))
        self._full = full

    def __getitem__(self, pages: PageIds) -> Rows:
        return self._full[pages]


# -- training ---------------------------------------------------------------------------------------------------------


def _number(
    ground: OutlinkData, split: Split, table: FeatureTable, target: FloatArray, learner: str, repeat: int
) -> Model:
    """Train a regressor, tuned on the development set by R2."""
    truth = target[split.develop]
    return _tuned(regress, lambda p: r_squared(truth, p), ground, split, table, target, learner, repeat)


def _class(
    ground: OutlinkData, split: Split, table: FeatureTable, target: BoolArray, learner: str, repeat: int
) -> Model:
    """Train a classifier, tuned on the development set by balanced accuracy."""
    truth = target[split.develop]

    def accuracy(predicted: FloatArray) -> float:
        return class_scores(truth, predicted > 0.5)["accuracy (b)"]

    return _tuned(classify, accuracy, ground, split, table, target, learner, repeat)


def _tuned(
    fit: Callable[..., Model],
    score: Callable[[FloatArray], float],
    ground: OutlinkData,
    split: Split,
    table: FeatureTable,
    target: FloatArray | BoolArray,
    learner: str,
    repeat: int,
) -> Model:
    """Try every setting on what is not for development, then train the best of them on all."""
    protocol = ground.protocol
    rest = np.setdiff1d(split.train, split.develop)

    def train(options: Options) -> Model:
        return fit(learner, table[rest], target[rest], options, repeat, protocol.jobs)

    best = tune(train, _choices(learner, ground), table[split.develop], score)
    options = Options(protocol.trees, best.leaf, best.rate)
    return fit(learner, table[split.train], target[split.train], options, repeat, protocol.jobs)


def _choices(learner: str, ground: OutlinkData) -> list[Options]:
    trees = max(ground.protocol.trees // GRID_SHARE, 10)
    return (
        list(grid(learner, (trees,))) if ground.protocol.tune else [Options(trees, 10 if learner != "histgb" else 25)]
    )


# -- scores -----------------------------------------------------------------------------------------------------------


def r_squared(truth: FloatArray, predicted: FloatArray) -> float:
    """Return the share of the variance that is explained; NaN where there is none."""
    spread = float(((truth - truth.mean()) ** 2).sum())
    return 1.0 - float(((truth - predicted) ** 2).sum()) / spread if spread > 0 else float("nan")


def class_scores(truth: BoolArray, predicted: BoolArray) -> dict[str, float]:
    """Return balanced accuracy, recall, precision and F1 of class 1; NaN where a class is missing."""
    hits = float((truth & predicted).sum())
    recall = hits / truth.sum() if truth.any() else float("nan")
    other = float((~truth & ~predicted).sum()) / (~truth).sum() if not truth.all() else float("nan")
    precision = hits / predicted.sum() if predicted.any() else 0.0
    f1 = 2 * hits / (truth.sum() + predicted.sum()) if truth.any() or predicted.any() else float("nan")
    return {"accuracy (b)": (recall + other) / 2, "recall": recall, "precision": precision, "F1": f1}


def _mean(name: str, found: Sequence[dict[str, float]]) -> Scores:
    keys = found[0].keys()
    return Scores(name, {key: float(np.nanmean([f[key] for f in found] or [np.nan])) if any(
        not np.isnan(f[key]) for f in found) else float("nan") for key in keys})  # fmt: skip


# -- section 6 --------------------------------------------------------------------------------------------------------


def static_sets(ground: OutlinkData, where: str) -> list[Scores]:
    """Predict the link change rate from static features (Figs 9 and 10), the baseline of always 0 last."""
    target, out = ground.targets[where].lcr, []
    for name, sets in STATIC_SETS.items():
        table = FeatureTable(ground, features(sets, 0), len(ground.crawls) - 1, semantic="SPsem" in sets)
        found = []
        for repeat, split in enumerate(ground.splits()):
            model = _number(ground, split, table, target, "histgb", repeat)
            found.append(_errors(target[split.test], model.predict(table[split.test])))
        out.append(_mean(name, found))
    zero = [_errors(target[s.test], np.zeros(len(s.test))) for s in ground.splits()]
    return [*out, _mean("always 0", zero)]


def _errors(truth: FloatArray, predicted: FloatArray) -> dict[str, float]:
    off = np.abs(truth - predicted)
    return {"R2": r_squared(truth, predicted), "MAE": float(off.mean()), "MedAE": float(np.median(off))}


def by_history(ground: OutlinkData, where: str) -> list[Scores]:
    """Predict the presence of new links with more and more history (Fig 12), NNL-Pr last."""
    target, crawl = ground.targets[where].nl, len(ground.crawls) - 2
    out = []
    for history in sorted(set(ground.protocol.histories)):
        sets = ALL if history else ("SP", "SPsem", "SN")
        table = FeatureTable(ground, features(sets, history), crawl, semantic=True)
        found = []
        for repeat, split in enumerate(ground.splits()):
            model = _class(ground, split, table, target, "extratrees", repeat)
            found.append(class_scores(target[split.test], model.predict(table[split.test]) > 0.5))
        out.append(_mean(f"history {history}", found))
    before = NEW[where].value(ground.crawls, crawl) > 0
    return [*out, _mean("NNL-Pr", [class_scores(target[s.test], before[s.test]) for s in ground.splits()])]


def importances(ground: OutlinkData, where: str, *, static: bool, most: int = 10) -> Importances:
    """Shuffle one feature after the other: of the static model of LCR (Fig 11), of NL with all history (Fig 13)."""
    split = ground.splits()[0]
    if static:
        table = FeatureTable(ground, features(("SP", "SN"), 0), len(ground.crawls) - 1)
        target = ground.targets[where].lcr
        model = _number(ground, split, table, target, "histgb", 0)
        return _importances(ground, table, split.test, model, "R2", lambda t, p: r_squared(target[t], p), most)
    table = FeatureTable(ground, features(ALL, max(ground.protocol.histories)), len(ground.crawls) - 2, semantic=True)
    present = ground.targets[where].nl
    model = _class(ground, split, table, present, "extratrees", 0)

    def score(test: PageIds, p: FloatArray) -> float:
        return class_scores(present[test], p > 0.5)["accuracy (b)"]

    return _importances(ground, table, split.test, model, "balanced accuracy", score, most)


def _importances(
    ground: OutlinkData,
    table: FeatureTable,
    test: PageIds,
    model: Model,
    name: str,
    score: Callable[[PageIds, FloatArray], float],
    most: int,
) -> Importances:
    random = np.random.default_rng(ground.protocol.seed)
    test = test[:LOOKED_AT]
    rows = table[test].copy()
    base = score(test, model.predict(rows))
    fall = np.zeros(len(table.names))
    for column in range(len(table.names)):
        held = rows[:, column].copy()
        if (held == held[0]).all():
            continue
        for _ in range(SHUFFLES):
            rows[:, column] = random.permutation(held)
            fall[column] += (base - score(test, model.predict(rows))) / SHUFFLES
        rows[:, column] = held
    order = np.argsort(-fall, kind="stable")[:most]
    return Importances(name, [(table.names[i], table.kinds[i], float(fall[i])) for i in order])


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
        curve = np.mean([held for _, held in repeats], axis=0)
        rho = _mean(name, [held for held, _ in repeats]).values
        out.append(LinkRanking(name, kind, rho, curve, area(curve), rho.pop("found")))
    return out


BASELINES = ("NNL-Av", "NNL-Pr", "CCR", "random")


def _tables(ground: OutlinkData, where: str) -> dict[str, FeatureTable]:
    """Return the features of each sort of model: all and LBLA, to forecast and to infer the link change rate."""
    history = max(ground.protocol.histories)
    before, last = len(ground.crawls) - 2, len(ground.crawls) - 1
    return {
        "all": FeatureTable(ground, features(ALL, history), before, semantic=True),
        "lbla": FeatureTable(ground, features(("LBLA",), history, (where,)), before),
        "lcr": FeatureTable(ground, features(("SP", "SPsem", "SN", "DN"), history), last, semantic=True),
        "lcr lbla": FeatureTable(ground, [around(LCR[where]), *look_around(where, history)[1:]], last),
    }


def _predictions(
    ground: OutlinkData, where: str, tables: dict[str, FeatureTable], split: Split, repeat: int
) -> dict[str, FloatArray]:
    targets, test, before = ground.targets[where], split.test, len(ground.crawls) - 2

    def number(table: str, target: FloatArray, learner: str) -> FloatArray:
        return _number(ground, split, tables[table], target, learner, repeat).predict(tables[table][test])

    def chance(table: str) -> FloatArray:
        return _class(ground, split, tables[table], targets.nl, "extratrees", repeat).predict(tables[table][test])

    full, own = chance("all"), chance("lbla")
    out = {
        "LCR-ET LBLA": number("lcr lbla", targets.lcr, "extratrees"),
        "LCR-ET": number("lcr", targets.lcr, "extratrees"),
        "NL-ET LBLA": (own > 0.5).astype(np.float64),
        "PNL-ET LBLA": own,
        "NL-ET": (full > 0.5).astype(np.float64),
        "PNL-ET": full,
    }
    natural = has_ngboost() if ground.protocol.natural is None else ground.protocol.natural
    if natural:
        out["NNL-NGB"] = number("all", targets.nnl, "ngboost")
        out["NNL-NGB LBLA"] = number("lbla", targets.nnl, "ngboost")
    out["NNL-Poisson"] = number("all", targets.nnl, "poisson")
    out["NNL-Poisson LBLA"] = number("lbla", targets.nnl, "poisson")
    out["NNL-ET LBLA"] = number("lbla", targets.nnl, "extratrees")
    out["NNL-ET"] = number("all", targets.nnl, "extratrees")
    out["NNL-Av"] = np.nan_to_num(mean_back(NEW[where]).value(ground.crawls, before)[test])
    out["NNL-Pr"] = np.nan_to_num(NEW[where].value(ground.crawls, before)[test])
    out["CCR"] = np.nan_to_num(CCR.value(ground.crawls, before)[test])
    out["random"] = np.random.default_rng((ground.protocol.seed, repeat)).random(len(test))
    return out
