"""compare: what each policy would have found on a recorded web, as a table, a frame, plots or a report.

result = compare("web", ["age", "cg", "learned", "oracle"], Plan(cycle_days=7, budget=0.05))
print(result.table())
result.save("report")
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recrawl.errors import InputError
from recrawl.evaluate import compare as evaluation
from recrawl.evaluate.compare import Comparison
from recrawl.evaluate.crawl import clairvoyant
from recrawl.evaluate.measures.all_measures import make_measure, make_measures
from recrawl.evaluate.measures.measure import Measure
from recrawl.extras import extras_named
from recrawl.plan import Plan
from recrawl.progress import Advance, silent
from recrawl.recording.recording import Recording
from recrawl.registry import split_specs
from recrawl.report.comparison_defaults import CURVE, FILES, MEASURES, PLOTS, POLICIES
from recrawl.report.result_folder import check_folder, write_folder
from recrawl.report.results import Selection, results, to_json

if TYPE_CHECKING:
    from rich.console import Console

WIDE = 10_000  # characters: text that is not for a terminal is never wrapped


@dataclass(frozen=True)
class ComparisonPlot:
    """One picture of a comparison; a notebook shows it."""

    png: bytes
    svg: bytes

    def _repr_svg_(self) -> str:
        return self.svg.decode()

    def save(self, path: str | Path) -> None:
        """Write it as PNG or SVG, by the ending of the name."""
        Path(path).write_bytes(self.svg if Path(path).suffix == ".svg" else self.png)


@dataclass(frozen=True, repr=False)
class ComparisonReport:
    """The results of a comparison, for people (table, plots, report) and for programs (dictionary, frame)."""

    comparison: Comparison
    selection: Selection

    def show(self, console: Console | None = None) -> None:
        """Print the table to the terminal, the best of each measure in bold."""
        from rich.text import Text

        from recrawl.report.comparison_table import legend, tables
        from recrawl.report.console import PipeConsole

        console = console or PipeConsole(highlight=False)
        if not console.is_terminal:
            console.width = WIDE
        console.print(Text(self.headline), soft_wrap=True)
        for note in self.notes:
            console.print(Text(f"note: {note}"), soft_wrap=True)
        for part in tables(self.comparison, console.width):
            console.print()
            console.print(part)
        console.print()
        for line in legend(self.comparison):
            console.print(Text(line, style="dim"), soft_wrap=True)

    def table(self) -> str:
        """Return the table as plain text, as `recrawl compare` prints it."""
        from rich.console import Console

        text = io.StringIO()
        self.show(Console(file=text, highlight=False, force_jupyter=False, force_terminal=False))
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines())

    __repr__ = table

    @property
    def headline(self) -> str:
        """What was crawled and how, in one line."""
        comparison, selection = self.comparison, self.selection
        plan, cycles = comparison.plan, len(comparison.cycles)
        visits = " to ".join(f"{v:,}" for v in sorted({min(comparison.visits), max(comparison.visits)}))
        return (
            f"{selection.pages:,} pages of {selection.sites} sites, days {selection.start_day:g} to "
            f"{selection.end_day:g}; {cycles} cycles of {plan.cycle_days:g} d after {plan.warmup} of warm-up, "
            f"{visits} visits per cycle, {comparison.folds} x {comparison.repeats} runs"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the reader: what was left out, and what policies could not do on this web."""
        return (*self.selection.notes, *(f"{name}: {text}" for name, text in self.comparison.notes))

    def to_dict(self) -> dict[str, Any]:
        """Return everything measured as plain values: the content of results.json."""
        return results(self.comparison, self.selection)

    def to_json(self) -> str:
        """Return the text of results.json: the same inputs and seed give the same bytes."""
        return to_json(self.comparison, self.selection)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per policy and measure: mean, 95% interval, share of the oracle."""
        comparison = self.comparison
        return [
            {
                "policy": policy,
                "measure": measure.spec,
                "mean": comparison.summary(policy, measure).mean,
                "ci95": comparison.summary(policy, measure).half,
                "of_oracle": comparison.of_oracle(policy, measure),
                "spent": comparison.spent(policy),
                "better": measure.better,
            }
            for measure in comparison.measures
            for policy in comparison.ranking(measure)
        ]

    def frame(self) -> Any:
        """Return `rows` as a pandas DataFrame, or a polars one where only that is installed."""
        for name in ("pandas", "polars"):
            try:
                return import_module(name).DataFrame(self.rows())
            except ImportError:
                continue
        raise InputError("a frame needs pandas or polars: pip install pandas")

    def plot(self, name: Literal["overview", "cycles", "budgets"] = "overview") -> ComparisonPlot:
        """Return a picture: all policies at a glance, cycle by cycle, or by budget (where budgets were compared)."""
        try:
            return ComparisonPlot(self.files[f"{name}.png"], self.files[f"{name}.svg"])
        except KeyError:
            reason = "compare(..., budgets=[...]) makes it" if name in PLOTS else f"there are {', '.join(PLOTS)}"
            raise InputError(f"no picture {name!r}: {reason}") from None

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write results.json, the plots and report.html to a folder, whole or not at all."""
        check_folder(Path(folder), force=force, may_replace=FILES)
        write_folder(Path(folder), self.files)
        return Path(folder)

    @cached_property
    def files(self) -> dict[str, bytes]:
        """All files of the report by name."""
        with extras_named():
            from recrawl.report.comparison_page import report_files

            return report_files(self.comparison, self.selection)

    def _repr_html_(self) -> str:
        from recrawl.report.comparison_table import heading, rows

        heads = ["policy", *(heading(measure) for measure in self.comparison.measures)]
        lines = [[row.policy, *(f"{c.mean} ±{c.half}" if c.half else c.mean for c in row.cells)]
                 for row in rows(self.comparison)]  # fmt: skip
        marks = [[False, *(cell.best for cell in row.cells)] for row in rows(self.comparison)]
        body = "".join(
            "<tr>" + "".join(f"<td>{'<b>' * best}{escape(cell)}{'</b>' * best}</td>" for cell, best in zip(line, mark,
            strict=True)) + "</tr>" for line, mark in zip(lines, marks, strict=True)
        )  # fmt: skip
        notes = "".join(f"<p>note: {escape(note)}</p>" for note in self.notes)
        head = "".join(f"<th>{escape(text)}</th>" for text in heads)
        return (
            f"<p>{escape(self.headline)}</p>{notes}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )


def compare(
    data: Recording | str | Path,
    policies: str | Sequence[str] = POLICIES,
    plan: Plan | None = None,
    measures: str | Sequence[str | Measure] = MEASURES,
    *,
    folds: int = 1,
    repeats: int = 1,
    budgets: Sequence[float | int] | Literal["curve"] = (),
    jobs: int = 1,
    engine: str = "local",
    slices: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
    command: str = "",
    advance: Advance = silent,
) -> ComparisonReport:
    """Replay a recorded web under every policy and judge what each would have found.

    A policy sees only what its own visits showed; all share one tie-break, and the same seed gives the same results,
    whatever `jobs` and `engine` (`local`, or `dask://HOST:PORT`). Policies are named as on the command line: `cg`,
    `explore(cg, 0.1)`, `gp:best.json`,
    `my_file.py:mine`. `budgets` are further budgets for the budget curves ("curve": 1%, 2%, 5% and 10%). `slices`,
    `notes` and `command` are shown in the report, beside the data.

    >>> import recrawl
    >>> web = recrawl.synthesize("mixed", pages=300, days=12, seed=1)
    >>> result = recrawl.compare(web, ["age", "cg", "oracle"], recrawl.Plan(budget=0.1), "ChangeRate")
    >>> [row["policy"] for row in result.rows()][-1]
    'oracle'
    """
    plan = Plan() if plan is None else plan
    chosen = [name for text in ([policies] if isinstance(policies, str) else policies) for name in split_specs(text)]
    listed = make_measures(measures) if isinstance(measures, str) else [_measure(measure) for measure in measures]
    for policy in chosen:
        clairvoyant(policy)  # raises at once if there is no such policy
    recording = data if isinstance(data, Recording) else Recording.open(data)
    chosen = evaluation.check(recording, chosen, plan, folds=folds, repeats=repeats)
    if budgets == "curve":
        budgets = _curve(recording, plan, folds)
    with extras_named():
        comparison = evaluation.compare(
            recording,
            chosen,
            listed,
            plan,
            folds=folds,
            repeats=repeats,
            budgets=budgets,
            jobs=jobs,
            engine=engine,
            advance=advance,
        )
    remarks = (*notes, *_notes(recording, plan, folds))
    return ComparisonReport(comparison, Selection.of(recording, slices, remarks, command))


def with_command(report: ComparisonReport, command: str) -> ComparisonReport:
    """Return the same results with the command that gives them again."""
    return replace(report, selection=replace(report.selection, command=command))


def _measure(measure: str | Measure) -> Measure:
    return make_measure(measure) if isinstance(measure, str) else measure


def _curve(recording: Recording, plan: Plan, folds: int) -> tuple[float | int, ...]:
    """Return the budgets of the curves that come to at least one visit; none where the budget is a number."""
    pages = int((recording.born <= recording.start).sum()) // folds
    return () if isinstance(plan.budget, int) else tuple(share for share in CURVE if share * pages >= 2)


def _notes(recording: Recording, plan: Plan, folds: int) -> list[str]:
    notes = []
    if folds > 1 and plan.discover == "links" and (recording.born > recording.start).any():
        notes.append("a fold has only the links between its own pages, so fewer new pages are found than in one crawl")
    left = (recording.end - recording.start) - plan.cycles(recording) * plan.cycle_days
    if left > 1e-6:
        notes.append(f"the last {left:.3g} days are no whole cycle and are not crawled")
    return notes
