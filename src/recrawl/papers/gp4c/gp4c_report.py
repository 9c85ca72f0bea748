"""The report of the GP4C experiment: what of the paper holds, its tables, figures and formulas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from recrawl.evaluate.measures.ranking import NDCG
from recrawl.evolve.evolution import SHORT
from recrawl.papers.base import Figures, Finding, PaperReport
from recrawl.papers.gp4c import gp4c_tables as tables
from recrawl.papers.gp4c.gp4c_figures import PLOTS
from recrawl.papers.gp4c.gp4c_protocol import MEASURES, Gp4cExperiment
from recrawl.policies.formulas.formula import Formula
from recrawl.report.layout import Card, Section
from recrawl.report.style import Plot
from recrawl.report.table import said


class Gp4cReport(PaperReport[Gp4cExperiment]):
    """Evolved score functions against the estimators (Santos et al. 2014)."""

    title: ClassVar[str] = "GP4C: evolved score functions against the estimators"
    plots: ClassVar[Mapping[str, Plot]] = PLOTS
    other_files: ClassVar[str] = r"(basic|all|extended)-.*\.json"

    def more_files(self) -> dict[str, bytes]:
        """The chosen formulas of every fold."""
        experiment, out = self.results, {}
        for variant in experiment.variants:
            for selection, kind in (("best", ""), (SHORT, f"-{SHORT}")):
                for number, candidate in enumerate(experiment.chosen(variant, selection), 1):
                    about = {
                        "data": experiment.name,
                        "fitness": variant.fitness,
                        "fold": number,
                        "seed": candidate.seed,
                    }
                    formula = Formula(candidate.formula, experiment.protocol.over, about)
                    out[f"{variant.terminals}-{variant.fitness}-{number}{kind}.json"] = formula.to_json().encode()
        return out

    def findings(self) -> Mapping[str, Sequence[Finding]]:
        """Whether evolved formulas beat the best of the other methods, fold by fold."""
        found = []
        for measure in MEASURES:
            for terminals in self.results.protocol.terminals:
                variant, rival = self.results.for_measure(terminals, measure), tables.best_rival(self.results, measure)
                test = tables.against(self.results, variant, rival, measure)
                claim = f"{tables.label(variant)} has a higher {measure.spec} than the best estimator ({rival})"
                seen = f"{test.difference:+.4f}, p = {test.p:.2g} over {len(self.results.folds)} folds"
                found.append(Finding.tested("Do evolved formulas beat the estimators?", claim, test, seen))
        return {"": found}

    def sections(self, figures: Figures) -> list[Section]:
        """Tables 2 to 4 and Figures 3 to 6."""
        results = self.results
        best = results.for_measure(results.protocol.terminals[-1], MEASURES[1])
        correlated = ", ".join(
            f"{tables.correlation(results, results.for_measure(best.terminals, m), m):.2f} with {m.spec}"
            for m in MEASURES
        )
        busy = f"Correlation of the number of pages that change in a cycle: {correlated}."
        short = tables.formulas(results, SHORT)
        return [
            Section("Overall (Table 2)", tables=[tables.overall(results)]),
            Section("Cycle by cycle (Table 3, Fig 4)", "", tables.contests(results), figures("figure4")),
            Section("The formulas (Table 4)", tables=tables.formulas(results)),
            Section("Short formulas that are nearly as good", tables=short),
            Section("Ways to choose (Fig 3)", "", [tables.selections(results)], figures("figure3")),
            Section("What to breed for (Fig 5)", "", [tables.cross_fitness(results)], figures("figure5")),
            Section("New pages (Fig 6)", pictures=figures("figure6")),
            Section("Evolution", pictures=figures("evolution")),
            Section("Busy cycles", busy),
        ]

    def to_dict(self, command: str) -> dict[str, Any]:
        """Everything measured."""
        return tables.results(self.results, command)

    def intro(self) -> list[str]:
        """Say in one line what was done."""
        protocol, fold = self.results.protocol, self.results.folds[0]
        budget = protocol.plan.budget
        said = f"{budget * 100:g}% of the pages" if isinstance(budget, float) else f"{budget} visits"
        windows = " + ".join(str(c) for c in protocol.cycles)
        settings = protocol.settings
        return [
            f"{protocol.folds} folds; {windows} cycles of {protocol.plan.cycle_days:g} d to train, validate and test, "
            f"{protocol.plan.warmup} of each for warm-up; {said} per cycle; "
            f"about {fold.pages[0]:,} pages to train on and "
            f"{fold.pages[2]:,} to test on; {settings.seeds} seeds x {settings.generations} generations of "
            f"{settings.population}; the estimators' weights run over {protocol.over}."
        ]

    def cards(self) -> list[Card]:
        """The headline numbers."""
        found = []
        for measure in MEASURES:
            variant = self.results.for_measure(self.results.protocol.terminals[-1], measure)
            rival = tables.best_rival(self.results, measure)
            test = tables.against(self.results, variant, rival, measure)
            base = self.results.summary(rival, measure).mean
            gain = f"{100 * test.difference / base:+.2f}%" if base else "–"
            word = f"to {rival}, the best classical method; {'' if test.significant else 'not '}significant"
            found.append(
                (f"{tables.label(variant)}: {measure.spec}", said(self.results.summary(variant, measure), 4), "")
            )
            found.append((f"{measure.spec} gained", gain, word))
        chosen = self.results.chosen(self.results.for_measure(self.results.protocol.terminals[-1], NDCG()), SHORT)
        shortest = min(chosen, key=lambda c: (len(c.formula), -c.validation))
        return [*found, ("a formula", str(shortest.formula), "the shortest of those bred for NDCG")]
