"""Experts that learn from visits: the SVMs of papers.experts where only some pages are seen each cycle.

For a page with enough visits of both outcomes, each visit is an example: what was known before it, and whether it found
a change. One SVM learns from the page's own features (2D); with related pages one SVM for each of them learns from that
page's features beside the page's own (3D). Answers are averaged with the weights of the relation, each cut to [-2, 2]
so that none outvotes all others, and Platt's sigmoid makes a probability of them. Since visits come after gaps of any
length, the sigmoid starts from the log-odds of the 1D setting, 1 - exp(-rate * gap), to which the answers are
added. It is fitted to answers for the last third of each page's visits, of models trained on the first two thirds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds
from recrawl.compiled import kernel
from recrawl.features.page_words import DIMENSIONS
from recrawl.policies.experts.alignment import best_lag, standardise
from recrawl.policies.experts.svm import Sigmoid, platt, solve
from recrawl.policies.experts.visit_log import (
    OWN,
    RELATED,
    Float32,
    LogColumns,
    VisitLog,
    lines_before,
    own_at,
    rate_of,
    related_at,
)

WIDTH = OWN + RELATED + DIMENSIONS
LOUDEST = 2.0
CANDIDATES = 200  # pages of a site that are considered as experts of each other: those with the most changes seen
LAST_LAG = 14  # cycles by which an expert may be ahead


class Panel(NamedTuple):
    """The experts of each page: those of page i are `first[i]` to `first[i + 1]`."""

    pages: PageIds
    first: IntArray
    expert: PageIds  # the page whose features a model reads; the page itself comes first
    weight: FloatArray


class Machines(NamedTuple):
    """Trained SVMs, one for each expert of a panel."""

    middle: FloatArray  # models x WIDTH
    scale: FloatArray
    start: IntArray  # where each model's examples begin
    example: Float32  # scaled features of the examples that count
    coefficient: FloatArray
    offset: FloatArray


@dataclass(frozen=True)
class Models:
    """Trained experts, and the sigmoid that turns their answers into probabilities."""

    panel: Panel
    machines: Machines
    sigmoid: Sigmoid

    def answers(self, log: VisitLog, now: int) -> FloatArray:
        """Return the answers of each page's experts before cycle `now`."""
        return _answers(self.panel, self.machines, now, log.columns)

    def probability(self, log: VisitLog, now: int) -> FloatArray:
        """Return the chance that each of the pages has changed since its last visit."""
        pages = self.panel.pages
        gap = now - log.cycle[pages, log.count[pages] - 1]
        return self.sigmoid.probability(self.answers(log, now), log_odds(log.rate(pages) * gap))


def log_odds(expected: FloatArray) -> FloatArray:
    """Log-odds of at least one change where x are expected (Poisson): ln(e^x - 1)."""
    x = np.clip(expected, 1e-6, 30.0)
    return np.asarray(x + np.log(-np.expm1(-x)))


def train(log: VisitLog, pages: PageIds, experts: list[tuple[PageIds, FloatArray]], C: float = 1.0) -> Models:
    """Train the experts of these pages on all logged visits; each page's own model comes first."""
    expert = np.concatenate([np.empty(0, dtype=np.int64), *(e for e, _ in experts)])
    weight = np.concatenate([np.empty(0), *(w for _, w in experts)])
    first = np.append(0, np.cumsum([len(e) for e, _ in experts])).astype(np.int64)
    panel, columns = Panel(pages, first, expert, weight), log.columns
    answers, expected, outcome = _later(panel, _train(panel, 2, C, columns), columns)
    order = np.lexsort((outcome, expected, answers))  # so that the sum does not depend on the order of the pages
    sigmoid = platt(answers[order], outcome[order], log_odds(expected[order]))
    return Models(panel, _train(panel, 0, C, columns), sigmoid)


def related_pages(
    log: VisitLog, pages: PageIds, site: IntArray, order: IntArray, now: int, k: int, length: int
) -> list[tuple[PageIds, FloatArray]]:
    """Find k experts for each page: pages of its site whose seen changes came before its own, and with like words.

    The similarity is the best cross-correlation of the seen changes with the expert ahead by 0 ... LAST_LAG cycles,
    times (1 + cos of the words) / 2 where both pages' words are known. The page itself comes first, with weight 1.
    """
    series = log.series(pages, now, length)
    last = log.words[pages, np.maximum(log.count[pages] - 1, 0)]
    words = log.table[last].astype(np.float64)
    changes = log.changed[pages].sum(axis=1)
    out: list[tuple[PageIds, FloatArray]] = [(np.array([page]), np.ones(1)) for page in pages]
    for number in np.unique(site[pages]):
        here = np.flatnonzero(site[pages] == number)
        here = here[np.lexsort((order[pages[here]], -changes[here]))]  # most changes first, then the tie-break
        near = _alike(series[here], words[here], min(len(here), CANDIDATES))
        for i, row in enumerate(here):
            best = np.argsort(-near[i], kind="stable")[:k]
            best = best[near[i, best] > 0]
            out[row] = np.append(pages[row], pages[here[best]]), np.append(1.0, near[i, best])
    return out


@kernel
def _alike(series: FloatArray, words: FloatArray, candidates: int) -> FloatArray:
    n, length = series.shape
    z = np.zeros_like(series)
    moves = np.zeros(n, dtype=np.bool_)
    for i in range(n):
        moves[i] = standardise(series[i], z[i])
    out = np.zeros((n, candidates))
    for i in range(n):
        for j in range(candidates):
            if i == j or not (moves[i] and moves[j]):
                continue
            out[i, j] = best_lag(z[i], z[j], 0, min(LAST_LAG, length - 1))[0]
            cosine = np.dot(words[i], words[j])
            if np.any(words[i] != 0.0) and np.any(words[j] != 0.0):
                out[i, j] *= (1.0 + cosine) / 2.0
    return out


@kernel
def _features(page: int, expert: int, now: int, log: LogColumns, out: FloatArray) -> None:
    """Features of the expert itself, and relative to the page, before cycle `now`."""
    n = lines_before(log, page, now)
    m = n if expert == page else lines_before(log, expert, now)
    own_words = log.words[page, n - 1] if n else 0
    own_at(now, m, log, expert, out[:OWN])
    if expert == page:
        out[OWN : OWN + RELATED] = 0.0
    else:
        since = log.cycle[page, n - 1] if n else log.begin[page]
        related_at(m, since, log, expert, own_words, out[OWN : OWN + RELATED])
    out[OWN + RELATED :] = log.table[log.words[expert, m - 1] if m else 0]


@kernel
def _train(panel: Panel, thirds: int, C: float, log: LogColumns) -> Machines:
    """Train every model; with `thirds`, only on that many thirds of the visits."""
    pages, first, expert, _ = panel
    count, cycle, changed = log.lines, log.cycle, log.changed
    models = len(expert)
    middle, scale, offset = np.zeros((models, WIDTH)), np.zeros((models, WIDTH)), np.zeros(models)
    start = np.zeros(models + 1, dtype=np.int64)
    room = 0
    for i in range(len(pages)):
        room += count[pages[i]] * (first[i + 1] - first[i])
    example, coefficient = np.empty((room, WIDTH), dtype=np.float32), np.empty(room)
    used = 0
    for i in range(len(pages)):
        page = pages[i]
        n = count[page] if thirds == 0 else count[page] * thirds // 3
        y = np.where(changed[page, :n], 1.0, -1.0)
        for m in range(first[i], first[i + 1]):
            x = np.empty((n, WIDTH))
            for k in range(n):
                _features(page, expert[m], cycle[page, k], log, x[k])
            _scale(x, middle[m], scale[m])
            K = x @ x.T
            for a in range(n):
                for b in range(n):
                    K[a, b] = (K[a, b] + 1.0) ** 3
            weights, offset[m] = solve(K, y, np.full(n, C))
            for k in range(n):
                if weights[k] != 0.0:
                    example[used] = x[k].astype(np.float32)
                    coefficient[used] = weights[k]
                    used += 1
            start[m + 1] = used
    return Machines(middle, scale, start, example[:used].copy(), coefficient[:used].copy(), offset)


@kernel
def _scale(x: FloatArray, middle: FloatArray, scale: FloatArray) -> None:
    """Bring the examples to mean 0; numbers to variance 1, words to the same weight as one block; both blocks alike."""
    n = len(x)
    if n == 0:
        return
    live, spread = 0, 0.0
    for f in range(WIDTH):
        middle[f] = x[:, f].mean()
        deviation = x[:, f].std()
        if f >= OWN + RELATED:
            spread += deviation * deviation
        elif deviation > 1e-9:
            scale[f] = 1.0 / deviation
            live += 1
    for f in range(WIDTH):
        if f < OWN + RELATED:
            scale[f] /= np.sqrt(max(live, 1))
        else:
            scale[f] = 1.0 / np.sqrt(spread) if spread > 1e-9 else 0.0
        for k in range(n):
            x[k, f] = (x[k, f] - middle[f]) * scale[f]


@kernel
def _answer(m: int, x: FloatArray, machines: Machines) -> float:
    middle, scale, start, example, coefficient, offset = machines
    total = offset[m]
    for f in range(WIDTH):
        x[f] = (x[f] - middle[m, f]) * scale[m, f]
    for k in range(start[m], start[m + 1]):
        product = 1.0
        for f in range(WIDTH):
            product += x[f] * example[k, f]
        total += coefficient[k] * product**3
    return min(max(total, -LOUDEST), LOUDEST)


@kernel
def _weighed(i: int, panel: Panel, machines: Machines, now: int, log: LogColumns, x: FloatArray) -> float:
    """The weighted mean of the answers of page i's experts before cycle `now`; `x` is scratch space."""
    total, weights = 0.0, 0.0
    for m in range(panel.first[i], panel.first[i + 1]):
        _features(panel.pages[i], panel.expert[m], now, log, x)
        total += panel.weight[m] * _answer(m, x, machines)
        weights += panel.weight[m]
    return total / max(weights, 1e-12)


@kernel
def _answers(panel: Panel, machines: Machines, now: int, log: LogColumns) -> FloatArray:
    out, x = np.zeros(len(panel.pages)), np.empty(WIDTH)
    for i in range(len(out)):
        out[i] = _weighed(i, panel, machines, now, log, x)
    return out


@kernel
def _later(panel: Panel, machines: Machines, log: LogColumns) -> tuple[FloatArray, FloatArray, BoolArray]:
    """For the last third of each page's visits: the answers, the expected number of changes, and the outcomes."""
    pages, count, begin, cycle, changed = panel.pages, log.lines, log.begin, log.cycle, log.changed
    room = 0
    for page in pages:
        room += count[page]
    answers, expected, outcome, n = np.empty(room), np.empty(room), np.empty(room, dtype=np.bool_), 0
    x = np.empty(WIDTH)
    for i in range(len(pages)):
        page = pages[i]
        for k in range(count[page] * 2 // 3, count[page]):
            answers[n] = _weighed(i, panel, machines, cycle[page, k], log, x)
            outcome[n] = changed[page, k]
            last = cycle[page, k - 1] if k else begin[page]
            rate = rate_of(changed[page, :k].sum(), k, last - begin[page])
            expected[n] = rate * (cycle[page, k] - last)
            n += 1
    return answers[:n], expected[:n], outcome[:n]
