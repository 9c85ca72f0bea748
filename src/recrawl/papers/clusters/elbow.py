"""The number of clusters: v-fold cross-validation of the criterion, and the elbow of its curve (Tan et al. 2007,
section 3.3 and Fig. 1).

All folds but one are clustered; the rows of the one left out go to the nearest centre, and the mean of their cosines is
the score of that number of clusters. Repeated bisection cuts one cluster at a time, so one run up to the largest number
gives the centres for every smaller one. The elbow is the point of the curve farthest above the straight line between
its ends, both axes scaled to 0..1 (Satopaa et al. 2011): there the score turns from rising to levelling off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray
from recrawl.errors import InputError
from recrawl.features.bisection import Tree, nearest
from recrawl.features.semantic import unit
from recrawl.progress import Advance, silent

NUMBERS = (2, 5, 10, 20, 30, 40, 50, 60, 80, 100, 120, 150, 200, 250, 300)


@dataclass(frozen=True)
class CrossValidation:
    """The curve: mean cosine of left-out rows with the nearest centre, for each fold and number of clusters."""

    numbers: tuple[int, ...]
    scores: FloatArray  # folds x numbers

    @property
    def curve(self) -> FloatArray:
        """Mean over the folds."""
        return np.asarray(self.scores.mean(axis=0))

    @property
    def best(self) -> int:
        """The number of clusters at the elbow."""
        return self.numbers[elbow(np.array(self.numbers, dtype=np.float64), self.curve)]


def cross_validate(
    vectors: npt.NDArray[np.floating[Any]],
    numbers: Sequence[int] = NUMBERS,
    *,
    folds: int = 10,
    seed: int = 0,
    advance: Advance = silent,
) -> CrossValidation:
    """Score numbers of clusters; those above the rows that there are to cluster are left out."""
    if folds < 2 or len(vectors) < folds:
        raise InputError(f"{len(vectors)} pages cannot be split into {folds} folds of a cross-validation")
    rows = unit(vectors)
    wanted = sorted({number for number in numbers if 1 <= number <= len(rows) * (folds - 1) // folds})
    if not wanted:
        raise InputError("no number of clusters is between 1 and the number of pages")
    fold = np.random.default_rng(seed).permutation(len(rows)) % folds
    scores = np.empty((folds, len(wanted)))
    for number in range(folds):
        scores[number] = _score(rows[fold != number], rows[fold == number], wanted, seed)
        advance(number + 1, folds, "cross-validation")
    return CrossValidation(tuple(wanted), scores)


def _score(train: npt.NDArray[np.float32], test: npt.NDArray[np.float32], numbers: list[int], seed: int) -> FloatArray:
    """Mean cosine of the test rows with the nearest of the centres, at each number of clusters."""
    tree = Tree(train, seed)
    scores = np.full(len(numbers), np.nan)
    for at, number in enumerate(numbers):
        for _ in tree.cuts(number):
            pass
        scores[at] = nearest(test, tree.clusters().centres)[1].mean()  # fewer, if nothing is left to cut
    return scores


def elbow(x: FloatArray, y: FloatArray) -> int:
    """Return the place on a rising curve where it turns to levelling off; the first of a curve that does not rise."""
    across, up = x[-1] - x[0], y.max() - y[0]
    if across <= 0 or up <= 0:
        return 0
    return int(np.argmax((y - y[0]) / up - (x - x[0]) / across))
