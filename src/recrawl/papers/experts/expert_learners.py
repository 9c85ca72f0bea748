"""Learners that predict whether a page will have changed at the next step (Radinsky & Bennett 2013, section 5).

    baseline   how often the page changed in the training window: as a draw with that chance (the paper's words), and as
               the more frequent outcome
    single     an SVM on the page's own features (2D)
    multiple   one SVM for each expert on the expert's features beside the page's (3D), all with the page's own labels;
               they vote with the weights of their relation to the page. The page itself is an expert: the single one
    union      one SVM on the features of all experts side by side
    bagging    several such SVMs on examples drawn with replacement, one vote each
    boosting   AdaBoost of such SVMs

All use the same SVM: polynomial kernel of degree 3. Features are brought to mean 0 and variance 1 over the training
examples, so that none counts by its unit; the word distribution is centred and scaled as one block of the same weight
as all other features together. Where the training examples are all of one class, that class is the answer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, IntArray
from recrawl.compiled import kernel
from recrawl.papers.experts.expert_features import Window, own_features, related_features, version_products
from recrawl.papers.experts.snapshots import Snapshots
from recrawl.policies.experts.svm import polynomial, solve

BAGS, ROUNDS = 10, 10  # base models of bagging and boosting
SINGLE, UNION, BAGGING, BOOSTING = range(4)  # rows of what `decide` returns before the experts
UNKNOWN = -1


class Council(NamedTuple):
    """The inputs to predict one page with experts; the first expert is the page itself."""

    label: npt.NDArray[np.int8]  # by step: 1 changed, 0 not, UNKNOWN where the page was not there
    numbers: FloatArray  # experts x steps x features, own features first
    own: int  # how many of them are own features
    version: npt.NDArray[np.int32]  # experts x steps: rows of the expert's products; -1 where it was not there
    products: npt.NDArray[np.float32]  # of all experts, one after another
    place: npt.NDArray[np.int64]  # where each expert's products begin
    size: npt.NDArray[np.int64]  # versions of each expert
    back: int  # steps before t that the features of t look at
    ahead: int = 1  # steps between the features and the label: the prediction interval sigma


class Describer:
    """Features of pages and pairs, worked out once and kept."""

    def __init__(self, snapshots: Snapshots, changed: BoolArray, window: Window, *, beside: bool = False) -> None:
        """With `beside` an expert sees the features of the page that it predicts, too."""
        self.snapshots, self.changed, self.window, self.beside = snapshots, changed, window, beside
        self._own: dict[int, FloatArray] = {}
        self._words: dict[int, tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]] = {}
        self._related: dict[tuple[int, int], FloatArray] = {}

    def label(self, row: int) -> npt.NDArray[np.int8]:
        """What there is to predict."""
        return np.where(self.snapshots.there[row], self.changed[row], UNKNOWN).astype(np.int8)

    def own(self, row: int) -> FloatArray:
        """Features of a page alone."""
        if row not in self._own:
            self._own[row] = own_features(self.snapshots, self.changed, row, self.window)
        return self._own[row]

    def words(self, row: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """A page's versions by step, numbered from 0, and their scalar products."""
        if row not in self._words:
            version = self.snapshots.version[row]
            used = np.unique(version[version >= 0])
            number = np.where(version >= 0, np.searchsorted(used, version), -1).astype(np.int32)
            self._words[row] = number, version_products(self.snapshots.bags, used)
        return self._words[row]

    def related(self, row: int, other: int) -> FloatArray:
        """Features of a page beside another."""
        if (row, other) not in self._related:
            self._related[row, other] = related_features(self.snapshots, row, other, self.window)
        return self._related[row, other]

    def council(self, row: int, experts: IntArray) -> Council:
        """Assemble the experts of a page; the page itself comes first."""
        members = [row, *(int(e) for e in experts if e != row)]
        more = [self.own(row)] if self.beside else []
        numbers = np.stack([np.hstack([self.own(e), self.related(row, e), *more]) for e in members])
        words = [self.words(e) for e in members]
        size = np.array([len(products) for _, products in words], dtype=np.int64)
        return Council(
            self.label(row),
            numbers,
            self.window.own,
            np.stack([version for version, _ in words]),
            np.concatenate([products.ravel() for _, products in words]),
            np.append(0, np.cumsum(size**2))[:-1],
            size,
            self.window.back,
            self.window.interval,
        )


def decisions(
    council: Council,
    steps: IntArray,
    train: int,
    C: float,
    *,
    ensembles: bool = True,
    seed: int = 0,
    learnt_at: int | None = None,
) -> FloatArray:
    """Predict at each of these steps what the next one will be, learning from the `train` steps before it.

    With `learnt_at` the classifiers are those of that step, whatever the step that is asked about (section 8.3).

    Returns decision values, positive for a change: rows SINGLE, UNION, BAGGING and BOOSTING (the last three only with
    `ensembles`), then one row per expert; NaN where an expert page was not there.
    """
    draws = np.random.default_rng(seed).integers(0, train, (BAGS, train))  # of bagging
    asked = np.ascontiguousarray(steps, dtype=np.int64)
    learnt = asked if learnt_at is None else np.full_like(asked, learnt_at)
    return _decide(council, asked, learnt, train, C, ensembles, draws)


def vote(decided: FloatArray, weights: FloatArray) -> FloatArray:
    """Weighted majority of experts x steps of decision values, from -1 to 1; experts with NaN do not vote."""
    voting = ~np.isnan(decided)
    weight = np.where(voting, weights[:, None], 0.0)
    total = weight.sum(axis=0)
    votes = np.where(voting, np.sign(decided), 0.0)
    return np.divide((weight * votes).sum(axis=0), total, out=np.zeros(decided.shape[1]), where=total > 0)


def frequency(label: npt.NDArray[np.int8], steps: IntArray, train: int) -> FloatArray:
    """The baseline: the share of the last `train` known labels at each step that were changes."""
    changes = np.append(0, np.cumsum(label == 1))
    known = np.append(0, np.cumsum(label >= 0))
    first = np.maximum(steps - train + 1, 0)
    count = known[steps + 1] - known[first]
    return np.divide(changes[steps + 1] - changes[first], count, out=np.full(len(steps), 0.5), where=count > 0)


def judgeable(council: Council, train: int) -> IntArray:
    """Steps at which the page can be predicted and the prediction be judged: it was there all the time, and after."""
    known = council.label >= 0
    need = train + council.back + council.ahead - 1
    run = np.convolve(known, np.ones(need + 1, dtype=np.int64))[: len(known)]
    steps = np.flatnonzero(run == need + 1)
    steps = steps[steps + council.ahead < len(known)]
    return steps[known[steps + council.ahead]]


@kernel
def _decide(
    council: Council, steps: IntArray, learnt: IntArray, train: int, C: float, ensembles: bool, draws: IntArray
) -> FloatArray:
    label, numbers, own, version, products, place, size, back, ahead = council
    experts = len(version)
    out = np.full((4 + experts, len(steps)), np.nan)
    shape = (train + 1, train + 1)
    linear, union, K = np.empty(shape), np.empty(shape), np.empty(shape)
    y, limit, at = np.empty(train), np.full(train, C), np.empty(train + 1, dtype=np.int64)
    for k in range(len(steps)):
        t, known = steps[k], learnt[k]
        first = known - ahead - train + 1  # the label of an example lies `ahead` steps after it, and is known by then
        at[train] = t
        for s in range(train):
            at[s] = first + s
            y[s] = 1.0 if label[first + s + ahead] == 1 else -1.0
        if np.all(y == y[0]):
            out[:, k] = y[0]
            continue
        union[:] = 0.0
        took = 0
        for e in range(-1, experts):
            m = max(e, 0)
            if np.min(version[m, first - back : known + 1]) < 0 or version[m, t] < 0:
                continue
            width = own if e <= 0 else numbers.shape[2]  # the page as its own expert is the single expert
            among = products[place[m] : place[m] + size[m] ** 2].reshape((size[m], size[m]))
            _scalar_products(numbers[m][at][:, :width], among, version[m][at], linear)
            polynomial(linear, K)
            out[SINGLE if e < 0 else 4 + e, k] = _answer(K, y, limit)
            if e >= 0:
                union += linear
                took += 1
        if ensembles and took:
            polynomial(union / took, K)  # no example counts more for having many experts
            out[UNION, k] = _answer(K, y, limit)
            out[BAGGING, k] = _bag(K, y, C, draws)
            out[BOOSTING, k] = _boost(K, y, C)
    return out


@kernel
def _scalar_products(
    numbers: FloatArray, shared: npt.NDArray[np.float32], version: npt.NDArray[np.int32], out: FloatArray
) -> None:
    """Scalar products of the examples, the last of which is the one to predict, after scaling by the others."""
    n = len(numbers) - 1
    x = np.zeros(numbers.shape)
    live = 0
    for f in range(numbers.shape[1]):
        mean = numbers[:n, f].mean()
        spread = numbers[:n, f].std()
        if spread > 1e-12:
            x[:, f] = (numbers[:, f] - mean) / spread
            live += 1
    x /= np.sqrt(max(live, 1))
    words = np.empty((n + 1, n + 1))
    for a in range(n + 1):
        for b in range(n + 1):
            words[a, b] = shared[version[a], version[b]]
    mean = np.zeros(n + 1)
    for a in range(n + 1):
        mean[a] = words[a, :n].mean()
    middle = mean[:n].mean()
    spread = 0.0
    for a in range(n):
        spread += (words[a, a] - 2.0 * mean[a] + middle) / n
    scale = 1.0 / spread if spread > 1e-12 else 0.0
    for a in range(n + 1):
        for b in range(a + 1):
            total = (words[a, b] - mean[a] - mean[b] + middle) * scale
            for f in range(numbers.shape[1]):
                total += x[a, f] * x[b, f]
            out[a, b] = total
            out[b, a] = total


@kernel
def _answer(K: FloatArray, y: FloatArray, limit: FloatArray) -> float:
    """Learn from all examples but the last and answer for the last."""
    n = len(y)
    weights, offset = solve(K[:n, :n], y, limit)
    return np.dot(weights, K[n, :n]) + offset


@kernel
def _bag(K: FloatArray, y: FloatArray, C: float, draws: IntArray) -> float:
    """Share of votes for a change less those against: each model sees examples drawn with replacement.

    An example that is drawn m times may weigh m C, which is the same as having it m times.
    """
    n = len(y)
    votes = 0.0
    for bag in range(len(draws)):
        limit = np.zeros(n)
        for k in range(n):
            limit[draws[bag, k]] += C
        drawn = limit > 0
        rows = np.flatnonzero(drawn)
        sub = np.empty((len(rows) + 1, len(rows) + 1))
        for a in range(len(rows) + 1):
            for b in range(len(rows) + 1):
                sub[a, b] = K[rows[a] if a < len(rows) else n, rows[b] if b < len(rows) else n]
        votes += np.sign(_answer(sub, y[rows], limit[rows]))
    return votes / len(draws)


@kernel
def _boost(K: FloatArray, y: FloatArray, C: float) -> float:
    """AdaBoost: examples that were answered wrong weigh more in the next model."""
    n = len(y)
    known = np.ascontiguousarray(K[:n, :n])
    weight = np.full(n, 1.0 / n)
    total = 0.0
    for k in range(ROUNDS):
        weights, offset = solve(known, y, weight * n * C)
        answer = np.sign(known @ weights + offset)
        error = weight[answer != y].sum()
        mine = np.sign(np.dot(weights, K[n, :n]) + offset)
        if error >= 0.5 or error <= 1e-9:
            return mine if k == 0 or error <= 1e-9 else total
        alpha = 0.5 * np.log((1.0 - error) / error)
        total += alpha * mine
        weight *= np.exp(-alpha * y * answer)
        weight /= weight.sum()
    return total
