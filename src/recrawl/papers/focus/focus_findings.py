"""Which findings of the paper on focused crawling hold for one topic, over all sets of seeds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from recrawl.columns import FloatArray
from recrawl.evaluate.statistics import equivalence_test, paired_test
from recrawl.focus.strategy import BEST_FIRST
from recrawl.papers.base import Finding, verdict_of
from recrawl.papers.focus.focus_protocol import TopicResult

CLOSE = 0.05  # of Best-First's cohesiveness: nearer is very close
MORE, WHERE_TO = "Do evolved strategies find more?", "Where do they look?"


def findings(result: TopicResult) -> list[Finding]:
    """Check the paper's findings on one topic; what a run or a graph is too small for is not judged."""
    found = [] if result.cross else [_community(result), _other_scores(result)]
    found += [_harvest(result, size) for size in range(len(result.sizes))]
    found += [_cohesion(result, kind, size) for kind in ("community", "overall") for size in range(len(result.sizes))]
    found += [_growth(result, kind) for kind in ("community", "overall")]
    found += [_nearer(result, "mean"), _nearer(result, "maximum")]
    if len(result.evolutions) > 1:
        found.append(_evolutions(result))
    return [replace(f, verdict="too small to judge") for f in found] if result.too_small() else found


def _guard(result: TopicResult, finding: Finding, size: int) -> Finding:
    """Refuse a verdict on crawls that are as long as what the seeds reach."""
    if not result.too_long(size):
        return finding
    reach = min(trial.reach for trial in result.trials)
    why = f"a crawl of {result.sizes[size]:,} pages takes nearly all of the {reach:,} in reach"
    return replace(finding, verdict="too small to judge", evidence=f"{why}; seen: {finding.evidence}")


def _who(result: TopicResult) -> str:
    return f"strategies evolved on {result.evolved_on}" if result.cross else "evolved strategies"


def _harvest(result: TopicResult, size: int) -> Finding:
    """Fig 3 (own topic): evolved wins at 10,000 and 20,000, Best-First at 30,000; Fig 4 (other topic): evolved wins."""
    mine, other = _pooled(result, "harvest", size)
    last = size == len(result.sizes) - 1
    pages = f"{result.sizes[size]:,} pages"
    if last and not result.cross:
        test = paired_test(other, mine)
        claim = f"Best-First has the higher harvest at {pages} (Fig 3; in Fig 4 it has not)"
    else:
        test = paired_test(mine, other)
        claim = (
            f"{_who(result)} have a higher harvest than Best-First at {pages} ({'Fig 4' if result.cross else 'Fig 3'})"
        )
    seen = f"{mine.mean():.3f} against {other.mean():.3f} of Best-First (p = {test.p:.2g})"
    return _guard(result, Finding.tested(MORE, claim, test, seen), size)


def _cohesion(result: TopicResult, kind: str, size: int) -> Finding:
    """Figs 5 and 6 (higher at 10,000 and 20,000, close at 30,000), Figs 7 and 8 (higher, and growing)."""
    mine, other = _pooled(result, f"{kind} cohesiveness", size)
    test = paired_test(mine, other)
    figure = {"community": "5", "overall": "6"} if not result.cross else {"community": "7", "overall": "8"}
    at = f"at {result.sizes[size]:,} pages (Fig {figure[kind]}"
    seen = f"{mine.mean():.2f} against {other.mean():.2f} links into the community (p = {test.p:.2g})"
    if size == len(result.sizes) - 1 and not result.cross:
        margin = CLOSE * float(other.mean())
        claim = (
            f"the {kind} cohesiveness of {_who(result)} is very close to Best-First's {at}; here within {CLOSE:.0%})"
        )
        found = Finding.alike(WHERE_TO, claim, equivalence_test(mine, other, -margin, margin), seen)
    else:
        found = Finding.tested(WHERE_TO, f"{_who(result)} have a higher {kind} cohesiveness {at})", test, seen)
    return _guard(result, found, size)


def _growth(result: TopicResult, kind: str) -> Finding:
    """Figs 5 and 6: on the sparse topic cohesiveness falls as the crawl grows; Figs 7 and 8: on the other it rises."""
    short, _ = _pooled(result, f"{kind} cohesiveness", 0)
    long, _ = _pooled(result, f"{kind} cohesiveness", -1)
    test = paired_test(long, short)
    figure = ("5", "7") if kind == "community" else ("6", "8")
    course, sign = ("rises", 1) if result.cross else ("falls", -1)
    claim = f"the {kind} cohesiveness of {_who(result)} {course} with the crawl (Fig {figure[result.cross]})"
    seen = (
        f"{short.mean():.2f} at {result.sizes[0]:,} pages, {long.mean():.2f} at {result.sizes[-1]:,} (p = {test.p:.2g})"
    )
    return _guard(result, Finding.tested(WHERE_TO, claim, test, seen, sign=sign), -1)


def across(first: TopicResult, other: TopicResult) -> Finding:
    """Fig 4 beside Fig 3: all strategies find more of the second, popular topic than of the first, sparse one."""
    claim = f"all strategies have a higher harvest on {other.name} than on {first.name} at the first length (Figs 3, 4)"
    seen, won, lost = [], 0, 0
    for which in (1, 0):
        mine, theirs = _pooled(first, "harvest", 0)[which], _pooled(other, "harvest", 0)[which]
        test = paired_test(theirs, mine)
        won, lost = won + (test.significant and test.difference > 0), lost + (test.significant and test.difference < 0)
        name = BEST_FIRST.name if which else "the best evolved"
        seen.append(f"{name} {theirs.mean():.3f} against {mine.mean():.3f} (p = {test.p:.2g})")
    finding = Finding(MORE, claim, verdict_of(won, lost, 2), "; ".join(seen))
    small = first.too_small() or other.too_small() or first.too_long(0) or other.too_long(0)
    return replace(finding, verdict="too small to judge") if small else finding


def _nearer(result: TopicResult, what: str) -> Finding:
    """Figs 9 and 10: nearer to the seeds; the farthest at 10 links, Best-First's at 12 and 14."""
    mine, other = _pooled(result, f"{what} distance", -1)
    deep, others_deep = _pooled(result, f"{what} depth", -1)
    test = paired_test(mine, other)
    if what == "mean":
        claim = f"{_who(result)} stay closer to the seeds than Best-First (Figs 9, 10)"
    else:
        claim = f"{_who(result)} do not go as far: 10 links, Best-First 12 and 14 (Figs 9, 10)"
    seen = (
        f"{what} distance {mine.mean():.2f} against {other.mean():.2f} at {result.sizes[-1]:,} pages "
        f"(p = {test.p:.2g}); "
        f"depth {deep.mean():.2f} against {others_deep.mean():.2f}"
    )
    return _guard(result, Finding.tested(WHERE_TO, claim, test, seen, sign=-1), -1)


def _evolutions(result: TopicResult) -> Finding:
    """Over evolutions instead of runs: does the best strategy of each beat Best-First?"""
    other = result.trials[0].values["harvest"][BEST_FIRST.name][0].mean()
    mine = np.array([evolved.harvest[0].mean() for evolved in result.evolutions])
    test = paired_test(mine, np.full(len(mine), other))
    shown = ", ".join(f"{value:.3f}" for value in mine)
    claim = f"the best strategy of an evolution has a higher harvest than Best-First at {result.sizes[0]:,} pages"
    seen = f"{len(mine)} evolutions: {shown} against {other:.3f} (p = {test.p:.2g})"
    return _guard(result, Finding.tested(MORE, claim, test, seen), 0)


def _pooled(result: TopicResult, measure: str, size: int) -> tuple[FloatArray, FloatArray]:
    """Values of the best strategy and of Best-First, run by run, from all sets of seeds."""
    names = (result.evolved[0].name, BEST_FIRST.name)
    mine, other = (np.concatenate([trial.values[measure][name][size] for trial in result.trials]) for name in names)
    return mine, other


def _groups(result: TopicResult) -> dict[str, float]:
    weights = result.evolved[0].parts[0]
    return {
        "COMM": weights["COMM_in"] + weights["COMM_out"],
        "PARENT": sum(weight for score, weight in weights.items() if score.startswith("PARENT")),
        "HUB + AUTHORITY": weights["HUB"] + weights["AUTHORITY"],
    }


def _community(result: TopicResult) -> Finding:
    groups = _groups(result)
    base = result.trials[0].values["harvest"][result.evolved[0].name][0].mean()
    lost = {name: float(base - values[0].mean()) for name, values in result.ablation.items()}
    worst = max(lost, key=lambda name: lost[name])
    shown = ", ".join(f"{name} {weight:.2f}" for name, weight in groups.items())
    return Finding(
        "Which scores weigh most?",
        "the community scores weigh most (Table 1: COMM .51, PARENT .44, HUB and AUTHORITY .05)",
        "yes" if max(groups, key=lambda name: groups[name]) == "COMM" else "no",
        f"weights: {shown}; the harvest falls most {worst} (by {lost[worst]:.3f})",
    )


def _other_scores(result: TopicResult) -> Finding:
    weights = result.evolved[0].parts[0]
    heavy = sorted(weights, key=lambda score: -weights[score])[:3]
    shown = ", ".join(f"{score} {weights[score]:.2f}" for score in heavy)
    expected = {"COMM_in", "COMM_out", "PARENT_1"}
    both = len(expected & set(heavy))
    return Finding(
        "Which scores weigh most?",
        "the three heaviest scores are COMM_out, PARENT_1 and COMM_in (Table 1)",
        "yes" if both == 3 else "in part" if both else "no",
        f"{shown} in the best strategy",
    )
