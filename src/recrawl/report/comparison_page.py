"""The comparison as files: results.json, figures and one self-contained page."""

from __future__ import annotations

import math
from dataclasses import replace

from recrawl.evaluate.compare import ORACLE, REFERENCE, Comparison, Versus
from recrawl.evaluate.measures.measure import Measure
from recrawl.report import comparison_table as tables
from recrawl.report.layout import Card, Page, Picture, Section, Table
from recrawl.report.plots import pictures
from recrawl.report.results import Selection, to_json
from recrawl.report.style import Drawing

TITLES = {"overview": "At a glance", "cycles": "Over time", "budgets": "By budget"}


def report_files(comparison: Comparison, selection: Selection) -> dict[str, bytes]:
    """Return every file of a report by name: results.json, the plots and report.html."""
    drawn = pictures(comparison)
    out = {"results.json": to_json(comparison, selection).encode()}
    for name, drawing in drawn.items():
        out |= drawing.files(name)
    out["report.html"] = page(comparison, selection, drawn).html().encode()
    return out


def page(comparison: Comparison, selection: Selection, drawn: dict[str, Drawing]) -> Page:
    """Lay out the page."""
    caption = {
        "overview": f"Every policy: {_spread(comparison)}. A ring marks the best; the dashed line is the oracle.",
        "cycles": "Cycle by cycle. The best policies have a name; thin grey lines are the others.",
        "budgets": "What more budget buys.",
    }
    figures = [
        Section(TITLES[name], pictures=[Picture(name, drawing, caption[name])]) for name, drawing in drawn.items()
    ]
    contests = contest_tables(comparison)
    return Page(
        title=f"Which pages next? {len(comparison.policies)} policies on {selection.title}",
        intro=[_crawled(comparison, selection), *seen_in(comparison), *(f"Note: {note}." for note in selection.notes)],
        cards=cards(comparison),
        sections=[
            Section("Results", tables=[replace(tables.results_table(comparison), note=_words(comparison))]),
            *figures,
            *([Section("Wins cycle by cycle", tables=contests)] if contests else []),
            Section("What is measured", tables=[_measures(comparison)]),
        ],
        command=selection.command or "recrawl compare",
    )


def _crawled(comparison: Comparison, selection: Selection) -> str:
    plan = comparison.plan
    slices = f" ({', '.join(selection.slices)})" if selection.slices else ""
    budget = f"{plan.budget:,} visits" if isinstance(plan.budget, int) else f"{plan.budget * 100:g}% of the pages"
    cap = f", at most {plan.site_cap} visits per site" if plan.site_cap else ""
    runs = f"{_many(comparison.folds, 'fold')} × {_many(comparison.repeats, 'seed')}"
    return (
        f"{selection.pages:,} pages of {_many(selection.sites, 'site')}{slices} with {selection.changes:,} changes "
        f"from day {selection.start_day:g} to {selection.end_day:g}. {_many(len(comparison.cycles), 'cycle')} of "
        f"{plan.cycle_days:g} day{'s' if plan.cycle_days != 1 else ''} after a warm-up of {plan.warmup}; {budget} per "
        f"cycle{cap}. {_many(_runs(comparison), 'run')}: {runs}."
    )


def seen_in(comparison: Comparison) -> list[str]:
    """Say in a sentence what is seen under the first measure, and what is too little to judge."""
    first = comparison.measures[0]
    best = comparison.best(first)
    others = [name for name in comparison.ranking(first) if name != best and comparison.competes(name, first)]
    if best is None or not others:
        return []
    if _runs(comparison) == 1:
        chance = (
            "A single run cannot tell a small difference from chance: --folds and --repeats give intervals and tests."
        )
        return [f"Under {first.spec}, {best} comes first and {others[0]} second. {chance}"]
    close = [name for name in others if not comparison.versus(best, name, first).test.significant]
    test = f"a paired t-test over {_runs(comparison)} runs"
    rest = f"{test} cannot tell it from {', '.join(close)}" if close else f"{test} tells it from all others"
    return [f"Under {first.spec}, {best} comes first; {rest}."]


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' if count != 1 else ''}"


def _runs(comparison: Comparison) -> int:
    return comparison.folds * comparison.repeats


def _spread(comparison: Comparison) -> str:
    """Name what is shown of the runs: one run has no interval."""
    runs = _runs(comparison)
    return f"mean and 95% interval of {runs} runs" if runs > 1 else "its value in a single run"


def _words(comparison: Comparison) -> str:
    words = ["Best in colour; a longer bar is better; ↓ lower is better."]
    words += ["± is the 95% t-interval over the runs, * a paired t-test significant at 95%."] * (_runs(comparison) > 1)
    return " ".join(
        words
        + [tables.SPENT_WORD] * tables.thrifty(comparison)
        + [tables.ORACLE_WORD] * (ORACLE in comparison.policies)
    )


def cards(comparison: Comparison) -> list[Card]:
    """Return the headline numbers: (label, number, a word about it)."""
    first = comparison.measures[0]
    best = comparison.best(first)
    if best is None:
        return []
    value = comparison.summary(best, first)
    digits = tables.decimals([value.mean])
    shown = f"{value.mean:.{digits}f}"
    if value.half > 0:
        shown += f" ± {value.half:.{digits}f}"
    found = [(f"best {first.spec}", best, f"{shown}{' ' + first.unit if first.unit else ''}")]
    share = comparison.of_oracle(best, first)
    if not math.isnan(share):
        found.append(
            ("of the oracle", tables.percent(share), f"the clairvoyant bound is {_mean(comparison, ORACLE, first)}")
        )
    if best != REFERENCE and REFERENCE in comparison.policies:
        gain = tables.versus_reference(comparison, best, first)
        found.append((f"against {REFERENCE}", gain.rstrip("*") or "–", _surely(comparison, best, first)))
    for measure in comparison.measures[1:]:
        leader = comparison.best(measure)
        if leader is not None and len(found) < 4:
            found.append((f"best {measure.spec}", leader, _mean(comparison, leader, measure)))
    return found


def _surely(comparison: Comparison, policy: str, measure: Measure) -> str:
    versus = comparison.versus(policy, REFERENCE, measure)
    base = f"{REFERENCE} has {_mean(comparison, REFERENCE, measure)}"
    if math.isnan(versus.test.p):
        return f"{base}; ahead in {versus.cycles.ahead} of {versus.cycles.cycles} cycles"
    return f"{base}; {'significant' if versus.test.significant else 'not significant'} at 95%"


def _mean(comparison: Comparison, policy: str, measure: Measure) -> str:
    mean = comparison.summary(policy, measure).mean
    return f"{mean:.{tables.decimals([mean])}f}{' ' + measure.unit if measure.unit else ''}"


def contest_tables(comparison: Comparison) -> list[Table]:
    """Victories and losses of every policy against the best and the reference, under the first two measures."""
    several = _runs(comparison) > 1
    count = "victories / losses" if several else "cycles ahead / behind"
    note = (
        "A victory is a cycle in which a paired t-test over the runs is significant at 95%."
        if several
        else "With a single run there is no test: cycles are counted by which value is better."
    )
    found = []
    for measure in comparison.measures[:2]:
        best = comparison.best(measure)
        others = [other for other in dict.fromkeys((best, REFERENCE)) if other in comparison.policies]
        table = [
            [policy, *(text for other in others for text in _contest(comparison, policy, other, measure, several))]
            for policy in comparison.ranking(measure)
            if comparison.competes(policy, measure) and others != [policy]
        ]
        if table:
            p = ["p"] if several else []
            heads = [head for other in others for head in (f"difference to {other}", *p, count)]
            found.append(Table([measure.spec, *heads], table, note))
    return found


def _contest(comparison: Comparison, policy: str, other: str | None, measure: Measure, several: bool) -> list[str]:
    if other is None or policy == other:
        return [""] * (3 if several else 2)
    versus: Versus = comparison.versus(policy, other, measure)
    cycles, p = versus.cycles, versus.test.p
    difference = f"{versus.test.difference:+.4f}"
    if not several:
        return [difference, f"{cycles.ahead} / {cycles.behind} of {cycles.cycles}"]
    shown = "–" if math.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"
    return [difference, shown, f"{cycles.victories} / {cycles.losses} of {cycles.cycles}"]


def _measures(comparison: Comparison) -> Table:
    table = [
        [m.spec, m.description, m.better, "ratio of sums over the cycles" if m.pooled else "mean of the cycles"]
        for m in comparison.measures
    ]
    note = (
        "A cycle's visits happen at its end. A policy sees only what its own visits showed; equal scores are ordered "
        f"by one seeded tie-break for all policies. New pages become known by {comparison.plan.discover}; importance "
        f"is {comparison.plan.importance}."
    )
    return Table(("measure", "meaning", "better", "over time"), table, note, prose=True)
