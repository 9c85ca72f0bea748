"""Which findings of Dang et al. 2022 hold here: by the paper's own measures, with paired tests over the repetitions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from recrawl.evaluate.statistics import equivalence_test, paired_test
from recrawl.papers.base import Finding, Verdict
from recrawl.papers.outlinks.outlinks_models import Scores
from recrawl.papers.outlinks.outlinks_patterns import patterns
from recrawl.papers.outlinks.outlinks_run import OutlinksExperiment

FEWEST = 20  # test pages with new links, below which nothing is judged
TEXT, HISTORY, RANKING = "What do static features tell?", "Does history help?", "How to rank pages?"
SMALL: Verdict = "too small to judge"
WORDY = (
    "the semantic vector",
    "the link change rate of related",
    "LBLA",
    "the most informative pair",
)  # claims that rest on words
LINKED = ("static features of the network",)
NEAR = 0.01  # of a score: closer than this is as good
CLOSE = 0.05  # of an area: closer than this is close


def findings(experiment: OutlinksExperiment, where: str) -> list[Finding]:
    """Say of each of the paper's findings whether it holds for one sort of links."""
    few = positives(experiment, where)
    judged = [
        *_static(experiment, where),
        *_history(experiment, where),
        *_important(experiment, where),
        *_rankings(experiment, where),
        *_targets(experiment, where),
    ]
    for lacking, claims in (("words", WORDY), ("links", LINKED)):
        if not getattr(experiment.ground, f"has_{lacking}"):
            judged = [
                Finding(f.question, f.claim, SMALL, f"no {lacking} are recorded") if f.claim.startswith(claims) else f
                for f in judged
            ]
    described = patterns(experiment, where)
    if few >= FEWEST:
        return [*described, *judged]
    why = f"only {few} test pages have new links"
    small = [Finding(f.question, f.claim, SMALL, f"{f.evidence}; {why}" if f.evidence else why) for f in judged]
    return [*described, *small]


def positives(experiment: OutlinksExperiment, where: str) -> int:
    """Test pages with new links in the last week, the fewest of all repetitions."""
    present = experiment.ground.targets[where].nl
    return min(int(present[split.test].sum()) for split in experiment.ground.splits())


def compared(
    question: str, claim: str, first: Sequence[float], second: Sequence[float], *, near: float = 0.0
) -> Finding:
    """Judge first > second by a paired t-test over the repetitions; with `near`, first not below second - `near`."""
    a, b = np.array(first, dtype=np.float64), np.array(second, dtype=np.float64)
    if not len(a) or len(a) != len(b) or np.isnan(a).all() or np.isnan(b).all():
        return Finding(question, claim, SMALL)
    test = paired_test(a, b)
    evidence = f"{np.nanmean(a):.3f} against {np.nanmean(b):.3f}, p = {test.p:.2g}, {len(a)} draws"
    if near:
        return Finding.alike(question, claim, equivalence_test(a, b, -near, math.inf), f"{evidence}")
    if math.isnan(test.p) or not test.significant:
        return Finding(question, claim, SMALL, evidence)
    return Finding(question, claim, "yes" if test.difference > 0 else "no", evidence)


def _by_name(scores: Sequence[Scores], name: str, key: str) -> list[float]:
    return next((score.repeats[key] for score in scores if score.name == name), [])


def _static(experiment: OutlinksExperiment, where: str) -> list[Finding]:
    scores = experiment.static[where]

    def r2(name: str) -> list[float]:
        return _by_name(scores, name, "R2")

    return [
        compared(TEXT, "static features tell more of the link change rate than always 0", r2("SP"), r2("always 0")),
        compared(TEXT, "the semantic vector helps (R2; Figs 9, 10)", r2("SPsem"), r2("SP")),
        compared(TEXT, "static features of the network help (R2; Figs 9, 10)", r2("SP+SN"), r2("SP")),
        compared(TEXT, "the semantic vector and the network together help more (Figs 9, 10)",
                 r2("SPsem+SN"), r2("SPsem")),
    ]  # fmt: skip


def _history(experiment: OutlinksExperiment, where: str) -> list[Finding]:
    scores = experiment.history[where]
    last = f"history {max(experiment.ground.protocol.histories)}"

    def accuracy(name: str) -> list[float]:
        return _by_name(scores, name, "accuracy (b)")

    zero, one, most = accuracy("history 0"), accuracy("history 1"), accuracy(last)
    found = [
        compared(HISTORY, "dynamic features beat static ones (balanced accuracy; Fig 12)", most, zero),
        compared(HISTORY, "a model with one week of history beats NNL-Pr (Fig 12)", one, accuracy("NNL-Pr")),
        compared(HISTORY, "more weeks of history are better than one (Fig 12)", most, one),
    ]
    if where == "external":
        claim = "recall is below the balanced accuracy: new external links are missed (Fig 12)"
        found.append(compared(HISTORY, claim, most, _by_name(scores, last, "recall")))
    if len(zero) == len(one) == len(most) > 0:
        gain, early = np.array(most) - np.array(zero), np.array(one) - np.array(zero)
        claim = "one week of history brings most of it"
        if gain.mean() <= NEAR:
            found.append(Finding(HISTORY, claim, SMALL, f"all history brings {gain.mean():+.3f}"))
        else:
            test = paired_test(early, 0.5 * gain)
            seen = f"{early.mean():+.3f} of {gain.mean():+.3f}, against half of it p = {test.p:.2g}"
            found.append(Finding.tested(HISTORY, claim, test, seen))
    return [*found, _importance(experiment, where)]


def _importance(experiment: OutlinksExperiment, where: str) -> Finding:
    """The main finding: the related pages' link change rate is the most important feature (Fig 13)."""
    claim = "the link change rate of related pages is the most informative feature (Fig 13)"
    importances = experiment.history_importance[where]
    if not importances.features or not importances.related_place or importances.features[0][2] <= 0:
        return Finding(HISTORY, claim, SMALL, "no feature matters" if importances.features else "")
    name, kind, fall = importances.features[0]
    evidence = f"place {importances.related_place}; first is {name} ({kind}), {fall:.3f}"
    place: Verdict = "yes" if importances.related_place == 1 else "in part" if importances.related_place <= 10 else "no"
    return Finding(HISTORY, claim, place, evidence)


STATIC_BEST = ("content size", "text size", "internal outlinks", "external outlinks", "text quality")


def _important(experiment: OutlinksExperiment, where: str) -> list[Finding]:
    """Figs 11 and 13, and the pair of section 7: which features are among the ten most important."""
    static = [name for name, _, fall in experiment.static_importance[where].features if fall > 0]
    there = [name for name in STATIC_BEST if name in static]
    found = [
        counted(
            TEXT, "sizes, outlinks and text quality are among the ten most important (Fig 11)", len(there), 5, static
        )
    ]
    dynamic = [(name, kind) for name, kind, fall in experiment.history_importance[where].features if fall > 0]
    weeks = max(experiment.ground.protocol.histories)
    own = sum(name.startswith(f"new {where} links") and "mean" not in name for name, _ in dynamic)
    moving = sum(kind.startswith("D") for _, kind in dynamic)
    names = [name for name, _ in dynamic]
    found += [
        counted(HISTORY, "the page's own new links of every week are among the ten (Fig 13)", own, weeks, names),
        counted(HISTORY, "all of the ten but one are dynamic (Fig 13)", moving, max(len(dynamic) - 1, 1), names),
    ]
    pair = {name for name, _, fall in experiment.lbla_importance[where].features[:2] if fall > 0}
    asked = [f"new {where} links, mean of {weeks}", f"related: {where} link change rate"]
    claim = "the most informative pair of LBLA are the mean of new links and related pages' change rate (section 7)"
    hits = sum(any(name.startswith(word) for name in pair) for word in asked)
    return [*found, counted(RANKING, claim, hits, 2, sorted(pair))]


def counted(question: str, claim: str, hits: int, most: int, names: Sequence[str]) -> Finding:
    """Judge by how many of the features are there: all yes, some in part, none no."""
    if not names:
        return Finding(question, claim, SMALL, "no feature matters")
    verdict: Verdict = "yes" if hits >= most else "in part" if hits else "no"
    return Finding(question, claim, verdict, f"{min(hits, most)} of {most}; first are {', '.join(names[:3])}")


def _targets(experiment: OutlinksExperiment, where: str) -> list[Finding]:
    """Fig 14: ExtraT ranks best by the target it was trained for; what the Poisson law does; Fig 15: CCR."""
    held = {ranking.name: ranking.repeats for ranking in experiment.rankings[where]}
    found = []
    for target in ("LCR", "NL", "NNL"):
        known = {name: [v for v in values[target] if not np.isnan(v)] for name, values in held.items()}
        mean = {name: float(np.mean(values)) for name, values in known.items() if values and name != "random"}
        own = {name: value for name, value in mean.items() if name.startswith((f"{target}-ET", f"P{target}-ET"))}
        rest = {name: value for name, value in mean.items() if name not in own}
        if target == "LCR":  # they know the page's own weeks, which the rate is made of
            rest = {name: value for name, value in rest.items() if name not in ("NNL-Av", "NNL-Pr")}
        if own and rest:
            best, other = max(own, key=lambda name: own[name]), max(rest, key=lambda name: rest[name])
            claim = f"trees trained for {target} rank best by it (Spearman's rho; Fig 14)"
            made = compared(RANKING, claim, held[best][target], held[other][target])
            found.append(Finding(RANKING, claim, made.verdict, f"{best} and {other}: {made.evidence}"))
    found.append(
        compared(RANKING, "equal values lift NL-ET above PNL-ET by rho with NL (Fig 14)",
                 held["NL-ET"]["NL"], held["PNL-ET"]["NL"])
    )  # fmt: skip
    if "NNL-NGB" in held:
        natural, average = held["NNL-NGB"], held["NNL-Av"]
        found += [
            compared(RANKING, "NGBoost has a higher rho with LCR than NNL-Av (Fig 14)", natural["LCR"], average["LCR"]),
            compared(RANKING, "NNL-Av has a higher rho with NNL than NGBoost (Fig 14)", average["NNL"], natural["NNL"]),
        ]
    if where == "external":
        areas = [np.array(held[name]["area"], dtype=np.float64) for name in ("CCR", "random")]
        near = equivalence_test(areas[0], areas[1], -CLOSE, CLOSE)
        claim = "by area CCR is close to a random ranking (Fig 15b)"
        found.append(Finding.alike(RANKING, claim, near, f"{near.difference:+.3f}, p = {near.p_zero:.2g}"))
    return found


def _rankings(experiment: OutlinksExperiment, where: str) -> list[Finding]:
    rankings = {ranking.name: ranking.repeats for ranking in experiment.rankings[where]}

    def rho(name: str, target: str) -> list[float]:
        return rankings[name][target] if name in rankings else []

    def area(name: str) -> list[float]:
        return rankings[name]["area"] if name in rankings else []

    found = [
        compared(RANKING, f"LBLA is not worse than all features for {target} (Spearman's rho; Fig 14)",
                 rho(f"{target}-ET LBLA", target), rho(f"{target}-ET", target), near=NEAR)
        for target in ("LCR", "NL", "NNL")
    ]  # fmt: skip
    found.append(compared(RANKING, "CCR is a poorer predictor than NNL-Av (area; Fig 15)", area("NNL-Av"), area("CCR")))
    found.append(
        compared(RANKING, "CCR is a poorer predictor than LBLA (area; Fig 15)", area("NNL-ET LBLA"), area("CCR"))
    )
    if "NNL-NGB" in rankings:
        found.append(
            compared(RANKING, "NGBoost ranks better than NNL-Av (area; Fig 15)", area("NNL-NGB"), area("NNL-Av"))
        )
    return found
