"""The report of the experiment on focused crawling: what of the paper holds, its tables and figures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

from recrawl.columns import FloatArray
from recrawl.evaluate.statistics import interval
from recrawl.focus.strategy import BEST_FIRST, PUBLISHED
from recrawl.focus.strategy import to_json as strategy_json
from recrawl.papers.base import Figures, Finding, PaperReport
from recrawl.papers.focus.focus_findings import across, findings
from recrawl.papers.focus.focus_measures import MEASURES
from recrawl.papers.focus.focus_plots import PLOTS
from recrawl.papers.focus.focus_protocol import FocusTrial, TopicResult, with_topic
from recrawl.papers.focus.focus_tables import (
    ablation_table,
    classifier_table,
    evolutions_table,
    measure_table,
    options_table,
    weights_table,
)
from recrawl.report.layout import Card, Picture, Section
from recrawl.report.style import Plot

FARS = ("mean distance", "maximum distance", "mean depth", "maximum depth")
FAR = (
    "Distance: links on the shortest path from the seeds. Depth: links on the way that the crawler took, the other "
    "reading of the paper's histograms, which go to 14 links on a graph recorded to 5. The paper's farthest: evolved "
    "10 and 10, Best-First 14 and 12."
)


def slug(name: str) -> str:
    """Make a file name of a topic's name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _topic_json(result: TopicResult) -> dict[str, Any]:
    return {
        "topic": result.name,
        "classifier": dict(result.quality),
        "web": dict(result.web),
        "pages": list(result.sizes),
        "evolved": [
            {"name": s.name, "weights": [dict(p) for p in s.parts], "fitness": s.found["fitness"]}
            for s in result.evolved
        ],
        "evolved_on": result.evolved_on,
        "foreign": [s.name for s in result.foreign],
        "evolutions": [
            {
                "best": evolved.course.best.tolist(),
                "mean": evolved.course.mean.tolist(),
                "evaluations": evolved.course.evaluations,
                "weights": [dict(p) for p in evolved.strategies[0].parts],
                "harvest": _sizes_json(evolved.harvest),
            }
            for evolved in result.evolutions
        ],
        "plan": {**asdict(result.plan)},
        "notes": result.notes(),
        "too_small": result.too_small(),
        "trials": [_trial_json(trial) for trial in result.trials],
        "ablation": {name: _sizes_json(values) for name, values in result.ablation.items()},
        "options": {
            name: {"weights": [dict(p) for p in s.parts], "within": list(s.within), "harvest": _sizes_json(values)}
            for name, (s, values) in result.options.items()
        },
        "findings": [finding.to_dict() for finding in findings(result)],
    }


def _trial_json(trial: FocusTrial) -> dict[str, Any]:
    return {
        "asked": trial.asked,
        "seeds": trial.seeds,
        "reach": trial.reach,
        "good": trial.good,
        "measures": {m: {s: _sizes_json(v) for s, v in trial.values[m].items()} for m in MEASURES},
        "curves": {"pages": trial.points.tolist(), **{s: c.tolist() for s, c in trial.curves.items()}},
        "depths": {s: {"pages": p.tolist(), "good": g.tolist()} for s, (p, g) in trial.depths.items()},
        "distances": {s: {"pages": p.tolist(), "good": g.tolist()} for s, (p, g) in trial.histograms.items()},
    }


def _sizes_json(values: FloatArray) -> list[dict[str, Any]]:
    points = [interval(row) for row in values]
    return [{"mean": p.mean, "half": p.half, "runs": p.runs} for p in points]


def headline(result: TopicResult) -> str:
    """Say in one line what was crawled for."""
    web, quality = result.web, result.quality
    return (
        f"{result.name}: {quality['relevant']:,} relevant of {web['pages']:,} pages with {web['links']:,} links; "
        f"{web['good']:,} of {web['reach']:,} in reach of the {quality['positives']} examples; "
        + (f"classifier F1 {quality['f1']:.2f}" if quality["f1"] is not None else "classifier not tested")
    )


class FocusReport(PaperReport[Sequence[TopicResult]]):
    """Evolved strategies for focused crawling (Johnson et al. 2003)."""

    title: ClassVar[str] = "Focused crawling: evolved strategies against Best-First and others"
    plots: ClassVar[Mapping[str, Plot]] = PLOTS
    other_files: ClassVar[str] = rf"[a-z0-9-]+-(\d+\.json|({'|'.join(PLOTS)})\.(png|svg))"

    def figures(self) -> Mapping[str, tuple[Plot, Any]]:
        """Every figure of every topic."""
        return {
            f"{slug(r.name)}-{name}": (plot, r)
            for r in self.results
            for name, plot in PLOTS.items()
            if name != "evolution" or r.evolutions
        }

    def more_files(self) -> dict[str, bytes]:
        """The strategies that were evolved."""
        return {
            f"{slug(result.name)}-{number}.json": strategy_json(strategy).encode()
            for result in self.results
            for number, strategy in enumerate(with_topic(result.evolved, result.name), 1)
        }

    def intro(self) -> list[str]:
        """Say what was crawled for, one line per topic."""
        lines = [line for result in self.results for line in (headline(result), *_remarks(result))]
        plan = self.results[0].plan
        words = "all words" if plan.vocabulary == "all" else "the words of the topic's examples"
        lines.append(
            f"The classifier reads {words} (--vocabulary {plan.vocabulary}); the {plan.best} best strategies of the "
            f"last generation are tested; {plan.levels} generations of ancestors have a score."
        )
        if len(self.results) == 1:
            lines.append("note: one topic: strategies are not tested on a topic that they were not evolved for")
        return lines

    def cards(self) -> list[Card]:
        """The harvest of each topic."""
        return [card(result) for result in self.results]

    def findings(self) -> Mapping[str, Sequence[Finding]]:
        """By topic, over all sets of seeds, and the first topic beside each other one."""
        by_topic: dict[str, Sequence[Finding]] = {result.name: findings(result) for result in self.results}
        between = self._between()
        return {**by_topic, "the topics": between} if between else by_topic

    def _between(self) -> list[Finding]:
        first, *others = self.results
        return [across(first, other) for other in others]

    def sections(self, figures: Figures) -> list[Section]:
        """Topic by topic: the classifier, Table 1 and Figs 3 to 10."""
        return [section for result in self.results for section in _sections(result, figures)]

    def to_dict(self, command: str) -> dict[str, Any]:
        """Everything measured."""
        topics = [_topic_json(result) for result in self.results]
        between = [finding.to_dict() for finding in self._between()]
        paper = {"table1": dict(PUBLISHED.parts[0])}
        return {"experiment": "focus", "command": command, "paper": paper, "topics": topics, "findings": between}


def _remarks(result: TopicResult) -> list[str]:
    """What could not be done as asked, and what the intervals are over."""
    lines = [f"note: {note}" for note in result.notes()]
    if result.too_small():
        lines.append(f"note: {result.name}: too small to judge the paper's findings: {result.too_small()}")
    if len(result.evolutions) == 1 and not result.too_small():
        lines.append(f"note: {result.name}: one evolution; intervals are over the crawls' chances (see --evolutions)")
    return lines


def _sections(result: TopicResult, figures: Figures) -> list[Section]:
    name = result.name

    def drawn(*plots: str) -> list[Picture]:
        return figures(*(f"{slug(name)}-{plot}" for plot in plots))

    harvests = [measure_table(result, trial, "harvest") for trial in result.trials]
    recalls = [measure_table(result, trial, "recall") for trial in result.trials]
    cohesion = [measure_table(result, result.trials[0], m) for m in MEASURES if "cohesiveness" in m]
    distances = [measure_table(result, trial, m) for m in FARS for trial in result.trials]
    out = [
        Section(f"{name}: the topic classifier", tables=[classifier_table(result)]),
        Section(f"{name}: weights (Table 1)", tables=[weights_table(result), ablation_table(result)]),
        Section(f"{name}: harvest (Figs 3 and 4)", tables=harvests, pictures=drawn("harvest", "curves")),
        Section(f"{name}: recall", tables=recalls),
        Section(f"{name}: cohesiveness (Figs 5 to 8)", tables=cohesion, pictures=drawn("cohesiveness")),
        Section(f"{name}: distance from the seeds (Figs 9 and 10)", FAR, distances, drawn("distance", "depth")),
    ]
    if result.evolutions:
        tables = [evolutions_table(result)] if len(result.evolutions) > 1 else []
        out.append(Section(f"{name}: evolution", tables=tables, pictures=drawn("evolution")))
    if result.options:
        out.append(Section(f"{name}: ideas for future work (section 4)", tables=[options_table(result)]))
    return out


def card(result: TopicResult) -> Card:
    """The headline number of a topic."""
    trial, best = result.trials[0], result.evolved[0].name
    mine, other = (trial.summary("harvest", name, 0).mean for name in (best, BEST_FIRST.name))
    return result.name, f"{mine:.3f}", f"harvest at {result.sizes[0]:,} pages; Best-First {other:.3f}"
