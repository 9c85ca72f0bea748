"""The report of the GP4C experiment: what of the paper holds, its tables, figures and formulas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from recrawl.evaluate.measures.ranking import NDCG
from recrawl.evolve.candidates import SHORT
from recrawl.papers.base import Figures, Finding, PaperReport
from recrawl.papers.gp4c import gp4c_tables as tables
from recrawl.papers.gp4c.gp4c_figures import PLOTS
from recrawl.papers.gp4c.gp4c_findings import against, correlation, findings
from recrawl.papers.gp4c.gp4c_json import results
from recrawl.papers.gp4c.gp4c_protocol import MEASURES, Gp4cExperiment
from recrawl.papers.gp4c.gp4c_published import CORRELATIONS, NEW_PAGES
from recrawl.policies.formulas.formula import Formula
from recrawl.report.layout import Card, Section
from recrawl.report.style import Plot
from recrawl.report.table import with_interval


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
                    formula = Formula(candidate.formula, experiment.protocol.over, about, experiment.protocol.form)
                    out[f"{variant.terminals}-{variant.fitness}-{number}{kind}.json"] = formula.to_json().encode()
        return out

    def findings(self) -> Mapping[str, Sequence[Finding]]:
        """Every claim of section 5.3."""
        return {"": findings(self.results)}

    def sections(self, figures: Figures) -> list[Section]:
        """Tables 1 to 4 and Figures 3 to 6."""
        results = self.results
        short = tables.formulas(results, SHORT)
        return [
            Section("The data (Table 1)", tables=[tables.data(results)]),
            Section("Overall (Table 2)", tables=[tables.overall(results)]),
            Section("Cycle by cycle (Table 3, Fig 4)", self._busy(), tables.contests(results), figures("figure4")),
            Section("The formulas (Table 4)", tables=tables.formulas(results)),
            Section("Short formulas that are nearly as good", tables=short),
            Section("The paper's formulas on these pages", tables=[tables.printed(results)]),
            Section("Ways to choose (Fig 3)", "", [tables.selections(results)], figures("figure3")),
            Section("Stability", tables=[tables.stable(results)]),
            Section("What to breed for (Fig 5)", "", [tables.cross_fitness(results)], figures("figure5")),
            Section("New pages (Fig 6)", self._new_pages(), pictures=figures("figure6")),
            Section("Evolution", pictures=figures("evolution")),
        ]

    def _busy(self) -> str:
        """Correlations of Fig 4 with the pages that change."""
        results, terminals = self.results, self.results.protocol.terminals[-1]
        parts = []
        for measure in MEASURES:
            variant = results.for_measure(terminals, measure)
            (r, _), (later, _) = (correlation(results, variant, measure, skip) for skip in (0, 2))
            parts.append(
                f"{measure.spec} {r:+.2f} (paper {CORRELATIONS[measure.spec]:+.2f}; from the third on {later:+.2f})"
            )
        return (
            f"Correlation over the judged cycles of the pages that change with the measure: {', '.join(parts)}. The "
            "first judged cycles are low for every method, because little is known and the waits are short; a busy "
            "cycle among them lowers the correlation whatever the method."
        )

    def _new_pages(self) -> str:
        """Say what bounds the share of new pages."""
        folds, protocol = self.results.folds, self.results.protocol
        shown = sum(fold.shown for fold in folds) / len(folds)
        share = sum(fold.visits / fold.pages[2] for fold in folds) / len(folds)
        need = share * (1 + NEW_PAGES * (self.results.judged - 1))
        return (
            f"With {100 * share:.0f}% of the pages per cycle, {100 * NEW_PAGES:.0f}% of new pages in each of "
            f"{self.results.judged} cycles (the paper's figure) needs {100 * need:.0f}% of all pages; "
            f"{100 * shown:.0f}% of these were seen to change in the {protocol.plan.warmup} cycles of warm-up, and "
            "formulas like t * X give all "
            "others 0. The dashed lines are the visits to pages not visited in the cycle before."
        )

    def to_dict(self, command: str) -> dict[str, Any]:
        """Everything measured."""
        return results(self.results, command)

    def intro(self) -> list[str]:
        """Say in one line what was done."""
        protocol, fold = self.results.protocol, self.results.folds[0]
        budget = protocol.plan.budget
        visits = f"{budget * 100:g}% of the pages" if isinstance(budget, float) else f"{budget} visits"
        windows = " + ".join(str(c) for c in protocol.cycles)
        settings = protocol.settings
        reason = self.results.too_small()
        small = [f"Too small to judge the paper's findings: {reason}."] if reason else []
        return [
            f"{protocol.folds} folds, {protocol.split[0]} to train and {protocol.split[1]} to validate; "
            f"{windows} cycles of {protocol.plan.cycle_days:g} d to train, validate and test, "
            f"{protocol.plan.warmup} of each for warm-up; {visits} per cycle; "
            f"about {fold.pages[0]:,} pages to train on and "
            f"{fold.pages[2]:,} to test on; {settings.seeds} seeds x {settings.generations} generations of "
            f"{settings.population}, parents from the {settings.parents}; the estimators among the terminals are "
            f"{protocol.form}s, their weights run over {protocol.over}; the depth limit of crossover is "
            f"{'of its parents' if settings.rates.parents else 'of the trees that it makes'}.",
            *small,
        ]

    def cards(self) -> list[Card]:
        """The headline numbers."""
        found = []
        for measure in MEASURES:
            variant = self.results.for_measure(self.results.protocol.terminals[-1], measure)
            rival = tables.best_rival(self.results, measure)
            test = against(self.results, variant, rival, measure)
            base = self.results.summary(rival, measure).mean
            gain = f"{100 * test.difference / base:+.2f}%" if base else "–"
            word = f"to {rival}, the best classical method; {'' if test.significant else 'not '}significant"
            found.append(
                (
                    f"{tables.label(variant)}: {measure.spec}",
                    with_interval(self.results.summary(variant, measure), 4),
                    "",
                )
            )
            found.append((f"{measure.spec} gained", gain, word))
        chosen = self.results.chosen(self.results.for_measure(self.results.protocol.terminals[-1], NDCG()), SHORT)
        shortest = min(chosen, key=lambda c: (len(c.formula), -c.validation))
        return [*found, ("a formula", str(shortest.formula), "the shortest of those bred for NDCG")]
