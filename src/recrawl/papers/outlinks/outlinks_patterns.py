"""What Dang et al. 2022 say of new links before and beside any model (sections 4 and 6.1), and whether it holds here.

Shares and correlations are of all pages, so they are compared as they are; where there are several weeks or draws, a
paired t-test over them decides. Fig 8's published correlations stand beside ours.
"""

from __future__ import annotations

import numpy as np

from recrawl.evaluate.statistics import mean_of, paired_test
from recrawl.papers.base import Finding, Verdict
from recrawl.papers.outlinks.outlinks_published import CORRELATIONS
from recrawl.papers.outlinks.outlinks_run import OutlinksExperiment
from recrawl.report.layout import Table

PATTERN, NETWORK = "What are new links like?", "What goes together?"
NONE_IN_A_WEEK = {"internal": "68 to 75%", "external": "91 to 94%"}  # of the paper's pages
NEVER = {"internal": "just under half", "external": "nearly all"}
TOGETHER = 0.3  # Spearman's rho from which two features go together


def patterns(experiment: OutlinksExperiment, where: str) -> list[Finding]:
    """Say whether pages keep to their group, mostly have no new links, and whether few have very many."""
    statistics = experiment.statistics
    flows, at = statistics.flows[where], ("internal", "external").index(where)
    found = []
    if len(flows):
        stay = np.trace(flows.sum(axis=0)) / max(flows.sum(), 1)
        busy = flows[:, 1:].sum()
        kept = np.trace(flows.sum(axis=0)[1:, 1:]) / max(busy, 1)
        seen = f"{stay:.1%} stay, of those with new links {kept:.1%}"
        found.append(_so("most pages stay in their group from week to week (Fig 3)", stay > 0.5, seen))
    none = 1.0 - statistics.gaining[at]
    found.append(
        _so(
            f"most pages have no new {where} links in a week (Fig 3; the paper: {NONE_IN_A_WEEK[where]})",
            none.min() > 0.5,
            f"{none.min():.1%} to {none.max():.1%} have none",
        )
    )
    rates = statistics.rates[where]
    seen = f"{rates[0] / max(rates.sum(), 1):.1%} never gain one, {rates[-1] / max(rates.sum(), 1):.1%} every week"
    claim = f"the commonest link change rate is 0 (Fig 4; the paper: {NEVER[where]} of the pages)"
    found.append(_so(claim, int(np.argmax(rates)) == 0, seen))
    mean, deviation = statistics.mean[1 + at], statistics.deviation[1 + at]
    ratio = deviation[mean > 0] / mean[mean > 0]
    if len(ratio):
        claim = "the number of new links has a heavy tail: its deviation is several times its mean (Table 2, Fig 5)"
        found.append(_so(claim, float(ratio.min()) > 2, f"{ratio.min():.1f} to {ratio.max():.1f} times"))
    if statistics.gaining[at].any():
        return found
    return [Finding(f.question, f.claim, "too small to judge", f"no page gains an {where} link") for f in found]


def general(experiment: OutlinksExperiment) -> list[Finding]:
    """Compare internal with external links, and say which static features go together."""
    statistics = experiment.statistics
    weeks = paired_test(statistics.mean[1], statistics.mean[2])
    seen = f"{statistics.mean[1].mean():.3f} and {statistics.mean[2].mean():.3f} per page and week, p = {weeks.p:.2g}"
    found = [Finding.tested(PATTERN, "new internal links outnumber new external ones (Table 2)", weeks, seen)]
    accuracy = {
        where: {score.name: np.array(score.repeats["accuracy (b)"]) for score in scores}
        for where, scores in experiment.history.items()
    }
    last = f"history {max(experiment.ground.protocol.histories)}"
    if last in accuracy["internal"]:
        inside, outside = accuracy["internal"][last], accuracy["external"][last]
        test = paired_test(inside, outside)
        seen = f"balanced accuracy {mean_of(inside):.3f} and {mean_of(outside):.3f}, p = {test.p:.2g}"
        found.append(Finding.tested(PATTERN, "external links are harder to predict (Figs 12, 14)", test, seen))
        if "history 0" in accuracy["internal"]:
            inside, outside = inside - accuracy["internal"]["history 0"], outside - accuracy["external"]["history 0"]
            test = paired_test(outside, inside)
            seen = f"history adds {mean_of(outside):.3f} for external, {mean_of(inside):.3f} for internal links"
            claim = "history matters more for external links (Fig 12)"
            found.append(Finding.tested(PATTERN, claim, test, f"{seen}, p = {test.p:.2g}"))
    return [*found, *_together(experiment)]


def _so(claim: str, holds: bool, seen: str) -> Finding:
    return Finding(PATTERN, claim, "yes" if holds else "no", seen)


def _rho(experiment: OutlinksExperiment, one: str, other: str) -> float:
    names, rho = experiment.correlations
    return float(rho[names.index(one), names.index(other)]) if one in names and other in names else float("nan")


def _together(experiment: OutlinksExperiment) -> list[Finding]:
    """The diagonal of Fig 8, 'look around': a page's features are like those of its related pages."""
    names = [name for name in experiment.correlations[0] if f"related: {name}" in experiment.correlations[0]]
    known = {name: _rho(experiment, name, f"related: {name}") for name in names}
    known = {name: value for name, value in known.items() if not np.isnan(value)}
    claim = "static features are like those of related pages (Fig 8; text quality .79)"
    around = Finding(NETWORK, claim, "too small to judge", "no page has related pages")
    if known:
        near = sum(value >= TOGETHER for value in known.values())
        verdict: Verdict = "yes" if near == len(known) else "in part" if near else "no"
        seen = f"rho is {TOGETHER} or more for {near} of {len(known)}: " + ", ".join(
            f"{name} {value:.2f}" for name, value in known.items()
        )
        around = Finding(NETWORK, claim, verdict, seen)
    ranks = _rho(experiment, "PageRank", "TrustRank")
    claim = "PageRank and TrustRank go together (Fig 8; .79)"
    if np.isnan(ranks):
        return [around, Finding(NETWORK, claim, "too small to judge", "no links are recorded")]
    return [around, Finding(NETWORK, claim, "yes" if ranks >= 0.5 else "no", f"rho {ranks:.2f}")]


def correlations_table(experiment: OutlinksExperiment) -> Table:
    """The correlations of Fig 8 that the paper names, beside ours."""
    rows = []
    for (one, other), paper in CORRELATIONS.items():
        ours = _rho(experiment, one, other)
        rows.append([f"{one}, {other}", "–" if np.isnan(ours) else f"{ours:.2f}", f"{paper:.2f}"])
    note = "Spearman's rho of static features at the crawl before the predicted week; all others are in results.json."
    return Table(["features", "rho", "the paper"], rows, note)
