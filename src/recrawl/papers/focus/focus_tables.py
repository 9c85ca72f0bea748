"""The tables of the experiment on focused crawling: what each strategy finds, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recrawl.columns import FloatArray
from recrawl.evaluate.statistics import interval, paired_test
from recrawl.focus.strategy import BEST_FIRST, PUBLISHED
from recrawl.papers.focus.focus_protocol import FocusTrial, TopicResult, weight_rows
from recrawl.report.layout import Table
from recrawl.report.table import with_interval


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
    pages = result.evolved[0].found["pages"]
    where = f" for {result.evolved_on}" if result.cross else ""
    note = f"Weights of the best strategies, evolved{where} on crawls of {pages:,} pages, and their fitness there."
    return Table(["score", *(strategy.name for strategy in shown)], rows, note)


def measure_table(result: TopicResult, trial: FocusTrial, measure: str) -> Table:
    """One measure of all strategies from one set of seeds, by length of the crawl."""
    base = trial.values[measure][BEST_FIRST.name]
    rows = []
    for name, values in trial.values[measure].items():
        marks = [_mark(row, b) if name != BEST_FIRST.name else "" for row, b in zip(values, base, strict=True)]
        rows.append([name, *(with_interval(interval(row)) + mark for row, mark in zip(values, marks, strict=True))])
    note = (
        f"{measure.capitalize()} from {trial.seeds} seeds, {_runs(trial)}; {trial.good:,} of the "
        f"{trial.reach:,} pages in reach are good; * differs from best-first (paired t-test, 95%)."
    )
    means = [[value.mean() for value in values] for values in trial.values[measure].values()]
    best = _best(means) if measure in ("harvest", "recall") else frozenset()
    return Table(_heads(result), rows, note, best)


def ablation_table(result: TopicResult) -> Table:
    """The best strategy without some of its scores."""
    best = result.evolved[0].name
    rows = [[best, *(with_interval(interval(row)) for row in result.trials[0].values["harvest"][best])]]
    rows += [[name, *(with_interval(interval(row)) for row in values)] for name, values in result.ablation.items()]
    return Table(_heads(result), rows, "Harvest of the best strategy with some of its weights set to 0.")


def evolutions_table(result: TopicResult) -> Table:
    """The best strategy of each evolution, and the interval over evolutions."""
    rows = [
        [f"evolution {number}", *(with_interval(interval(row)) for row in evolved.harvest)]
        for number, evolved in enumerate(result.evolutions, 1)
    ]
    means = np.array([evolved.harvest.mean(axis=1) for evolved in result.evolutions])
    rows.append(["mean over evolutions", *(with_interval(interval(column)) for column in means.T)])
    best_first = result.trials[0].values["harvest"][BEST_FIRST.name]
    rows.append([BEST_FIRST.name, *(with_interval(interval(row)) for row in best_first)])
    note = (
        f"Harvest of the best strategy of each of {len(result.evolutions)} evolutions from {result.trials[0].seeds} "
        "seeds: ± over runs, and over evolutions in the row of the mean."
    )
    return Table(_heads(result), rows, note, sums=frozenset({len(rows) - 2}))


def options_table(result: TopicResult) -> Table:
    """The ideas for future work."""
    best = result.evolved[0].name
    values = result.trials[0].values["harvest"][best]
    rows = [[best, *(with_interval(interval(row)) for row in values)]]
    for name, (_, mine) in result.options.items():
        cells = [with_interval(interval(row)) + _mark(row, b) for row, b in zip(mine, values, strict=True)]
        rows.append([name, *cells])
    means = [values.mean(axis=1).tolist(), *(mine.mean(axis=1).tolist() for _, mine in result.options.values())]
    note = f"Harvest with the paper's ideas for future work, one at a time; * differs from {best}."
    return Table(_heads(result), rows, note, _best(means))


def _heads(result: TopicResult) -> list[str]:
    return ["strategy", *(f"{size:,} pages" for size in result.sizes)]


def _best(means: Sequence[Sequence[float]]) -> frozenset[tuple[int, int]]:
    """Cells of the greatest mean of each column."""
    columns = range(len(means[0]))
    return frozenset((max(range(len(means)), key=lambda row: means[row][c]), c + 1) for c in columns)


def _runs(trial: FocusTrial) -> str:
    runs = trial.values["harvest"][BEST_FIRST.name].shape[1]
    return f"mean and 95% interval of {runs} runs" if runs > 1 else "one run"


def _mark(values: FloatArray, base: FloatArray) -> str:
    return "*" if paired_test(values, base).significant else ""
