"""What Figs 6 and 7 of Radinsky & Bennett 2013 show, judged by paired t-tests over the pages."""

from __future__ import annotations

from collections.abc import Sequence

from recrawl.columns import FloatArray
from recrawl.evaluate.statistics import equivalence_test, interval, paired_test
from recrawl.papers.base import Finding, verdict_of
from recrawl.papers.experts.experts_trials import DRAW, MULTIPLE, OWN, TrialOutcome

SIZE, COUNT = "How much history is needed?", "How many experts?"
FLAT = 2.0  # points of accuracy between training sizes that count as almost constant
PEAK = 20  # experts, from which on the paper sees no gain


def by_size(outcome: TrialOutcome) -> list[Finding]:
    """Fig 6: the order of the methods at every training size, and how little the size matters."""
    if not outcome.sizes:
        return []
    sizes = list(outcome.sizes.values())
    return [
        _everywhere("3D beats 2D at all training sizes (Fig 6)", [(v[MULTIPLE], v[OWN]) for v in sizes]),
        _everywhere("2D beats the 1D draw at all training sizes (Fig 6)", [(v[OWN], v[DRAW]) for v in sizes]),
        _flat(outcome),
    ]


def _flat(outcome: TrialOutcome) -> Finding:
    """The size that is best in the mean against the worst one: all others lie between them."""
    sizes = [100 * values[MULTIPLE] for values in outcome.sizes.values()]
    order = sorted(sizes, key=lambda values: interval(values).mean)
    worst, best = order[0], order[-1]
    seen = f"3D is right {interval(worst).mean:.2f} to {interval(best).mean:.2f}% of the time, from "
    seen += f"{min(outcome.sizes)} steps on"
    claim = f"accuracy hardly depends on the training size (Fig 6; {FLAT:g} points here)"
    if len(sizes) == 1:
        return Finding(SIZE, claim, "too small to judge", "a single training size")
    return Finding.alike(SIZE, claim, equivalence_test(best, worst, -FLAT, FLAT), seen)


def _everywhere(claim: str, pairs: Sequence[tuple[FloatArray, FloatArray]]) -> Finding:
    tests = [paired_test(100 * a, 100 * b) for a, b in pairs]
    better = sum(test.significant and test.difference > 0 for test in tests)
    worse = sum(test.significant and test.difference < 0 for test in tests)
    seen = f"significantly better at {better}, worse at {worse} of {len(tests)} sizes"
    return Finding(SIZE, claim, verdict_of(better, worse, len(tests)), seen)


def by_count(outcome: TrialOutcome) -> list[Finding]:
    """Fig 7: more experts help up to 20, not beyond; some are enough to beat the single one."""
    counts, found = outcome.counts, []
    fewer = [k for k in counts if 1 < k < PEAK]
    more = [k for k in counts if k > PEAK]
    if PEAK in counts and fewer:
        claim = f"{PEAK} experts beat {min(fewer)} (Fig 7)"
        found.append(_more(claim, counts[PEAK], counts[min(fewer)]))
    if PEAK in counts and more:
        found.append(_more(f"{PEAK} experts beat {max(more)} (Fig 7)", counts[PEAK], counts[max(more)]))
    pairs = [(values, outcome.accuracy[OWN]) for k, values in counts.items() if k > 1]
    if pairs:
        made = _everywhere("every number of experts beats the single one (Fig 7)", pairs)
        found.append(Finding(COUNT, made.claim, made.verdict, made.evidence.replace("sizes", "numbers")))
    return found


def _more(claim: str, a: FloatArray, b: FloatArray) -> Finding:
    test = paired_test(100 * a, 100 * b)
    return Finding.tested(COUNT, claim, test, f"{test.difference:+.2f} points, p = {test.p:.2g}")
