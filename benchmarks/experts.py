"""Cross-correlation and dynamic time warping against numpy and dtaidistance; the SVM; selecting experts at scale."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from dtaidistance import dtw  # type: ignore[import-untyped,import-not-found,unused-ignore]
from sklearn.svm import SVC

from recrawl.columns import FloatArray
from recrawl.compiled import kernel
from recrawl.papers.experts.dynamics import dynamics_of
from recrawl.papers.experts.expert_selection import Movement
from recrawl.papers.experts.snapshots import Snapshots, bags_of
from recrawl.policies.experts.alignment import standardise, warp_rows
from recrawl.policies.experts.svm import polynomial, solve
from reference.expert_search import exhaustive, reached

PAIRS = 2_000
BLOCK = 256  # rows that are multiplied at once
TOPICS = 40
METHODS = ("cross-correlation", "dtw")


def timed(work: Callable[[], FloatArray], repeats: int = 3) -> tuple[float, FloatArray]:
    """Return the best time of several, and what was worked out."""
    best, out = np.inf, np.empty(0)
    for _ in range(repeats):
        began = time.perf_counter()
        out = work()
        best = min(best, time.perf_counter() - began)
    return float(best), out


def numpy_correlation(x: FloatArray, others: FloatArray) -> FloatArray:
    """The best delay by numpy: all pairs at once, one delay after another."""
    n = len(x)
    a = (x - x.mean()) / (x.std() * np.sqrt(n))
    b = (others - others.mean(axis=1, keepdims=True)) / (others.std(axis=1, keepdims=True) * np.sqrt(n))
    return np.max([b[:, : n - d] @ a[d:] for d in range(1, n)], axis=0)


def numpy_warp(x: FloatArray, others: FloatArray) -> FloatArray:
    """The whole table by numpy, one cell after another, for all pairs at once."""
    before = np.full((len(others), others.shape[1] + 1), np.inf)
    before[:, 0] = 0.0
    for value in x:
        now = np.full_like(before, np.inf)
        cost = np.abs(value - others)
        least = np.minimum(before[:, 1:], before[:, :-1])
        for j in range(others.shape[1]):
            now[:, j + 1] = cost[:, j] + np.minimum(least[:, j], now[:, j])
        before = now
    return before[:, -1]


def peers(x: FloatArray, others: FloatArray) -> FloatArray:
    """dtaidistance's C code: one block of its matrix, one thread."""
    both = np.vstack([x[None], others])
    block = ((0, 1), (1, len(both)))
    found = dtw.distance_matrix_fast(both, block=block, inner_dist="euclidean", parallel=False, compact=True)
    return np.asarray(found)


@kernel
def correlate_all(x: FloatArray, others: FloatArray) -> FloatArray:
    """The best cross-correlation of a series with every row.

    All delays of many rows at once are one matrix product, of the rows with the series shifted by each delay.
    """
    n = len(x)
    out = np.zeros(len(others))
    z = np.empty(n)
    if n < 2 or not standardise(x, z):
        return out
    shifted = np.zeros((n, n - 1))
    for d in range(1, n):
        for j in range(n - d):
            shifted[j, d - 1] = z[j + d]
    rows = np.empty((min(BLOCK, len(others)), n))
    for first in range(0, len(others), BLOCK):
        count = min(BLOCK, len(others) - first)
        for k in range(count):
            standardise(others[first + k], rows[k])
        found = np.dot(rows[:count], shifted)
        for k in range(count):
            if rows[k].any():  # a constant row correlates with nothing
                out[first + k] = found[k].max()
    return out


@kernel
def warp_all(x: FloatArray, others: FloatArray) -> FloatArray:
    """The distance of a series to every row."""
    out = np.empty(len(others))
    row = np.empty(others.shape[1] + 1)
    for k in range(len(others)):
        out[k] = warp_rows(x, others[k], row)
    return out


def kernels(length: int) -> None:
    draw = np.random.default_rng(length)
    x, others = draw.normal(size=length), draw.normal(size=(PAIRS, length))
    correlate_all(x, others[:2])
    warp_all(x, others[:2])
    ours, a = timed(lambda: correlate_all(x, others))
    plain, b = timed(lambda: numpy_correlation(x, others))
    assert np.allclose(a, b)
    print(f"cross-correlation, {PAIRS} pairs of {length}: {ours * 1e3:7.1f} ms, numpy {plain * 1e3:7.1f} ms")
    ours, a = timed(lambda: warp_all(x, others))
    plain, b = timed(lambda: numpy_warp(x, others), 1)
    theirs, c = timed(lambda: peers(x, others))
    assert np.allclose(a, b)
    assert np.allclose(a, c)
    print(f"dtw,               {PAIRS} pairs of {length}: {ours * 1e3:7.1f} ms, numpy {plain * 1e3:7.1f} ms, "
          f"dtaidistance {theirs * 1e3:7.1f} ms")  # fmt: skip


def machines(size: int, count: int = 300) -> None:
    draw = np.random.default_rng(size)
    problems = []
    for _ in range(count):
        x = draw.normal(size=(size, 8))
        K = np.empty((size, size))
        polynomial(x @ x.T / 8, K)
        problems.append((K, np.where(x[:, 0] + draw.normal(size=size) > 0, 1.0, -1.0)))
    C = np.ones(size)
    solve(*problems[0], C)
    ours, _ = timed(lambda: np.array([solve(K, y, C)[1] for K, y in problems]))
    theirs, _ = timed(lambda: np.array([SVC(kernel="precomputed").fit(K, y).intercept_[0] for K, y in problems]), 1)
    print(f"svm of {size} examples: {ours / count * 1e6:6.0f} us, scikit-learn {theirs / count * 1e6:6.0f} us")


def moving_web(pages: int, steps: int, seed: int) -> Snapshots:
    """Pages of some topics; a topic's pages get and lose its words at like times."""
    draw = np.random.default_rng(seed)
    texts: list[str] = []
    version = np.empty((pages, steps), dtype=np.int32)
    events = draw.random((TOPICS, steps)) < 0.08
    for page in range(pages):
        topic = int(draw.integers(TOPICS))
        words = [f"t{topic}w{w}" for w in draw.zipf(1.3, 40) % 400]
        late = int(draw.integers(0, 4))
        for step in range(steps):
            if step == 0 or events[topic, step - late] or draw.random() < 0.02:
                words[int(draw.integers(40))] = f"t{topic}w{draw.zipf(1.3) % 400}"
                words[int(draw.integers(40))] = f"common{draw.zipf(1.3) % 1000}"
                texts.append(" ".join(words))
            version[page, step] = len(texts) - 1
    return Snapshots(np.arange(pages), 1.0, bags_of(texts), version)


def selection(pages: int, *, exact: int = 0, most: int = 0) -> None:
    snapshots = moving_web(pages, 51, pages)
    began = time.perf_counter()
    movement = Movement(dynamics_of(snapshots, 0, 50))
    prepared = time.perf_counter() - began
    for method in METHODS:
        movement.nearest(0, 20, method)
        began = time.perf_counter()
        found = [movement.nearest(page, 20, method, most) for page in range(pages)]
        took = time.perf_counter() - began
        examined = np.mean([choice.examined for choice in found])
        line = f"{pages:6,} pages, {method:17}: series {prepared:5.1f} s, experts of all {took:6.1f} s, "
        line += f"{examined:.0f} of {pages - 1:,} examined" + (f" (at most {most})" if most else "")
        if exact:
            began = time.perf_counter()
            truth = [exhaustive(movement, page, 20, method) for page in range(exact)]
            share = np.mean([reached(t, f) for t, f in zip(truth, found, strict=False)])
            kept = sum(f.weight.sum() for f in found[:exact]) / max(sum(t.weight.sum() for t in truth), 1e-12)
            bound = np.mean([choice.bound for choice in found])
            line += f"; exhaustive {(time.perf_counter() - began) * pages / exact:.1f} s, {100 * share:.1f}% of the "
            line += f"exact experts, {100 * kept:.2f}% of their similarity" + (f", bound {bound:.2f}" if most else "")
        print(line, flush=True)


def main() -> None:
    for length in (50, 180):
        kernels(length)
    for size in (20, 50):
        machines(size)
    sizes = (500, 2_000, 10_000) if "--small" not in sys.argv else (500,)
    selection(500, exact=500)
    selection(500, exact=500, most=50)
    for pages in sizes[1:]:
        selection(pages)
        selection(pages, most=200)


if __name__ == "__main__":
    main()
