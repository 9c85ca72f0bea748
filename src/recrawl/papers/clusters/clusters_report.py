"""The report of the experiment on clusters: what of the paper holds, its tables and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from recrawl.evaluate.statistics import mean_of
from recrawl.papers.base import Figures, Finding, PaperReport
from recrawl.papers.clusters import clusters_tables as tables
from recrawl.papers.clusters.clusters_figures import PLOTS
from recrawl.papers.clusters.clusters_findings import findings
from recrawl.papers.clusters.clusters_protocol import CLS, IDEAL, ClustersExperiment
from recrawl.report.layout import Card, Section
from recrawl.report.style import Plot

RELEVANT = {
    "web": "all pages of the live web that answer a query",
    "results": "the pages among its ten results that answer a query",
}


class ClustersReport(PaperReport[ClustersExperiment]):
    """Cluster-level sampling and search results (Tan et al. 2007)."""

    title: ClassVar[str] = "Cluster-level sampling, and what freshness does to search results"
    plots: ClassVar[Mapping[str, Plot]] = PLOTS

    def figures(self) -> Mapping[str, tuple[Plot, Any]]:
        """Figures of the parts that were run."""
        needs = {"figure1": self.results.counts, "figure2": self.results.features}
        return {name: plot for name, plot in super().figures().items() if needs.get(name, self.results.runs)}

    def findings(self) -> Mapping[str, Sequence[Finding]]:
        """By paired tests at all cycle lengths and budgets."""
        return {"": findings(self.results)}

    def sections(self, figures: Figures) -> list[Section]:
        """What was run, in the order of the paper."""
        results = self.results
        places = list(dict.fromkeys((c, b) for c, b, _ in results.runs))
        kinds = ("precision", "fresh", "change")
        tests = [tables.t_tests(results, *place, what) for place in places for what in kinds]
        found = [Section("The pages (Table 1)", "", [tables.domains(results)])]
        if results.counts:
            found.append(Section("How many clusters (Fig 1)", "", [tables.counts(results)], figures("figure1")))
        if results.units:
            found.append(Section("Pages per cluster and per site (Table 2)", "", [tables.units(results)]))
        if results.features:
            found.append(Section("Sets of features (Fig 2)", "", [tables.features(results)], figures("figure2")))
        if places:
            overall = [tables.overall(results, *place) for place in places]
            found.append(Section("Weights of past changes (Fig 3)", pictures=figures("figure3")))
            found.append(Section("All policies (Fig 4)", "", overall, figures("figure4")))
            found.append(Section("Tests (Table 3)", "", tests))
        if results.cold:
            found.append(Section("Pages born in the window", "", [tables.cold(results)]))
        return found

    def to_dict(self, command: str) -> dict[str, Any]:
        """Everything measured."""
        return tables.results(self.results, command, findings(self.results))

    def intro(self) -> list[str]:
        """What was done, in one line, and what the recording lacks."""
        protocol = self.results.protocol
        cycles = ", ".join(f"{cycle:g}" for cycle in protocol.cycles)
        budgets = ", ".join(tables.budget_word(budget) for budget in protocol.budgets)
        return [
            f"{self.results.name}: {self.results.pages:,} pages at the start; cycles of {cycles} d, "
            f"{protocol.warmup} of them for warm-up; {budgets} per cycle; {protocol.clusters} clusters; "
            f"{len(self.results.asked)} queries; {protocol.repeats} seeds.",
            f"Average precision is over {RELEVANT[protocol.relevant]} (--relevant {protocol.relevant}); change rates "
            "are over the visits of each page.",
            *self.results.lacking,
        ]

    def cards(self) -> list[Card]:
        """The best of cluster-level sampling at the first place, beside the best rival."""
        if not self.results.runs:
            return []
        cycle, budget = next((c, b) for c, b, _ in self.results.runs)
        found = []
        for what, name in (("change", "ChangeRatio"), ("fresh", "freshness@10"), ("precision", "MAP@10")):
            value = {p: mean_of(getattr(self.results.runs[cycle, budget, p], what)) for p in self.results.policies}
            best = max(CLS, key=lambda policy: value[policy])
            rival = max((p for p in value if p not in CLS and p != IDEAL), key=lambda policy: value[policy])
            found.append((f"{name}, {best}", tables.shown(value[best]), f"best other: {rival}, {value[rival]:.4f}"))
        return found
