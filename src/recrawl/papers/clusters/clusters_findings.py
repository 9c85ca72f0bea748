"""Which findings of Tan et al. 2007 hold here, by paired t-tests at every cycle length and budget."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recrawl.columns import FloatArray
from recrawl.evaluate.statistics import equivalence_test
from recrawl.evaluate.statistics import mean_of as mean
from recrawl.papers.base import Finding, Verdict, verdict_of
from recrawl.papers.clusters.clusters_protocol import CLS, ENOUGH, IDEAL, RIVALS, ClustersExperiment
from recrawl.papers.clusters.clusters_tables import CRITICAL, gaps_of, paired_t, t_values
from recrawl.papers.clusters.elbow import CrossValidation

HELP, WEIGHT, SEARCH, SET = (
    "Does cluster-level sampling help?", "Which weight?", "Is freshness felt in search?", "Which features?",
)  # fmt: skip
UNIT = "Which clusters?"
NAMES = {"change": "ChangeRatio", "fresh": "freshness@10", "precision": "MAP@10"}
TABLE3 = {"cls-nad": RIVALS, "cls-sad": ("rand", "round-robin"), "cls-aad": RIVALS, "cls-gad": RIVALS}
PAPER_CLUSTERS = 100
SAME = 0.01  # of a ratio or a precision: nearer is alike; cluster-level sampling gains about .05 on random visits
MUCH = 0.5  # of the rise per cluster before: less is much slower
PLACES = "cycle lengths and budgets"
Place = tuple[float, float | int]


def findings(experiment: ClustersExperiment) -> list[Finding]:
    """Judge every claim; places with too few visits per cluster have no vote."""
    found = _clusters(experiment)
    places = experiment.places(sound=True)
    if experiment.runs:
        if not places:
            why = f"every budget leaves fewer than {ENOUGH} visits per cluster and cycle"
            found.append(Finding(HELP, "cluster-level sampling beats its rivals (Fig. 4)", "too small to judge", why))
            return found
        found += _rivals(experiment, places) + _table3(experiment, places) + _weights(experiment, places)
        found += _early_and_late(experiment) + _search(experiment, places)
    return found + (_features(experiment) if experiment.features else [])


def judged(question: str, claim: str, tests: Sequence[float], of: str = PLACES) -> Finding:
    """Judge by t-values, one for each place: those beyond the critical value count."""
    known = [t for t in tests if not np.isnan(t)]
    better, worse = sum(t > CRITICAL for t in known), sum(t < -CRITICAL for t in known)
    seen = f"significantly better at {better}, worse at {worse} of {len(tests)} {of}"
    return Finding(question, claim, verdict_of(better, worse, len(tests)), seen)


def alike(question: str, claim: str, gaps: Sequence[FloatArray], of: str = PLACES) -> Finding:
    """Judge that two do not differ: by the places where the mean gap is shown to be within SAME, and to be none."""
    known = [gap for gap in gaps if len(gap) > 1]
    claim = f"{claim[:-1]}; within {SAME:g})" if claim.endswith(")") else f"{claim} (within {SAME:g})"
    if not known:
        return Finding(question, claim, "too small to judge", "nothing to compare")
    tests = [equivalence_test(gap, np.zeros(len(gap)), -SAME, SAME) for gap in known]
    same, differ = sum(test.within for test in tests), sum(test.apart for test in tests)
    seen = f"shown to be alike at {same}, to differ at {differ} of {len(known)} {of}"
    return Finding(question, claim, verdict_of(same, differ, len(known)), seen)


# -- Fig 1 and Table 2 ------------------------------------------------------------------------------------------------


def _clusters(experiment: ClustersExperiment) -> list[Finding]:
    found = [_levels_off(name, curve) for name, curve in experiment.counts.items()]
    if len(experiment.units) == 2:
        sizes = {unit: float(np.mean([each.mean() for each in own])) for unit, own in experiment.units.items()}
        fewest = {unit: int(min(each.min() for each in own)) for unit, own in experiment.units.items()}
        seen = (
            f"{sizes['cluster']:.0f} pages on average, {sizes['site']:.0f} in a site; the smallest {fewest['cluster']} "
            f"and {fewest['site']}"
        )
        larger: Verdict = "yes" if sizes["cluster"] > sizes["site"] else "no"
        found.append(Finding(UNIT, "a cluster is a larger unit than a site (Table 2)", larger, seen))
    return found


def _levels_off(name: str, curve: CrossValidation) -> Finding:
    """Fig. 1: beyond 100 clusters the criterion rises less than half as fast; by a paired t-test of the folds."""
    claim = f"by words of the {name} the criterion rises much slower beyond {PAPER_CLUSTERS} clusters (Fig. 1)"
    numbers = np.array(curve.numbers, dtype=np.float64)
    at = int(np.searchsorted(numbers, PAPER_CLUSTERS))
    if not 0 < at < len(numbers) - 1:
        return Finding(UNIT, claim, "too small to judge", f"only {int(numbers[-1])} clusters could be tried")
    early = (curve.scores[:, at] - curve.scores[:, 0]) / (numbers[at] - numbers[0])
    late = (curve.scores[:, -1] - curve.scores[:, at]) / (numbers[-1] - numbers[at])
    made = judged(UNIT, claim, [_pairs(MUCH * early, late)])
    slower = (
        f"{late.mean() / early.mean():.0%} of the rise per cluster before" if early.mean() > 0 else "no rise at all"
    )
    return Finding(UNIT, claim, made.verdict, f"{slower}; the elbow is at {curve.best}")


# -- Figs 3 and 4, Table 3 --------------------------------------------------------------------------------------------


def _rivals(experiment: ClustersExperiment, places: Sequence[Place]) -> list[Finding]:
    found = []
    for what, name in NAMES.items():
        for rival in RIVALS:
            tests = []
            for place in places:
                best = max(CLS, key=lambda c: mean(getattr(experiment.runs[(*place, c)], what)))
                tests.append(_paired(experiment, place, best, rival, what))
            found.append(judged(HELP, f"the best of CLS has a higher {name} than {rival} (Fig. 4)", tests))
    return found


def _table3(experiment: ClustersExperiment, places: Sequence[Place]) -> list[Finding]:
    """Table 3 by the paper's own test: t of two samples, all cycles and queries."""
    found = []
    for one, rivals in TABLE3.items():
        tests = [t_values(experiment, *place, one, rival, "precision")[0] for place in places for rival in rivals]
        claim = f"{one} has a significantly higher MAP@10 than {', '.join(rivals)} (Table 3, t of two samples)"
        found.append(judged(HELP, claim, tests, f"rivals at {PLACES}"))
    return found


def _weights(experiment: ClustersExperiment, places: Sequence[Place]) -> list[Finding]:
    """Fig. 4a: sad has the highest ChangeRatio. Fig. 4b: the three adaptive weights keep results equally fresh."""
    against = [
        min((_paired(experiment, place, "cls-sad", c, "change") for c in CLS if c != "cls-sad"), default=np.nan)
        for place in places
    ]
    adaptive = ("cls-sad", "cls-aad", "cls-gad")
    pairs = [(a, b) for at, a in enumerate(adaptive) for b in adaptive[at + 1 :]]
    runs = [[experiment.runs[(*place, c)].fresh for c in pair] for place in places for pair in pairs]
    fresh = [gaps_of(first, second) for first, second in runs]
    return [
        judged(WEIGHT, "sad has the highest ChangeRatio of the four weights (Fig. 4a)", against),
        alike(WEIGHT, "sad, aad and gad do not differ in freshness@10 (Fig. 4b)", fresh, f"pairs at {PLACES}"),
    ]


def _early_and_late(experiment: ClustersExperiment) -> list[Finding]:
    """Fig. 3: sad is ahead at the start, nad last; nad overtakes sad; aad and gad are alike, and ahead in the end."""
    place = (min(experiment.protocol.cycles), min(experiment.protocol.budgets))
    curves = {c: experiment.runs[(*place, c)].change for c in CLS}
    half = len(curves["cls-sad"]) // 2
    if half < 3:
        return []
    early, late = slice(0, half), slice(half, None)
    claims = (
        ("sad is ahead of nad at the start (Fig. 3)", early, "cls-sad", "cls-nad"),
        ("aad is ahead of nad at the start (Fig. 3)", early, "cls-aad", "cls-nad"),
        ("gad is ahead of nad at the start (Fig. 3)", early, "cls-gad", "cls-nad"),
        ("nad is ahead of sad in the long term (Fig. 3)", late, "cls-nad", "cls-sad"),
        ("aad is ahead of sad in the long term (Fig. 3)", late, "cls-aad", "cls-sad"),
        ("gad is ahead of sad in the long term (Fig. 3)", late, "cls-gad", "cls-sad"),
    )
    found = [
        judged(WEIGHT, claim, [_pairs(curves[one][part], curves[other][part])], "curve")
        for claim, part, one, other in claims
    ]
    same = [gaps_of(curves["cls-aad"][None, :], curves["cls-gad"][None, :])]
    return [*found, alike(WEIGHT, "aad and gad are very similar (Fig. 3)", same, "curve")]


def _pairs(a: FloatArray, b: FloatArray) -> float:
    return as_normal(paired_t(a[None, :], b[None, :]), len(a))


def _paired(experiment: ClustersExperiment, place: Place, one: str, other: str, what: str) -> float:
    """t of the pairs, by cycle for ChangeRatio and else by query, as a normal deviate."""
    pairs = getattr(experiment.runs[(*place, one)], what).shape[-1]
    return as_normal(t_values(experiment, *place, one, other, what)[1], pairs)


def as_normal(t: float, pairs: int) -> float:
    """The normal deviate that is as rare as a t of so many pairs: with few of them 1.96 is not rare enough for t."""
    from scipy.special import ndtri, stdtr  # half a second to import

    return t if np.isnan(t) or pairs < 2 else float(-ndtri(stdtr(pairs - 1, -t)))


def _search(experiment: ClustersExperiment, places: Sequence[Place]) -> list[Finding]:
    others = [policy for policy in experiment.policies if policy != IDEAL]
    tests = [min(_paired(experiment, place, IDEAL, policy, "precision") for policy in others) for place in places]
    near = []
    for place in places:
        runs = {p: experiment.runs[(*place, p)].precision for p in (*RIVALS, *CLS, IDEAL)}
        order = sorted((p for p in runs if p != IDEAL), key=lambda p: mean(runs[p]))
        worst, best, ideal = runs[order[0]], runs[order[-1]], runs[IDEAL]
        near.append(as_normal(paired_t(ideal - best, best - worst), best.shape[-1]))
    claim = "the MAP@10 of all other policies is very similar: nearer to each other than to fresh copies (Fig. 4c)"
    return [
        judged(SEARCH, "completely fresh copies have the highest MAP@10 (Fig. 4c)", tests),
        judged(SEARCH, claim, near, f"{PLACES} (the best less the worst policy against fresh copies less the best)"),
    ]


# -- Fig 2 ------------------------------------------------------------------------------------------------------------


def _features(experiment: ClustersExperiment) -> list[Finding]:
    budgets = [b for b in experiment.protocol.budgets if experiment.visits_each(b) >= ENOUGH]
    sets = list(dict.fromkeys(which for which, _ in experiment.features))
    if not budgets:
        why = f"fewer than {ENOUGH} visits per cluster and cycle"
        return [Finding(SET, "all features together are best (Fig. 2)", "too small to judge", why)]
    features = experiment.features

    def against(one: str, rivals: Sequence[str], sign: float = 1.0) -> list[float]:
        return [min(sign * _pairs(features[one, b], features[r, b]) for r in rivals) for b in budgets]

    def spread(budget: float | int) -> FloatArray:
        return np.asarray(np.ptp([features[which, budget] for which in sets], axis=0))

    rest = [which for which in sets if which != "combined"]
    words = [which for which in sets if which != "url"]
    found = [
        judged(SET, "all features together are best (Fig. 2)", against("combined", rest), "budgets"),
        judged(
            SET, "dynamic features predict better than static ones (Fig. 2)", against("dynamic", ["static"]), "budgets"
        ),
        judged(SET, "words of the address alone are worst (Fig. 2)", against("url", words, -1.0), "budgets"),
        alike(
            SET,
            "words of address and content do like those of the content alone (Fig. 2)",
            [gaps_of(features["url+content", b][None, :], features["content", b][None, :]) for b in budgets],
            "budgets",
        ),
    ]
    if len(budgets) > 1:
        scarce, abundant = spread(min(budgets)), spread(max(budgets))
        claim = "the choice of features matters more where visits are scarce (Fig. 2)"
        seen = f"best less worst {mean(scarce):.3f} at the smallest budget, {mean(abundant):.3f} at the largest"
        found.append(Finding(SET, claim, judged(SET, claim, [_pairs(scarce, abundant)]).verdict, seen))
    return found
