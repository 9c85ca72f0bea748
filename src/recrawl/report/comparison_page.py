"""The comparison as files: results.json, figures and one self-contained page."""

from __future__ import annotations

import math

from recrawl.evaluate.compare import ORACLE, REFERENCE, Comparison, Versus
from recrawl.evaluate.measures.measure import Measure
from recrawl.report.comparison_table import (
    ORACLE_WORD,
    SPENT_WORD,
    comparable,
    decimals,
    heading,
    joined,
    percent,
    rows,
    thrifty,
    versus_reference,
)
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
        intro=[_crawled(comparison, selection), *(f"Note: {note}." for note in selection.notes)],
        cards=cards(comparison),
        sections=[
            Section("Results", tables=[results_table(comparison)]),
            *figures,
            *([Section("Cycle by cycle, who wins", tables=contests)] if contests else []),
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


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' if count != 1 else ''}"


def _runs(comparison: Comparison) -> int:
    return comparison.folds * comparison.repeats


def _spread(comparison: Comparison) -> str:
    """Name what is shown of the runs: one run has no interval."""
    runs = _runs(comparison)
    return f"mean and 95% interval of {runs} runs" if runs > 1 else "its value in a single run"


def results_table(comparison: Comparison) -> Table:
    """All policies under all measures, with a bar behind each number."""
    first, found, length = comparison.measures[0], rows(comparison), bars(comparison)
    with_oracle = ORACLE in comparison.policies and first.better == "higher"
    extra = ["of oracle"] * with_oracle + [f"vs {REFERENCE}"] * (REFERENCE in comparison.policies)
    lead = ["policy", *(["spent"] if thrifty(comparison) else [])]
    columns = [len(lead) + i + (len(extra) if i else 0) for i in range(len(comparison.measures))]
    heads = [heading(measure) for measure in comparison.measures]
    table: list[list[str]] = []
    best: set[tuple[int, int]] = set()
    bar: dict[tuple[int, int], float] = {}
    for r, row in enumerate(found):
        more = [row.of_oracle] * with_oracle + [row.versus] * (REFERENCE in comparison.policies)
        cells = [joined(cell) for cell in row.cells]
        table.append([*(row.policy, row.spent)[: len(lead)], cells[0], *more, *cells[1:]])
        best |= {(r, c) for c, cell in zip(columns, row.cells, strict=True) if cell.best}
        bar |= {(r, c): length[row.policy][i] for i, c in enumerate(columns)}
    words = ["Best in colour; a longer bar is better; ↓ lower is better."]
    words += ["± is the 95% t-interval over the runs, * a paired t-test significant at 95%."] * (_runs(comparison) > 1)
    words += [SPENT_WORD] * thrifty(comparison) + [ORACLE_WORD] * (ORACLE in comparison.policies)
    bounds = frozenset(r for r, row in enumerate(found) if row.clairvoyant)
    return Table([*lead, heads[0], *extra, *heads[1:]], table, " ".join(words), frozenset(best), bars=bar,
                 bounds=bounds)  # fmt: skip


def cards(comparison: Comparison) -> list[Card]:
    """Return the headline numbers: (label, number, a word about it)."""
    first = comparison.measures[0]
    best = comparison.best(first)
    if best is None:
        return []
    value = comparison.summary(best, first)
    digits = decimals([value.mean])
    shown = f"{value.mean:.{digits}f}"
    if value.half > 0:
        shown += f" ± {value.half:.{digits}f}"
    found = [(f"best {first.spec}", best, f"{shown}{' ' + first.unit if first.unit else ''}")]
    share = comparison.of_oracle(best, first)
    if not math.isnan(share):
        found.append(("of the oracle", percent(share), f"the clairvoyant bound is {_mean(comparison, ORACLE, first)}"))
    if best != REFERENCE and REFERENCE in comparison.policies:
        gain = versus_reference(comparison, best, first)
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
    return f"{mean:.{decimals([mean])}f}{' ' + measure.unit if measure.unit else ''}"


def bars(comparison: Comparison) -> dict[str, list[float]]:
    """Return for every policy and measure the length of the bar behind the number, in percent: longer is better."""
    lengths: dict[str, list[float]] = {policy: [] for policy in comparison.policies}
    for measure in comparison.measures:
        means = {
            policy: comparison.summary(policy, measure).mean if comparable(comparison, policy, measure) else math.nan
            for policy in comparison.policies
        }
        known = [mean for mean in means.values() if mean > 0]
        for policy, mean in means.items():
            share = (mean / max(known) if measure.better == "higher" else min(known) / mean) if mean > 0 else 0.0
            lengths[policy].append(round(100 * share, 1))
    return lengths


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
