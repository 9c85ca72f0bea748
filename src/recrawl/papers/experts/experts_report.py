"""The report of the experiment on related pages: what of the paper holds, its tables and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from recrawl.evaluate.statistics import interval
from recrawl.papers.base import Figures, Finding, PaperReport
from recrawl.papers.experts import experts_tables as tables
from recrawl.papers.experts.batch_tables import batch_findings, batch_json, batch_table
from recrawl.papers.experts.experts_experiment import ExpertsExperiment
from recrawl.papers.experts.experts_figures import PLOTS
from recrawl.papers.experts.experts_trials import DRAW, MAJORITY, MULTIPLE, OWN, TrialOutcome
from recrawl.report.layout import Card, Section
from recrawl.report.style import Plot


class ExpertsReport(PaperReport[ExpertsExperiment]):
    """Changes predicted with related pages (Radinsky & Bennett 2013)."""

    title: ClassVar[str] = "Predicting content change: pages that predict pages"
    plots: ClassVar[Mapping[str, Plot]] = PLOTS

    def figures(self) -> Mapping[str, tuple[Plot, Any]]:
        """Accuracy, who predicts whom, and freshness where there were crawls."""
        first, batch = self.results.outcomes[0], self.results.batch
        found: dict[str, Any] = {"figures6-7": self.results.outcomes}
        found |= {"who-predicts-whom": first} if first.examples else {}
        found |= {"figure8-tables": batch} if batch is not None else {}
        found |= {"figure8": self.results.crawls} if self.results.crawls else {}
        return {name: (PLOTS[name], shown) for name, shown in found.items()}

    def intro(self) -> list[str]:
        """What was predicted, one line per protocol."""
        return [*(headline(outcome) for outcome in self.results.outcomes), self.reading(), *self.results.left_out]

    def reading(self) -> str:
        """How the paper was read where it can be read in two ways."""
        protocol = self.results.outcomes[0].protocol
        own = " and of the page that they predict" if protocol.beside else ""
        words = f"{protocol.words} words" if protocol.words else "all words"
        return (
            f"Features look back l = {protocol.window.length} steps and predict sigma = {protocol.window.interval} "
            f"ahead; experts see features of their own page beside the predicted one{own}; pages are compared by "
            f"{words}; the 1D draw is by the frequency over the training steps (1D window: over l steps)."
        )

    def cards(self) -> list[Card]:
        """The accuracy of each protocol."""
        return [card(outcome) for outcome in self.results.outcomes]

    def findings(self) -> Mapping[str, Sequence[Finding]]:
        """By paired t-tests over the pages of each protocol, and over the seeds of the crawls."""
        found = {outcome.protocol.name: tables.findings(outcome) for outcome in self.results.outcomes}
        if self.results.batch is not None:
            found["crawl by the models of Tables 1 to 3"] = batch_findings(self.results.batch)
        return found | {name: tables.crawl_findings(name, crawl) for name, crawl in self.results.crawls.items()}

    def sections(self, figures: Figures) -> list[Section]:
        """Tables 1 to 3 of each protocol, then Figs 6 to 8."""
        found = []
        for outcome in self.results.outcomes:
            name = outcome.protocol.name
            more = [tables.counts_table(outcome)] + ([tables.sizes_table(outcome)] if outcome.sizes else [])
            found.append(Section(f"{name}: Tables 1 to 3", tables=tables.tables(outcome)))
            found.append(Section(f"{name}: Figs 6 and 7 as numbers", tables=more))
            if outcome.examples:
                shown = figures("who-predicts-whom") if outcome is self.results.outcomes[0] else []
                table = tables.examples_table(outcome)
                found.append(Section(f"{name}: who predicts whom (9.1)", tables=[table], pictures=shown))
        found.append(Section("Training sizes and numbers of experts (Figs 6 and 7)", pictures=figures("figures6-7")))
        if self.results.batch is not None:
            table, shown = batch_table(self.results.batch), figures("figure8-tables")
            found.append(Section("Keeping copies fresh by the same models (Fig 8)", tables=[table], pictures=shown))
        if self.results.crawls:
            fresh = [tables.crawl_table(name, comparison) for name, comparison in self.results.crawls.items()]
            found.append(
                Section(
                    "Keeping copies fresh by policies that learn on the way (Fig 8)",
                    tables=fresh,
                    pictures=figures("figure8"),
                )
            )
        return found

    def to_dict(self, command: str) -> dict[str, Any]:
        """Everything measured."""
        batch = None if self.results.batch is None else batch_json(self.results.batch)
        return tables.as_json(self.results.outcomes, self.results.crawls, command) | {
            "batch_crawl": batch,
            "left_out": list(self.results.left_out),
        }


def headline(outcome: TrialOutcome) -> str:
    """What was predicted, in one line."""
    protocol = outcome.protocol
    passing = ", ".join(f"{count} at {share:g}" for share, count in outcome.passing.items())
    return (
        f"{protocol.name}: of {outcome.pages:,} pages with text those whose behaviour flips in {outcome.flips:.0%} of "
        f"the steps or more (pages left: {passing}; the paper asks for 0.3); {outcome.judged:,} predictions from "
        f"{protocol.train} steps each, {protocol.experts} experts, C = {outcome.cost:g}."
    )


def card(outcome: TrialOutcome) -> Card:
    """The headline number of a protocol."""
    mean = {m: 100 * interval(outcome.accuracy[m]).mean for m in (DRAW, MAJORITY, OWN, MULTIPLE)}
    word = f"2D {mean[OWN]:.1f}%, 1D {mean[DRAW]:.1f}%; more frequent outcome {mean[MAJORITY]:.1f}%"
    return f"{outcome.protocol.name}: 3D", f"{mean[MULTIPLE]:.1f}%", word
