"""Which of the findings of Santos et al. 2014 hold here, each with its test."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy import special

from recrawl.columns import FloatArray
from recrawl.evaluate.measures.measure import Measure
from recrawl.evaluate.statistics import EquivalenceTest, PairedTest, cycle_score, equivalence_test, paired_test
from recrawl.evolve.candidates import SELECTIONS
from recrawl.papers.base import Finding, Verdict, verdict_of
from recrawl.papers.gp4c.gp4c_protocol import FITNESS, MEASURES, PAPERS_CG, Gp4cExperiment, Variant
from recrawl.papers.gp4c.gp4c_published import CORRELATIONS, NEW_PAGES

PAPERS_BASELINES = ("rand", "age", "nad", "sad", "aad", "gad", PAPERS_CG)
TOTAL, CHOICE, CYCLES, FITNESS_QUESTION = (
    "Do evolved formulas beat the estimators?",
    "Does the choice of the formula matter?",
    "Cycle by cycle",
    "Is NDCG the better fitness function?",
)
FORMULAS = "What do the formulas read?"
ESTIMATORS = {"CG", "NAD", "SAD", "AAD", "GAD"}
CG_GAIN = {"ChangeRate": "7.4", "NDCG": "5.8"}
SETTLED = 6  # "after the 6th cycle, our solution remains the best one"
FEW = 2  # cycles in which the ways to choose may differ: "tied for almost all days"
TIED = 0.01  # of the rival's value: nearer is tied; a gain of 1.3% is the paper's smallest
NEAR_SHARE = 0.10  # of the visits: nearer to the paper's 40% of new pages is about as many


def against(experiment: Gp4cExperiment, method: str | Variant, rival: str | Variant, measure: Measure) -> PairedTest:
    """Test a method against a rival, fold by fold."""
    means = [experiment.values(m, measure).mean(axis=1) for m in (method, rival)]
    return paired_test(means[0], means[1])


def beside(a: FloatArray, b: FloatArray, *, below: bool = True, above: bool = True) -> EquivalenceTest:
    """Test that a is not further below, or above, b than TIED of b's mean."""
    margin = TIED * float(b.mean())
    return equivalence_test(a, b, -margin if below else -math.inf, margin if above else math.inf)


def findings(experiment: Gp4cExperiment) -> list[Finding]:
    """Check every claim of section 5.3; a run that is too small judges none."""
    found = [*_totals(experiment), *_formulas(experiment), *_choices(experiment)]
    found += [*_by_cycle(experiment), *_fitness(experiment)]
    return [replace(f, verdict="too small to judge") for f in found] if experiment.too_small() else found


def _totals(experiment: Gp4cExperiment) -> list[Finding]:
    found = []
    for measure in MEASURES:
        variants = {t: experiment.for_measure(t, measure) for t in experiment.protocol.terminals}
        if {"basic", "all"} <= set(variants):
            test = against(experiment, variants["all"], variants["basic"], measure)
            claim = f"GP4C All has a higher {measure.spec} than GP4C Basic"
            found.append(Finding.tested(TOTAL, claim, test, _seen(test)))
        if "basic" in variants:
            claim = f"GP4C Basic beats every baseline but NAD in {measure.spec}"
            others = [name for name in PAPERS_BASELINES if name != "nad"]
            found.append(_beats_all(experiment, variants["basic"], others, measure, claim))
            means = [experiment.values(m, measure).mean(axis=1) for m in (variants["basic"], "nad")]
            test, claim = paired_test(*means), f"GP4C Basic and NAD are tied in {measure.spec} (within {TIED:.0%})"
            found.append(Finding.alike(TOTAL, claim, beside(*means), _seen(test)))
            test = against(experiment, variants["basic"], PAPERS_CG, measure)
            claim = f"GP4C Basic beats CG, which reads the same terminals, in {measure.spec} ({CG_GAIN[measure.spec]}%)"
            found.append(Finding.tested(TOTAL, claim, test, _gain(experiment, test, PAPERS_CG, measure) + _seen(test)))
        if "all" in variants:
            test = against(experiment, variants["all"], "nad", measure)
            claim = f"GP4C All beats NAD in {measure.spec} ({'1.3' if measure == MEASURES[0] else '1.8'}%)"
            found.append(Finding.tested(TOTAL, claim, test, _gain(experiment, test, "nad", measure) + _seen(test)))
        found.append(_best_baseline(experiment, measure))
    most = [name for name in PAPERS_BASELINES if name not in ("nad", "tx")]
    claim = "t * X has a higher ChangeRate than most baselines"
    return [*found, _beats_all(experiment, "tx", most, MEASURES[0], claim, most=True)]


def _beats_all(
    experiment: Gp4cExperiment,
    method: str | Variant,
    rivals: Sequence[str],
    measure: Measure,
    claim: str,
    *,
    most: bool = False,
) -> Finding:
    tests = {name: against(experiment, method, name, measure) for name in rivals}
    won = [name for name, test in tests.items() if test.significant and test.difference > 0]
    lost = [name for name, test in tests.items() if test.significant and test.difference < 0]
    enough = most and len(won) > len(rivals) / 2
    verdict: Verdict = "yes" if enough else verdict_of(len(won), len(lost), len(rivals))
    shown = ", ".join(f"{name} {test.difference:+.4f} (p = {test.p:.2g})" for name, test in tests.items())
    return Finding(TOTAL, claim, verdict, f"{len(won)} of {len(rivals)}: {shown}")


def _gain(experiment: Gp4cExperiment, test: PairedTest, rival: str, measure: Measure) -> str:
    base = experiment.summary(rival, measure).mean
    return f"{100 * test.difference / base:+.2f}%, " if base else ""


def _best_baseline(experiment: Gp4cExperiment, measure: Measure) -> Finding:
    means = {name: experiment.summary(name, measure).mean for name in PAPERS_BASELINES}
    order = sorted(means, key=lambda name: -means[name])
    rival = next(name for name in order if name != "nad")
    test = against(experiment, "nad", rival, measure)
    claim = f"NAD is the best baseline in {measure.spec}, CG and AAD follow"
    return Finding.tested("Which estimator is best?", claim, test, f"{' > '.join(order)}; NAD to {rival} {_seen(test)}")


def _formulas(experiment: Gp4cExperiment) -> list[Finding]:
    """Table 4: what the chosen formulas read."""
    found = []
    for terminals in experiment.protocol.terminals:
        chosen = [c.formula for f in experiment.protocol.fitness for c in experiment.chosen(Variant(terminals, f))]
        read = [set(formula.terminals) for formula in chosen]
        if terminals == "basic":
            uses = {name: sum(name in names for names in read) for name in ("t", "X", "n")}
            claim = "the best formulas of GP4C Basic read t and X, few of them n (10, 10 and 3 of 10 in Table 4)"
            holds = min(uses["t"], uses["X"]) > len(read) / 2 and uses["n"] < min(uses["t"], uses["X"])
            seen = ", ".join(f"{name} in {count}" for name, count in uses.items())
        elif terminals == "all":
            several = sum(len(names & ESTIMATORS) > 1 for names in read)
            claim = "most of the best formulas of GP4C All combine several estimators (6 of 10 in Table 4)"
            holds, seen = several > len(read) / 2, f"{several}"
        else:
            continue
        found.append(Finding(FORMULAS, claim, "yes" if holds else "no", f"{seen} of {len(read)}"))
    return found


def _choices(experiment: Gp4cExperiment) -> list[Finding]:
    found = []
    for measure in MEASURES:
        variant = experiment.for_measure(experiment.protocol.terminals[-1], measure)
        best = experiment.values(variant, measure, "best")
        others = {name: experiment.values(variant, measure, name) for name in SELECTIONS[1:]}
        claim = f"best, sum and avg are tied in {measure.spec} in almost all cycles (within {TIED:.0%})"
        found.append(tied(claim, best, others))
    for measure in MEASURES:
        variant = experiment.for_measure(experiment.protocol.terminals[-1], measure)
        apart, folds = stability(experiment, variant, measure)
        claim = f"test results are within 1% of training and validation, folds within 3% ({measure.spec})"
        verdict: Verdict = "yes" if apart < 1 and folds < 3 else "in part" if apart < 1 or folds < 3 else "no"
        verdict = "too small to judge" if math.isnan(apart) else verdict
        found.append(Finding(CHOICE, claim, verdict, f"at most {apart:.1f}% apart; folds at most {folds:.1f}%"))
    return found


def tied(claim: str, best: FloatArray, others: Mapping[str, FloatArray]) -> Finding:
    """Judge by the cycles in which best (folds x cycles) is shown to be as good as each other choice, or is not."""
    cycles = best.shape[1]
    tests = {name: [beside(best[:, at], other[:, at]) for at in range(cycles)] for name, other in others.items()}
    same = {name: sum(test.within for test in each) for name, each in tests.items()}
    apart = {name: sum(test.apart for test in each) for name, each in tests.items()}
    verdict: Verdict = "too small to judge"
    if cycles > FEW and min(same.values()) >= cycles - FEW:
        verdict = "yes"
    elif max(apart.values()) > FEW:
        verdict = "no"
    scores = {name: cycle_score(best, other) for name, other in others.items()}
    shown = ", ".join(
        f"{name} within {TIED:.0%} in {same[name]}, {score.victories} won and {score.losses} lost by best"
        for name, score in scores.items()
    )
    return Finding(CHOICE, claim, verdict, f"of {cycles}: {shown}")


def stability(experiment: Gp4cExperiment, variant: Variant, measure: Measure) -> tuple[float, float]:
    """Greatest difference in % of a fold's test from its training or validation, and between two folds' tests."""
    test = experiment.values(variant, measure).mean(axis=1)
    chosen = experiment.chosen(variant)
    known = np.array([[c.train, c.validation] for c in chosen])
    apart = np.abs(test[:, None] / np.where(known > 0, known, np.nan) - 1)
    known_apart = apart[~np.isnan(apart)]  # NaN where nothing was found in training or validation
    most = float(known_apart.max()) if len(known_apart) else math.nan
    return 100 * most, 100 * float(test.max() / max(test.min(), 1e-12) - 1)


def _by_cycle(experiment: Gp4cExperiment) -> list[Finding]:
    found = []
    for measure in MEASURES:
        variant = experiment.for_measure(experiment.protocol.terminals[-1], measure)
        rivals = [experiment.values(rival, measure)[:, SETTLED:] for rival in ("nad", "aad", "gad", PAPERS_CG)]
        claim = f"after the 6th cycle GP4C All never loses to an estimator ({measure.spec}; by {TIED:.0%} or more)"
        found.append(never_behind(claim, experiment.values(variant, measure)[:, SETTLED:], rivals))
    for measure in MEASURES:
        variant = experiment.for_measure(experiment.protocol.terminals[-1], measure)
        r, p = correlation(experiment, variant, measure)
        claim = f"{measure.spec} rises with the pages that change in a cycle (r = {CORRELATIONS[measure.spec]:+.2f})"
        known: Verdict = "yes" if r > 0 else "no"
        later, _ = correlation(experiment, variant, measure, skip=2)
        others = [correlation(experiment, name, measure)[0] for name in ("nad", "sad", "aad", "gad", PAPERS_CG)]
        seen = f"r = {r:+.2f} (p = {p:.2g}); without the first two judged cycles {later:+.2f}; "
        seen += f"of the estimators {min(others):+.2f} to {max(others):+.2f} (the paper: similar)"
        found.append(Finding(CYCLES, claim, known if p < 0.05 else "too small to judge", seen))
    for fitness in FITNESS:
        variant = Variant(experiment.protocol.terminals[-1], fitness)
        shares = np.array([fold.new_picks[variant][1:].mean() for fold in experiment.folds])
        other = float(np.mean([fold.other_picks[variant][1:] for fold in experiment.folds]))
        claim = f"about {100 * NEW_PAGES:.0f}% of the visits after the first cycle go to new pages (bred for {fitness})"
        near = equivalence_test(shares, np.full(len(shares), NEW_PAGES), -NEAR_SHARE, NEAR_SHARE)
        seen = f"{100 * shares.mean():.0f}%; to pages not visited in the cycle before {100 * other:.0f}%"
        found.append(Finding.alike(CYCLES, claim, near, seen))
    return found


def never_behind(claim: str, ours: FloatArray, rivals: Sequence[FloatArray]) -> Finding:
    """Judge by cycles (values are folds x cycles): yes if in each it is shown not to be behind, no if it is in one."""
    cycles = ours.shape[1]
    tests = [beside(ours[:, at], rival[:, at], above=False) for rival in rivals for at in range(cycles)]
    safe, behind = sum(test.within for test in tests), sum(test.apart for test in tests)
    known: Verdict = "no" if behind else "yes" if tests and safe == len(tests) else "too small to judge"
    losses = sum(cycle_score(ours, rival).losses for rival in rivals) if cycles else 0
    seen = f"{losses} losses in {cycles} cycles against four estimators, {behind} of {TIED:.0%} or more; shown not "
    return Finding(CYCLES, claim, known, f"{seen}to be so far behind in {safe} of {len(tests)}")


def _fitness(experiment: Gp4cExperiment) -> list[Finding]:
    found = []
    terminals = experiment.protocol.terminals[-1]
    for at, measure in enumerate(MEASURES):
        ours = [[fold.interrupted[Variant(terminals, f)][at, :-1].mean() for fold in experiment.folds] for f in FITNESS]
        test = paired_test(np.array(ours[1]), np.array(ours[0]))
        base = float(np.mean(ours[0]))
        claim = f"bred for NDCG, interrupted schedules have a higher {measure.spec} (up to 2%)"
        gain = f"{100 * test.difference / base:+.2f}%, " if base else ""
        found.append(Finding.tested(FITNESS_QUESTION, claim, test, gain + _seen(test)))
    return found


def correlation(
    experiment: Gp4cExperiment, method: str | Variant, measure: Measure, skip: int = 0
) -> tuple[float, float]:
    """Pearson's correlation over the cycles of the pages that change with the measure, and its p-value."""
    changed = np.stack([fold.changed for fold in experiment.folds]).mean(axis=0)[skip:]
    return _pearson(changed, experiment.values(method, measure).mean(axis=0)[skip:])


def _pearson(a: FloatArray, b: FloatArray) -> tuple[float, float]:
    if len(a) < 3 or a.std() == 0 or b.std() == 0:
        return math.nan, math.nan
    r = float(np.corrcoef(a, b)[0, 1])
    t = abs(r) * math.sqrt((len(a) - 2) / max(1 - r * r, 1e-12))
    return r, float(2 * special.stdtr(len(a) - 2, -t))


def _seen(test: PairedTest) -> str:
    return f"{test.difference:+.4f} (p = {test.p:.2g})"
