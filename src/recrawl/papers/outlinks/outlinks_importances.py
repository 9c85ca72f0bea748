"""Which features matter to a model of new links: permutation importances (Dang et al. 2022, Figs 11 and 13)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.columns import FloatArray, PageIds
from recrawl.papers.outlinks.agreement import spearman
from recrawl.papers.outlinks.outlinks_models import ALL, history_table, ranking_table, static_table
from recrawl.papers.outlinks.outlinks_training import (
    CLASSIFIERS,
    REGRESSORS,
    FeatureTable,
    Tuned,
    chance,
    class_scores,
    number,
    r_squared,
)
from recrawl.papers.outlinks.taxonomy import look_around

if TYPE_CHECKING:
    from recrawl.papers.outlinks.outlinks_protocol import OutlinkData

LOOKED_AT = 4_000  # test pages that importances are measured on
SHUFFLES = 3
TOGETHER = 20_000  # rows that are predicted at a time: a call costs more than a row


@dataclass(frozen=True)
class Importances:
    """How much the score falls when a feature is shuffled among the test pages, the most important first."""

    score: str
    features: list[tuple[str, str, float]]  # name, kind, fall
    related_place: int = 0  # place of the related pages' link change rate among all features, from 1; 0: not there


def importances(ground: OutlinkData, where: str, kind: str, most: int = 10) -> Importances:
    """Shuffle one feature after the other.

    `static`: of the static model of LCR (Fig 11); `history`: of NL with all history (Fig 13); `lbla`: of NNL by the
    features LBLA alone, which says what pair of these is the most informative (section 7).
    """
    split = ground.splits()[0]
    if kind == "lbla":
        table, counts = ranking_table(ground, where, "lbla"), ground.targets[where].nnl
        model = number(ground, split, table, counts, ("extratrees",), 0)
        return _importances(ground, table, split.test, model, "rho", lambda t, p: spearman(counts[t], p), most, where)
    if kind == "static":
        table = static_table(ground, "SP+SN")
        target = ground.targets[where].lcr
        model = number(ground, split, table, target, REGRESSORS, 0)
        return _importances(ground, table, split.test, model, "R2", lambda t, p: r_squared(target[t], p), most, where)
    table = history_table(ground, ALL, max(ground.protocol.histories))
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
    rows = table[test]
    base = score(test, model.predict(rows))
    fall = np.zeros(len(table.names))
    differ = np.flatnonzero((rows != rows[0]).any(axis=0))  # shuffling the others changes nothing
    shuffled = [(column, random.permutation(rows[:, column])) for column in differ for _ in range(SHUFFLES)]
    together = max(TOGETHER // len(test), 1)
    for first in range(0, len(shuffled), together):
        part = shuffled[first : first + together]
        tried = np.repeat(rows[None], len(part), axis=0)
        for own, (column, values) in zip(tried, part, strict=True):
            own[:, column] = values
        predicted = model.predict(tried.reshape(-1, rows.shape[1])).reshape(len(part), -1)
        for (column, _), values in zip(part, predicted, strict=True):
            fall[column] += (base - score(test, values)) / SHUFFLES
    order = np.argsort(-fall, kind="stable")
    asked = look_around(where, 0, ground.protocol.reading)[0].name
    place = 1 + [table.names[i] for i in order].index(asked) if asked in table.names else 0
    best = [(table.names[i], table.kinds[i], float(fall[i])) for i in order[:most]]
    return Importances(name, best, place)
