"""What the experiment on focused crawling found: tables for people, results.json for machines, one page for both."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

from recrawl.columns import FloatArray
from recrawl.evaluate.statistics import Interval, interval, paired_test
from recrawl.focus.baselines import BEST_FIRST, PUBLISHED
from recrawl.focus.strategy import to_json as strategy_json
from recrawl.papers.focus.focus_plots import CAPTIONS, draw
from recrawl.papers.focus.focus_protocol import MEASURES, FocusTrial, TopicResult, findings, weight_rows, with_topic
from recrawl.report.result_page import Page, Picture, Section, Table


def slug(name: str) -> str:
    """Make a file name of a topic's name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def files(results: Sequence[TopicResult], command: str) -> dict[str, bytes]:
    """Every file of the report by name: results.json, strategies, figures and report.html."""
    out = {"results.json": (json.dumps(as_json(results, command), indent=1) + "\n").encode()}
    pictures = {}
    for result in results:
        for number, strategy in enumerate(with_topic(result.evolved, result.name), 1):
            out[f"{slug(result.name)}-{number}.json"] = strategy_json(strategy).encode()
        pictures[result.name] = draw(result)
        for name, (png, svg) in pictures[result.name].items():
            out[f"{slug(result.name)}-{name}.png"], out[f"{slug(result.name)}-{name}.svg"] = png, svg
    svgs = {name: {k: svg for k, (_, svg) in drawn.items()} for name, drawn in pictures.items()}
    out["report.html"] = page(results, svgs, command).html().encode()
    return out


def is_ours(name: str) -> bool:
    """Whether a file of this name may have been written by this experiment."""
    return name in ("results.json", "report.html") or bool(
        re.fullmatch(r"[a-z0-9-]+-(\d+\.json|(harvest|cohesiveness|distance|curves)\.(png|svg))", name)
    )


def as_json(results: Sequence[TopicResult], command: str) -> dict[str, Any]:
    """All numbers."""
    return {"experiment": "focus", "command": command, "topics": [_topic_json(result) for result in results]}


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
        "evolution": {
            "best": result.evolution.best.tolist(),
            "mean": result.evolution.mean.tolist(),
            "evaluations": result.evolution.evaluations,
        },
        "trials": [_trial_json(trial) for trial in result.trials],
        "ablation": {name: _sizes_json(values) for name, values in result.ablation.items()},
        "options": {
            name: {"weights": [dict(p) for p in s.parts], "within": list(s.within), "harvest": _sizes_json(values)}
            for name, (s, values) in result.options.items()
        },
        "findings": [{"claim": f.claim, "holds": f.holds, "seen": f.seen} for f in findings(result)],
    }


def _trial_json(trial: FocusTrial) -> dict[str, Any]:
    return {
        "seeds": trial.seeds,
        "reach": trial.reach,
        "good": trial.good,
        "measures": {m: {s: _sizes_json(v) for s, v in trial.values[m].items()} for m in MEASURES},
        "curves": {"pages": trial.points.tolist(), **{s: _plain(c) for s, c in trial.curves.items()}},
        "distances": {s: {"pages": p.tolist(), "good": g.tolist()} for s, (p, g) in trial.histograms.items()},
    }


def _sizes_json(values: FloatArray) -> list[dict[str, Any]]:
    points = [interval(row) for row in values]
    return [{"mean": p.mean, "half": None if math.isnan(p.half) else p.half, "runs": p.runs} for p in points]


def _plain(values: FloatArray) -> list[float | None]:
    return [None if math.isnan(value) else float(value) for value in values]


def tables(result: TopicResult) -> list[Table]:
    """Every table about one topic."""
    out = [classifier_table(result), weights_table(result)]
    for trial in result.trials:
        out += [measure_table(result, trial, measure) for measure in MEASURES]
    out.append(ablation_table(result))
    if result.options:
        out.append(options_table(result))
    return [*out, findings_table(result)]


def classifier_table(result: TopicResult) -> Table:
    """How good the topic classifier is."""
    quality = result.quality
    heads = ["precision", "recall", "F1", "AUC", "label precision", "label recall"]
    values = [quality[head.lower().replace(" ", "_")] for head in heads]
    row = [f"{quality['positives']} + {quality['negatives']}", *("-" if v is None else f"{v:.3f}" for v in values)]
    note = (
        f"Topic classifier: examples + other pages it learnt from; on held-out ones ({quality['folds']}-fold); and the "
        f"{quality['relevant']:,} pages of the web that it accepts ({100 * quality['share']:.1f}%) against the folder "
        f"or label, where there is one."
    )
    return Table(["learnt from", *heads], [row], note)


def weights_table(result: TopicResult) -> Table:
    """Table 1, with the weights that the paper found."""
    shown = [*result.evolved, PUBLISHED]
    rows = [[name, *(f"{value:.3f}" for value in values)] for name, values in weight_rows(shown)]
    rows.append(["fitness", *(f"{strategy.found['fitness']:.3f}" for strategy in result.evolved), "-"])
    note = f"Weights of the best strategies, evolved on crawls of {result.sizes[0]:,} pages, and their fitness there."
    return Table(["score", *(strategy.name for strategy in shown)], rows, note)


def measure_table(result: TopicResult, trial: FocusTrial, measure: str) -> Table:
    """One measure of all strategies from one set of seeds, by length of the crawl."""
    base = trial.values[measure][BEST_FIRST.name]
    rows = []
    for name, values in trial.values[measure].items():
        marks = [_mark(row, b) if name != BEST_FIRST.name else "" for row, b in zip(values, base, strict=True)]
        rows.append([name, *(said(interval(row)) + mark for row, mark in zip(values, marks, strict=True))])
    note = (
        f"{measure.capitalize()} from {trial.seeds} seeds, mean and 95% interval of the runs; {trial.good:,} of the "
        f"{trial.reach:,} pages in reach are good; * differs from best-first (paired t-test, 95%)."
    )
    means = [[value.mean() for value in values] for values in trial.values[measure].values()]
    best = _best(means) if measure in ("harvest", "recall") else frozenset()
    return Table(_heads(result), rows, note, best)


def ablation_table(result: TopicResult) -> Table:
    """The best strategy without some of its scores."""
    best = result.evolved[0].name
    rows = [[best, *(said(interval(row)) for row in result.trials[0].values["harvest"][best])]]
    rows += [[name, *(said(interval(row)) for row in values)] for name, values in result.ablation.items()]
    return Table(_heads(result), rows, "Harvest of the best strategy with some of its weights set to 0.")


def options_table(result: TopicResult) -> Table:
    """The ideas for future work."""
    best = result.evolved[0].name
    values = result.trials[0].values["harvest"][best]
    rows = [[best, *(said(interval(row)) for row in values)]]
    for name, (_, mine) in result.options.items():
        cells = [said(interval(row)) + _mark(row, b) for row, b in zip(mine, values, strict=True)]
        rows.append([name, *cells])
    means = [values.mean(axis=1).tolist(), *(mine.mean(axis=1).tolist() for _, mine in result.options.values())]
    note = f"Harvest with the paper's ideas for future work, one at a time; * differs from {best}."
    return Table(_heads(result), rows, note, _best(means))


def findings_table(result: TopicResult) -> Table:
    """What of the paper holds."""
    rows = [[f.claim, "yes" if f.holds else "no", f.seen] for f in findings(result)]
    return Table(["the paper says", "holds here", "seen"], rows, prose=True)


def overview_table(results: Sequence[TopicResult]) -> Table:
    """What of the paper holds, topic by topic."""
    found = [findings(result) for result in results]
    rows = [
        [claims[0].claim, *("yes" if finding.holds else "no" for finding in claims)]
        for claims in zip(*found, strict=True)
    ]
    return Table(["the paper says", *(result.name for result in results)], rows, prose=True)


def _heads(result: TopicResult) -> list[str]:
    return ["strategy", *(f"{size:,} pages" for size in result.sizes)]


def _best(means: Sequence[Sequence[float]]) -> frozenset[tuple[int, int]]:
    """Cells of the greatest mean of each column."""
    columns = range(len(means[0]))
    return frozenset((max(range(len(means)), key=lambda row: means[row][c]), c + 1) for c in columns)


def _mark(values: FloatArray, base: FloatArray) -> str:
    return "*" if paired_test(values, base).significant else ""


def said(value: Interval) -> str:
    """Write a mean with its interval."""
    return f"{value.mean:.3f}" + ("" if math.isnan(value.half) else f" ±{value.half:.3f}")


def headline(result: TopicResult) -> str:
    """Say in one line what was crawled for."""
    web, quality = result.web, result.quality
    return (
        f"{result.name}: {quality['relevant']:,} relevant of {web['pages']:,} pages with {web['links']:,} links; "
        f"{web['good']:,} of {web['reach']:,} in reach of the {quality['positives']} examples; "
        + (f"classifier F1 {quality['f1']:.2f}" if quality["f1"] is not None else "classifier not tested")
    )


def page(results: Sequence[TopicResult], svgs: dict[str, dict[str, bytes]], command: str) -> Page:
    """Lay out everything as one page that loads nothing."""
    sections = [section for result in results for section in _sections(result, svgs[result.name])]
    if len(results) > 1:
        sections.insert(0, Section("What of the paper holds, topic by topic", tables=[overview_table(results)]))
    return Page(
        "Focused crawling: evolved strategies against Best-First and others",
        [headline(result) for result in results],
        sections,
        [card for result in results for card in cards(result)],
        command,
    )


def _sections(result: TopicResult, svgs: dict[str, bytes]) -> list[Section]:
    name = result.name
    figure = {k: Picture(f"{slug(name)}-{k}", svg, CAPTIONS[k]) for k, svg in svgs.items()}
    harvests = [measure_table(result, trial, "harvest") for trial in result.trials]
    recalls = [measure_table(result, trial, "recall") for trial in result.trials]
    cohesion = [measure_table(result, result.trials[0], m) for m in MEASURES if "cohesiveness" in m]
    distances = [measure_table(result, trial, "mean distance") for trial in result.trials]
    out = [
        Section(f"{name}: what of the paper holds", tables=[findings_table(result)]),
        Section(f"{name}: the topic classifier", tables=[classifier_table(result)]),
        Section(f"{name}: weights (Table 1)", tables=[weights_table(result), ablation_table(result)]),
        Section(f"{name}: harvest (Figs 3 and 4)", tables=harvests, pictures=[figure["harvest"], figure["curves"]]),
        Section(f"{name}: recall", tables=recalls),
        Section(f"{name}: cohesiveness (Figs 5 to 8)", tables=cohesion, pictures=[figure["cohesiveness"]]),
        Section(f"{name}: distance from the seeds (Figs 9 and 10)", tables=distances, pictures=[figure["distance"]]),
    ]
    if result.options:
        out.append(Section(f"{name}: ideas for future work (section 4)", tables=[options_table(result)]))
    return out


def cards(result: TopicResult) -> list[tuple[str, str, str]]:
    """The headline number of a topic."""
    trial, best = result.trials[0], result.evolved[0].name
    mine, other = (trial.summary("harvest", name, 0).mean for name in (best, BEST_FIRST.name))
    return [(result.name, f"{mine:.3f}", f"harvest at {result.sizes[0]:,} pages; Best-First {other:.3f}")]
