"""What of the paper on focused crawling holds for one topic, over all sets of seeds."""

from __future__ import annotations

import numpy as np

from recrawl.columns import FloatArray
from recrawl.evaluate.statistics import paired_test
from recrawl.focus.strategy import BEST_FIRST
from recrawl.papers.base import Finding
from recrawl.papers.focus.focus_protocol import TopicResult

MORE, WHERE_TO = "Do evolved strategies find more?", "Where do they look?"


def findings(result: TopicResult) -> list[Finding]:
    """Check the paper's findings on one topic."""
    short, long = f"{result.sizes[0]:,}", f"{result.sizes[-1]:,}"
    mine, other = _pooled(result, "harvest", 0)
    harvest = paired_test(mine, other)
    mine, other = _pooled(result, "mean distance", -1)
    mine_early, other_early = _pooled(result, "mean distance", 0)
    distance = paired_test(mine, other)
    links = f"{mine.mean():.2f} against {other.mean():.2f} links at {long} pages (p = {distance.p:.2g})"
    early = f"{mine_early.mean():.2f} against {other_early.mean():.2f} at {short}"
    mine, other = _pooled(result, "overall cohesiveness", 0)
    cohesion = paired_test(mine, other)
    into = f"{mine.mean():.2f} against {other.mean():.2f} links a page into the community at {short} pages"
    late = paired_test(*_pooled(result, "harvest", -1)[::-1])
    return [
        _community(result),
        Finding.tested(
            MORE,
            "evolved strategies outperform Best-First on crawls of the length they were evolved for",
            harvest,
            f"{harvest.difference:+.3f} harvest at {short} pages (p = {harvest.p:.2g})",
        ),
        Finding.tested(
            WHERE_TO,
            "evolved strategies stay closer to the seeds than Best-First",
            distance,
            f"mean distance {links}; {early}",
            sign=-1,
        ),
        Finding.tested(WHERE_TO, "evolved crawls are more cohesive than Best-First's", cohesion, into),
        Finding.tested(
            MORE,
            "Best-First wins the long crawl (the paper: on its sparse topic only)",
            late,
            f"{late.difference:+.3f} harvest of Best-First over evolved at {long} pages (p = {late.p:.2g})",
        ),
    ]


def _pooled(result: TopicResult, measure: str, size: int) -> tuple[FloatArray, FloatArray]:
    """Values of the best strategy and of Best-First, run by run, from all sets of seeds."""
    names = (result.evolved[0].name, BEST_FIRST.name)
    mine, other = (np.concatenate([trial.values[measure][name][size] for trial in result.trials]) for name in names)
    return mine, other


def _community(result: TopicResult) -> Finding:
    weights = result.evolved[0].parts[0]
    groups = {
        "COMM": weights["COMM_in"] + weights["COMM_out"],
        "PARENT": sum(weights[f"PARENT_{k}"] for k in range(1, 6)),
        "HUB + AUTHORITY": weights["HUB"] + weights["AUTHORITY"],
    }
    base = result.trials[0].values["harvest"][result.evolved[0].name][0].mean()
    lost = {name: float(base - values[0].mean()) for name, values in result.ablation.items()}
    worst = max(lost, key=lambda name: lost[name])
    shown = ", ".join(f"{name} {weight:.2f}" for name, weight in groups.items())
    return Finding(
        "Which scores weigh most?",
        "the community scores weigh most",
        "yes" if max(groups, key=lambda name: groups[name]) == "COMM" else "no",
        f"weights: {shown}; the harvest falls most {worst} (by {lost[worst]:.3f})",
    )
