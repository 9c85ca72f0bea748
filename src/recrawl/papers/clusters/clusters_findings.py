"""Which findings of Tan et al. 2007 hold here, by paired t-tests at every cycle length and budget."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recrawl.columns import FloatArray
from recrawl.evaluate.statistics import mean_of as mean
from recrawl.papers.base import Finding, Verdict
from recrawl.papers.clusters.clusters_protocol import CLS, ENOUGH, IDEAL, RIVALS, ClustersExperiment
from recrawl.papers.clusters.clusters_tables import CRITICAL, paired_t, t_values

HELP, WEIGHT, SEARCH, SET = (
    "Does cluster-level sampling help?", "Which weight?", "Is freshness felt in search?", "Which features?",
)  # fmt: skip
NAMES = {"change": "ChangeRatio", "fresh": "freshness@10", "precision": "MAP@10"}


def findings(experiment: ClustersExperiment) -> list[Finding]:
    """Judge every claim; places with too few visits per cluster have no vote."""
    found: list[Finding] = []
    places = experiment.places(sound=True)
    if experiment.runs:
        if not places:
            why = f"every budget leaves fewer than {ENOUGH} visits per cluster and cycle"
            return [Finding(HELP, "cluster-level sampling beats its rivals (Fig. 4)", "too small to judge", why)]
        found += _rivals(experiment, places) + _weights(experiment, places) + _search(experiment, places)
    return found + (_features(experiment) if experiment.features else [])


def judged(question: str, claim: str, tests: Sequence[float]) -> Finding:
    """Judge by t-values, one for each place: those beyond the critical value count."""
    known = [t for t in tests if not np.isnan(t)]
    better, worse = sum(t > CRITICAL for t in known), sum(t < -CRITICAL for t in known)
    verdict: Verdict = "in part"
    if better == worse == 0:
        verdict = "too small to judge"
    elif better == len(tests):
        verdict = "yes"
    elif not better:
        verdict = "no"
    seen = f"significantly better at {better}, worse at {worse} of {len(tests)} cycle lengths and budgets"
    return Finding(question, claim, verdict, seen)


def _rivals(experiment: ClustersExperiment, places: Sequence[tuple[float, float | int]]) -> list[Finding]:
    found = []
    for what, name in NAMES.items():
        for rival in RIVALS:
            tests = []
            for place in places:
                best = max(CLS, key=lambda c: mean(getattr(experiment.runs[(*place, c)], what)))
                tests.append(t_values(experiment, *place, best, rival, what)[1])
            found.append(judged(HELP, f"the best of CLS has a higher {name} than {rival} (Fig. 4)", tests))
    return found


def _weights(experiment: ClustersExperiment, places: Sequence[tuple[float, float | int]]) -> list[Finding]:
    """Fig. 4a: sad has the highest ChangeRatio. Fig. 3: it is ahead at the start, aad and gad in the end."""
    against = [
        min((t_values(experiment, *place, "cls-sad", c, "change")[1] for c in CLS if c != "cls-sad"), default=np.nan)
        for place in places
    ]
    found = [judged(WEIGHT, "sad has the highest ChangeRatio of the four weights (Fig. 4a)", against)]
    place = (min(experiment.protocol.cycles), min(experiment.protocol.budgets))
    curves = {c: experiment.runs[(*place, c)].change for c in CLS}
    half = len(curves["cls-sad"]) // 2
    if half >= 3:
        for claim, part, one, other in (
            ("sad is ahead of nad at the start (Fig. 3)", slice(0, half), "cls-sad", "cls-nad"),
            ("aad is ahead of sad in the long term (Fig. 3)", slice(half, None), "cls-aad", "cls-sad"),
            ("gad is ahead of sad in the long term (Fig. 3)", slice(half, None), "cls-gad", "cls-sad"),
        ):
            found.append(judged(WEIGHT, claim, [_pairs(curves[one][part], curves[other][part])]))
    return found


def _pairs(a: FloatArray, b: FloatArray) -> float:
    return paired_t(a[None, :], b[None, :])


def _search(experiment: ClustersExperiment, places: Sequence[tuple[float, float | int]]) -> list[Finding]:
    others = [policy for policy in experiment.policies if policy != IDEAL]
    tests = [min(t_values(experiment, *place, IDEAL, policy, "precision")[1] for policy in others) for place in places]
    return [judged(SEARCH, "completely fresh copies have the highest MAP@10 (Fig. 4c)", tests)]


def _features(experiment: ClustersExperiment) -> list[Finding]:
    budgets = [b for b in experiment.protocol.budgets if experiment.visits_each(b) >= ENOUGH]
    sets = list(dict.fromkeys(which for which, _ in experiment.features))
    if not budgets:
        why = f"fewer than {ENOUGH} visits per cluster and cycle"
        return [Finding(SET, "all features together are best (Fig. 2)", "too small to judge", why)]

    def against(one: str, rivals: Sequence[str], sign: float = 1.0) -> list[float]:
        features = experiment.features
        return [min(sign * _pairs(features[one, b], features[r, b]) for r in rivals) for b in budgets]

    rest = [which for which in sets if which != "combined"]
    words = [which for which in sets if which != "url"]
    return [
        judged(SET, "all features together are best (Fig. 2)", against("combined", rest)),
        judged(SET, "dynamic features predict better than static ones (Fig. 2)", against("dynamic", ["static"])),
        judged(SET, "words of the address alone are worst (Fig. 2)", against("url", words, -1.0)),
    ]
