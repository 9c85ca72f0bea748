"""What predicts new links (Dang et al. 2022, sections 6 and 7: Figs 9 to 15).

Features of week 9 are those known at crawl 8. The link change rate is over all weeks and not a forecast: it is inferred
from what is known at the last crawl, without the page's own history, which would give it away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recrawl.columns import FloatArray
from recrawl.features.link_learners import Options, has_ngboost
from recrawl.papers.outlinks.agreement import area, precision_curve, share_found, spearman
from recrawl.papers.outlinks.outlinks_training import (
    CLASSIFIERS,
    REGRESSORS,
    FeatureTable,
    chance,
    class_scores,
    errors,
    number,
)
from recrawl.papers.outlinks.taxonomy import CCR, LCR, NEW, around, features, look_around, mean_back

if TYPE_CHECKING:
    from recrawl.papers.outlinks.outlinks_protocol import OutlinkData, OutlinksProtocol

STATIC_SETS = {"SP": ("SP",), "SPsem": ("SP", "SPsem"), "SP+SN": ("SP", "SN"), "SPsem+SN": ("SP", "SPsem", "SN")}
ALL = ("SP", "SPsem", "SN", "DP", "DN")
TOP = 0.05
ALWAYS_0, BEFORE = "always 0", "NNL-Pr"  # what learners are compared with


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


@dataclass(frozen=True)
class Fit:
    """How well one model of one repetition predicts its test pages."""

    values: dict[str, float]
    learner: str = ""
    options: dict[str, Options] = field(default_factory=dict)


def scores_of(name: str, fits: Sequence[Fit]) -> Scores:
    """Put the repetitions together."""
    repeats = {key: [fit.values[key] for fit in fits] for key in fits[0].values}
    options = {learner: [fit.options[learner] for fit in fits] for learner in fits[0].options}
    return Scores(name, repeats, tuple(fit.learner for fit in fits if fit.learner), options)


# -- section 6 --------------------------------------------------------------------------------------------------------


def static_fit(ground: OutlinkData, where: str, name: str, repeat: int) -> Fit:
    """Predict the link change rate from a set of static features (Figs 9 and 10), or as always 0."""
    target, split = ground.targets[where].lcr, ground.splits()[repeat]
    if name == ALWAYS_0:
        return Fit(errors(target[split.test], np.zeros(len(split.test))))
    table = static_table(ground, name)
    model = number(ground, split, table, target, REGRESSORS, repeat)
    return Fit(errors(target[split.test], model.predict(table[split.test])), model.model.learner, model.options)


def history_fit(ground: OutlinkData, where: str, name: str, repeat: int) -> Fit:
    """Predict the presence of new links with so much history (Fig 12, Table 3), or as before (NNL-Pr)."""
    target, split, crawl = ground.targets[where].nl, ground.splits()[repeat], len(ground.crawls) - 2
    if name == BEFORE:
        before = NEW[where].value(ground.crawls, crawl) > 0
        return Fit(class_scores(target[split.test], before[split.test]))
    history = int(name)
    table = history_table(ground, ALL if history else ("SP", "SPsem", "SN"), history)
    model = chance(ground, split, table, target, CLASSIFIERS, repeat)
    found = class_scores(target[split.test], model.predict(table[split.test]) > 0.5)
    return Fit(found, model.model.learner, model.options)


def static_table(ground: OutlinkData, name: str) -> FeatureTable:
    """Return the static features of a set."""
    sets, crawl = STATIC_SETS[name], len(ground.crawls) - 1
    return ground.shelf.table(
        ("static", name),
        lambda: FeatureTable(
            ground, features(sets, 0, reading=ground.protocol.reading), crawl, semantic="SPsem" in sets
        ),
    )


def history_table(ground: OutlinkData, sets: Sequence[str], history: int) -> FeatureTable:
    """Return the features of these sets with so many weeks of history, to forecast the last week."""
    crawl = len(ground.crawls) - 2
    return ground.shelf.table(
        ("history", *sets, history),
        lambda: FeatureTable(
            ground, features(sets, history, reading=ground.protocol.reading), crawl, semantic=True, history=history
        ),
    )


# -- section 7 --------------------------------------------------------------------------------------------------------


class Ranked(NamedTuple):
    """A ranking of one repetition's test pages."""

    scores: dict[str, float]  # Spearman's rho with each target, and the share found
    curve: FloatArray


def ranked(ground: OutlinkData, where: str, model: str, repeat: int) -> dict[str, Ranked]:
    """Rank the test pages of a repetition by one model or by the baselines (Table 4; Figs 14 and 15)."""
    targets, test, draw = ground.targets[where], ground.splits()[repeat].test, ground.protocol.seed
    truth = {"LCR": targets.lcr, "NL": targets.nl.astype(np.float64), "NNL": targets.nnl}
    out = {}
    for name, score in _predictions(ground, where, model, repeat).items():
        scores = {target: spearman(values[test], score) for target, values in truth.items()}
        scores["found"] = share_found(targets.nnl[test], score, TOP, seed=draw + repeat)
        out[name] = Ranked(scores, precision_curve(targets.nnl[test], score, seed=draw + repeat))
    return out


def rankings(repeats: Sequence[dict[str, Ranked]]) -> list[LinkRanking]:
    """Put the repetitions together, in the order of the table."""
    out = []
    for name in (name for name in RANKED if name in repeats[0]):
        kind = "baseline" if name in BASELINES else "lbla" if "LBLA" in name else "prediction"
        own = [found[name] for found in repeats]
        curve = np.mean([each.curve for each in own], axis=0)
        each = {key: [drawn.scores[key] for drawn in own] for key in own[0].scores}
        each["area"] = [area(drawn.curve) for drawn in own]
        rho = {target: _nan_mean(each[target]) for target in ("LCR", "NL", "NNL")}
        out.append(LinkRanking(name, kind, rho, curve, area(curve), _nan_mean(each["found"]), each))
    return out


BASELINES = ("NNL-Av", "NNL-Pr", "CCR", "random")
MODELS = {  # of the rankings: target, table, learner
    "LCR-ET LBLA": ("lcr", "lcr lbla", "extratrees"),  # the related pages' rates and nothing else
    "LCR-ET LBLA+": ("lcr", "lcr lbla+", "extratrees"),  # not in the paper: their new links of each week too
    "LCR-ET": ("lcr", "lcr", "extratrees"),
    "PNL-ET LBLA": ("nl", "lbla", "extratrees"),
    "PNL-ET": ("nl", "all", "extratrees"),
    "NNL-NGB": ("nnl", "all", "ngboost"),
    "NNL-NGB LBLA": ("nnl", "lbla", "ngboost"),
    "NNL-Poisson": ("nnl", "all", "poisson"),
    "NNL-Poisson LBLA": ("nnl", "lbla", "poisson"),
    "NNL-ET LBLA": ("nnl", "lbla", "extratrees"),
    "NNL-ET": ("nnl", "all", "extratrees"),
}
_CLASS = {"PNL-ET LBLA": "NL-ET LBLA", "PNL-ET": "NL-ET"}  # whose chance above one half is a ranking, too
RANKED = tuple(each for name in MODELS for each in ([_CLASS[name], name] if name in _CLASS else [name])) + BASELINES


def ranking_models(protocol: OutlinksProtocol) -> list[str]:
    """Return the models that pages are ranked by, those that share features next to each other; baselines last."""
    natural = has_ngboost() if protocol.natural is None else protocol.natural
    chosen = [name for name, (_, _, learner) in MODELS.items() if natural or learner != "ngboost"]
    return [*sorted(chosen, key=lambda name: MODELS[name][1]), ""]


def ranking_table(ground: OutlinkData, where: str, name: str) -> FeatureTable:
    """Return the features of a sort of model: all and LBLA, to forecast and to infer the link change rate."""
    history = max(ground.protocol.histories)
    before, last = len(ground.crawls) - 2, len(ground.crawls) - 1
    if name == "all":
        return history_table(ground, ALL, history)
    reading = ground.protocol.reading
    makes = {
        "lbla": lambda: FeatureTable(ground, features(("LBLA",), history, (where,), reading), before),
        "lcr": lambda: FeatureTable(
            ground, features(("SP", "SPsem", "SN", "DN"), history, reading=reading), last, semantic=True
        ),
        "lcr lbla": lambda: FeatureTable(ground, [around(LCR[where])], last),
        "lcr lbla+": lambda: FeatureTable(ground, look_around(where, history), last),
    }
    return ground.shelf.table((name, where), makes[name])


def _predictions(ground: OutlinkData, where: str, model: str, repeat: int) -> dict[str, FloatArray]:
    targets, split, before = ground.targets[where], ground.splits()[repeat], len(ground.crawls) - 2
    test = split.test
    if not model:
        return {
            "NNL-Av": np.nan_to_num(mean_back(NEW[where]).value(ground.crawls, before)[test]),
            "NNL-Pr": np.nan_to_num(NEW[where].value(ground.crawls, before)[test]),
            "CCR": np.nan_to_num(CCR.value(ground.crawls, before)[test]),
            "random": np.random.default_rng((ground.protocol.seed, repeat)).random(len(test)),
        }
    target, name, learner = MODELS[model]
    table = ranking_table(ground, where, name)
    if target == "nl":
        found = chance(ground, split, table, targets.nl, (learner,), repeat).predict(table[test])
        return {_CLASS[model]: (found > 0.5).astype(np.float64), model: found}
    wanted = targets.lcr if target == "lcr" else targets.nnl
    return {model: number(ground, split, table, wanted, (learner,), repeat).predict(table[test])}
