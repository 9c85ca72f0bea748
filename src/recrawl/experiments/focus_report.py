"""What the experiment on focused crawling found: tables for people, results.json for machines, one page for both."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Sequence
from typing import Any

from recrawl.columns import FloatArray
from recrawl.evaluate.statistics import Interval, interval, paired_test
from recrawl.experiments.focus import MEASURES, TopicResult, Trial, findings, weight_rows, with_topic
from recrawl.experiments.focus_plots import CAPTIONS, draw
from recrawl.focus.baselines import BEST_FIRST
from recrawl.focus.strategy import to_json as strategy_json

Table = tuple[str, list[str], list[list[str]]]  # title, heads, rows

STYLE = """
:root { --paper: #fbfcfd; --ink: #1f2a36; --soft: #64717e; --grid: #dfe4ea; --card: #fff; }
body { margin: 0 auto; max-width: 1100px; padding: 2rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h2 { margin-top: 3rem; } h3 { margin: 1.8rem 0 .4rem; font-size: 1rem; }
.soft, figcaption { color: var(--soft); font-size: .9rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .875rem; background: var(--card); }
th, td { padding: .35rem .7rem; text-align: right; border-bottom: 1px solid var(--grid); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
figure { margin: 1.2rem 0; background: var(--card); border: 1px solid var(--grid); padding: .8rem; }
figure svg { width: 100%; height: auto; }
pre { background: var(--card); border: 1px solid var(--grid); padding: .8rem; white-space: pre-wrap; }
"""


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
    out["report.html"] = page(results, svgs, command).encode()
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


def _trial_json(trial: Trial) -> dict[str, Any]:
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
    out = [_weights(result)]
    for trial in result.trials:
        out += [_measure_table(result, trial, measure) for measure in MEASURES]
    out.append(_ablation(result))
    if result.options:
        out.append(_options(result))
    out.append(("What of the paper holds", ["claim", "holds", "seen"],
                [[f.claim, "yes" if f.holds else "no", f.seen] for f in findings(result)]))  # fmt: skip
    return out


def _weights(result: TopicResult) -> Table:
    rows = [[name, *(f"{value:.3f}" for value in values)] for name, values in weight_rows(result.evolved)]
    rows.append(["fitness", *(f"{strategy.found['fitness']:.3f}" for strategy in result.evolved)])
    title = f"Weights evolved on crawls of {result.sizes[0]:,} pages (Table 1)"
    return title, ["score", *(strategy.name for strategy in result.evolved)], rows


def _measure_table(result: TopicResult, trial: Trial, measure: str) -> Table:
    base = trial.values[measure][BEST_FIRST.name]
    rows = []
    for name, values in trial.values[measure].items():
        cells = [said(interval(row)) for row in values]
        if name != BEST_FIRST.name and measure == "harvest":
            cells = [c + _mark(row, b) for c, row, b in zip(cells, values, base, strict=True)]
        rows.append([name, *cells])
    note = "; * differs from best-first, paired t-test, 95%" if measure == "harvest" else ""
    title = f"{measure.capitalize()} from {trial.seeds} seeds ({trial.good:,} good of {trial.reach:,} in reach{note})"
    return title, ["strategy", *(f"{size:,} pages" for size in result.sizes)], rows


def _ablation(result: TopicResult) -> Table:
    best = result.evolved[0].name
    rows = [[best, *(said(interval(row)) for row in result.trials[0].values["harvest"][best])]]
    rows += [[name, *(said(interval(row)) for row in values)] for name, values in result.ablation.items()]
    return "Harvest of the best strategy without some of its scores", _heads(result), rows


def _options(result: TopicResult) -> Table:
    best = result.evolved[0].name
    values = result.trials[0].values["harvest"][best]
    rows = [[best, *(said(interval(row)) for row in values)]]
    for name, (_, mine) in result.options.items():
        cells = [said(interval(row)) + _mark(row, b) for row, b in zip(mine, values, strict=True)]
        rows.append([name, *cells])
    return f"Harvest with the paper's ideas for future work; * differs from {best}", _heads(result), rows


def _heads(result: TopicResult) -> list[str]:
    return ["strategy", *(f"{size:,} pages" for size in result.sizes)]


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


def page(results: Sequence[TopicResult], svgs: dict[str, dict[str, bytes]], command: str) -> str:
    """Render everything as one page that loads nothing."""
    parts = ["<h1>Evolved strategies for focused crawling</h1>", f"<pre>{html.escape(command)}</pre>"]
    for result in results:
        parts += [f"<h2>{html.escape(result.name)}</h2>", f'<p class="soft">{html.escape(headline(result))}</p>']
        for name, svg in svgs[result.name].items():
            parts.append(f"<figure>{_inline(svg.decode(), slug(result.name) + name)}")
            parts.append(f"<figcaption>{html.escape(CAPTIONS[name])}</figcaption></figure>")
        parts += [_html_table(table) for table in tables(result)]
    head = f'<meta charset="utf-8"><title>recrawl experiment focus</title><style>{STYLE}</style>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n' + "\n".join(parts) + "\n</body></html>\n"


def _html_table(table: Table) -> str:
    title, heads, rows = table
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in heads)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<h3>{html.escape(title)}</h3><div class="wide"><table><tr>{head}</tr>{body}</table></div>'


def _inline(svg: str, prefix: str) -> str:
    """Take the <svg> element alone, with ids that do not collide with those of other figures."""
    element = svg[svg.index("<svg") :]
    element = re.sub(r'id="([^"]+)"', rf'id="{prefix}-\1"', element)
    return re.sub(r"(url\(#|href=\"#)", rf"\g<1>{prefix}-", element)
