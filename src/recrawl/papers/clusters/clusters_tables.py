"""The tables of the experiment on clusters (Tan et al. 2007, Tables 1 to 3), for people and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from recrawl import __version__
from recrawl.columns import FloatArray, IntArray
from recrawl.evaluate.statistics import mean_of as mean
from recrawl.papers.base import Finding
from recrawl.papers.clusters.clusters_protocol import CLS, IDEAL, ClusterCrawl, ClustersExperiment
from recrawl.report.results import number
from recrawl.report.table import Table


def budget_word(budget: float | int) -> str:
    """Write a budget."""
    return f"{budget:,} visits" if isinstance(budget, int) else f"{100 * budget:.3g}%"


def place_word(cycle: float, budget: float | int) -> str:
    """Write a cycle length and a budget."""
    return f"cycles of {cycle:g} d, {budget_word(budget)} per cycle"


WHAT = ("change", "fresh", "precision")


def shown(value: float, digits: int = 4) -> str:
    """Write a number."""
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def counts(experiment: ClustersExperiment) -> Table:
    """Fig. 1 in numbers: the elbow of each curve."""
    rows = [
        [name, str(found.best), shown(float(found.curve[found.numbers.index(found.best)])), shown(found.curve[-1])]
        for name, found in experiment.counts.items()
    ]
    return Table(("words of", "clusters at the elbow", "mean cosine there", "at the largest number"), rows)


def domains(experiment: ClustersExperiment) -> Table:
    """Table 1: pages by top-level domain; by site where sites have none."""
    total = max(sum(experiment.domains.values()), 1)
    rows = [[name, f"{pages:,}", f"{100 * pages / total:.1f}%"] for name, pages in experiment.domains.items()]
    note = (
        "The twenty largest; shares are of all pages, newborn ones included. The paper: about 300,000 pages of 210 "
        "sites; .com and .edu are more than 70% of them."
    )
    return Table(("domain or site", "pages", "share"), rows, note)


def units(experiment: ClustersExperiment) -> Table:
    """Table 2: how many pages a cluster and a site have."""

    def row(name: str, sizes: list[IntArray]) -> list[str]:
        kinds = ([len(s) for s in sizes], [s.min() for s in sizes], [s.max() for s in sizes],
                 [s.mean() for s in sizes], [np.median(s) for s in sizes], [s.std() for s in sizes])  # fmt: skip
        return [name, *(_over_seeds(np.array(values, dtype=np.float64)) for values in kinds)]

    heads = ("unit", "units", "fewest pages", "most", "mean", "median", "standard deviation")
    note = "Clusters: mean and, after ±, standard deviation over the seeds. In the paper the smallest site has 1 page."
    return Table(heads, [row(name, sizes) for name, sizes in experiment.units.items()], note)


def _over_seeds(values: FloatArray) -> str:
    if len(values) < 2 or values.std() == 0:
        return f"{values.mean():.4g}"
    return f"{values.mean():.4g} ± {values.std(ddof=1):.2g}"


def features(experiment: ClustersExperiment) -> Table:
    """Fig. 2 in numbers."""
    sets = list(dict.fromkeys(which for which, _ in experiment.features))
    budgets = experiment.protocol.budgets
    values = np.array([[mean(experiment.features[which, b]) for b in budgets] for which in sets])
    best = frozenset((int(values[:, b].argmax()), b + 1) for b in range(len(budgets)))
    rows = [[which, *(shown(v) for v in values[i])] for i, which in enumerate(sets)]
    note = f"Mean ChangeRatio of cls-nad, cycles of {experiment.protocol.middle:g} d, by the features clustered."
    return Table(("features", *(budget_word(b) for b in budgets)), rows, note, best)


def overall(experiment: ClustersExperiment, cycle: float, budget: float | int) -> Table:
    """Fig. 4 in numbers, with what the two steps of judging found."""
    runs = [experiment.runs[cycle, budget, policy] for policy in experiment.policies]
    values = np.array([[mean(run.change), mean(run.fresh), mean(run.precision)] for run in runs])
    real = [i for i, run in enumerate(runs) if run.policy != IDEAL]
    best = frozenset((max(real, key=lambda i: values[i, m]), m + 1) for m in range(3))
    rows = [
        [run.policy, *(_with_interval(run, what, v) for what, v in zip(WHAT, values[i], strict=True)), *_cases(run)]
        for i, run in enumerate(runs)
    ]
    heads = ("policy", "ChangeRatio", "freshness@10", "MAP@10", "lucky", "embarrassing")
    note = (
        f"{place_word(cycle, budget).capitalize()}. Lucky and embarrassing: of the results whose copy promises an "
        "answer, those where a stale copy leads to a page that gives it, and those where the page does not. After ±: "
        f"95% interval over the {experiment.protocol.spread}. "
        f"{experiment.visits_each(budget):.0f} visits per cluster (the paper: 250)."
    )
    return Table(heads, rows, note, best)


def _with_interval(run: ClusterCrawl, what: str, value: float) -> str:
    half = run.half(what)
    return shown(value) if math.isnan(half) else f"{shown(value)} ± {half:.4f}"


def _cases(run: ClusterCrawl) -> list[str]:
    return [f"{100 * count / max(run.promised, 1):.2f}%" for count in (run.lucky, run.embarrassing)]


def t_tests(experiment: ClustersExperiment, cycle: float, budget: float | int, what: str = "precision") -> Table:
    """Table 3: t-values of cluster-level sampling against each other policy; in brackets those of the pairs."""
    others = [policy for policy in experiment.policies if policy not in CLS and policy != IDEAL]
    cells = {(c, o): t_values(experiment, cycle, budget, c, o, what) for c in CLS for o in others}
    rows = [[c, *(f"{cells[c, o][0]:+.2f} ({cells[c, o][1]:+.2f})" for o in others)] for c in CLS]
    best = frozenset(
        (r, o + 1) for r, c in enumerate(CLS) for o, other in enumerate(others) if cells[c, other][0] > CRITICAL
    )
    name = {"precision": "MAP@10", "fresh": "freshness@10", "change": "ChangeRatio"}[what]
    pairs = "by cycle" if what == "change" else "by query"
    note = (
        f"{name}, {place_word(cycle, budget)}: t of two samples, in brackets of pairs ({pairs}); above {CRITICAL} the "
        "first is better at the 0.05 level (marked), below it is worse."
    )
    return Table(("", *(f"vs {o}" for o in others)), rows, note, best)


def t_values(
    experiment: ClustersExperiment, cycle: float, budget: float | int, one: str, other: str, what: str
) -> tuple[float, float]:
    """Return t of two samples, and of the pairs: by cycle of ChangeRatio, else by query."""
    a, b = (getattr(experiment.runs[cycle, budget, policy], what) for policy in (one, other))
    return two_sample_t(a, b), paired_t(a[None, :], b[None, :]) if what == "change" else paired_t(a, b)


def cold(experiment: ClustersExperiment) -> Table:
    """Results on pages born in the window (cold start)."""
    rows = []
    for born in experiment.cold:
        share = f"{100 * born.found / max(born.stale, 1):.2f}%"
        found = f"{100 * born.found / max(born.visits, 1):.1f}%"
        rows.append([born.policy, f"{born.visits:,}", f"{born.found:,}", found, share, shown(born.change)])
    protocol = experiment.protocol
    note = (
        f"Cycles of {min(protocol.cycles):g} d, {budget_word(min(protocol.budgets))}; pages are known from birth. "
        "Visits are those to pages born in the window of which there was a copy. With cold=no a page without a history "
        "counts as unchanging, as the estimators have it."
    )
    heads = (
        "policy",
        "visits to them",
        "found changed",
        "of the visits",
        "of the stale ones",
        "ChangeRatio, all pages",
    )
    return Table(heads, rows, note)


def results(experiment: ClustersExperiment, command: str, found: Sequence[Finding] = ()) -> dict[str, Any]:
    """Return everything as JSON."""
    protocol = experiment.protocol
    return {
        "recrawl": __version__,
        "command": command,
        "data": experiment.name,
        "pages": experiment.pages,
        "protocol": {
            "cycles": list(protocol.cycles), "budgets": list(protocol.budgets), "warmup": protocol.warmup,
            "clusters": protocol.clusters, "queries": len(experiment.asked), "seed": protocol.seed,
            "repeats": protocol.repeats, "confidence": 0.8, "folds": protocol.folds,
            "relevant": protocol.relevant, "intervals over": protocol.spread,
        },
        "domains": experiment.domains,
        "lacking": experiment.lacking,
        "counts": {
            name: {
                "numbers": list(found.numbers),
                "score": [number(v) for v in found.curve],
                "score by fold": [[number(v) for v in fold] for fold in found.scores],
                "elbow": found.best,
            }
            for name, found in experiment.counts.items()
        },
        "units": {name: [size.tolist() for size in sizes] for name, sizes in experiment.units.items()},
        "features": [
            {"features": which, "budget": budget, "ChangeRatio": [number(v) for v in values]}
            for (which, budget), values in experiment.features.items()
        ],
        "policies": [_as_json(cycle, budget, run) for (cycle, budget, _), run in experiment.runs.items()],
        "cold": [vars(born) | {"change": number(born.change)} for born in experiment.cold],
        "t-values": [
            _t_as_json(experiment, *place, what) for place in experiment.places() for what in WHAT
        ],
        "findings": [{"claim": f.claim, "verdict": f.verdict, "seen": f.evidence} for f in found],
    }  # fmt: skip


def _t_as_json(experiment: ClustersExperiment, cycle: float, budget: float | int, what: str) -> dict[str, Any]:
    """Table 3 at one place: of each pair of policies t of two samples and t of the pairs."""
    others = [policy for policy in experiment.policies if policy not in CLS and policy != IDEAL]
    values = {c: {o: [number(t) for t in t_values(experiment, cycle, budget, c, o, what)] for o in others} for c in CLS}
    return {"cycle_days": cycle, "budget": budget, "of": what, "t two samples, t pairs": values}


def _as_json(cycle: float, budget: float | int, run: ClusterCrawl) -> dict[str, Any]:
    return {
        "cycle_days": cycle,
        "budget": budget,
        "policy": run.policy,
        "ChangeRatio": number(mean(run.change)),
        "freshness@10": number(mean(run.fresh)),
        "MAP@10": number(mean(run.precision)),
        "ChangeRatio by cycle": [number(v) for v in run.change],
        "freshness@10 by cycle": [number(mean(row)) for row in run.fresh],
        "MAP@10 by cycle": [number(mean(row)) for row in run.precision],
        "MAP@10 by query": [number(mean(column)) for column in run.precision.T],
        "freshness@10 by query": [number(mean(column)) for column in run.fresh.T],
        "by seed": {what: [number(v) for v in values] for what, values in run.seeds.items()},
        "half-widths": {what: number(run.half(what)) for what in WHAT},
        "promised": run.promised,
        "lucky": run.lucky,
        "embarrassing": run.embarrassing,
    }


CRITICAL = 1.960


def two_sample_t(a: FloatArray, b: FloatArray) -> float:
    """Return t = (mean_1 - mean_2) / sqrt(s_1**2 / n_1 + s_2**2 / n_2) of two samples of any shape, without NaN.

    |t| above CRITICAL rejects equal means at the 0.05 level (Tan et al. 2007, Table 3). Samples that are the same: 0.
    """
    a, b = a[~np.isnan(a)], b[~np.isnan(b)]
    if len(a) < 2 or len(b) < 2:
        return math.nan
    error = math.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    gap = float(a.mean() - b.mean())
    return gap / error if error > 0 else (0.0 if gap == 0 else math.copysign(math.inf, gap))


def gaps_of(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the mean difference of every column without NaN; columns without a value are left out."""
    there = ~np.isnan(a - b)
    count = there.sum(axis=0)
    kept = count > 0
    return np.asarray(np.where(there, a - b, 0.0).sum(axis=0)[kept] / count[kept])


def paired_t(a: FloatArray, b: FloatArray) -> float:
    """Return t of the differences by column (cycles x queries: by query), each the mean over its rows.

    Values of one query in many cycles are correlated, and both policies answer the same queries, so the paired test has
    more power than the test of two samples.
    """
    gaps = gaps_of(a, b)
    if len(gaps) < 2:
        return math.nan
    error = float(gaps.std(ddof=1)) / math.sqrt(len(gaps))
    gap = float(gaps.mean())
    return gap / error if error > 0 else (0.0 if gap == 0 else math.copysign(math.inf, gap))
