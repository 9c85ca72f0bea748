"""Fig 8 of Radinsky & Bennett 2013: how fresh a crawler keeps its copies that visits one page in ten each day."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from recrawl.columns import IntArray
from recrawl.evaluate.compare import Comparison, compare
from recrawl.evaluate.measures.all_measures import make_measures
from recrawl.evaluate.measures.freshness import FreshnessEnd
from recrawl.evaluate.measures.measure import Measure
from recrawl.plan import Plan
from recrawl.progress import Advance, silent
from recrawl.recording.recording import Recording

DIMENSIONS = ("expert-1d", "expert-2d", "expert-3d")
COINS = tuple(f"{name}(pick=coin)" for name in DIMENSIONS)
OTHERS = ("age", "cg")
FRESHNESS: Measure = FreshnessEnd()
BUDGET = 0.1


@dataclass(frozen=True)
class CrawlSetting:
    """How the crawl is run: the paper watches for 160 days."""

    days: float = 182.0
    cycle_days: float = 1.0
    budget: float = BUDGET
    warmup: int = 2
    repeats: int = 5
    seed: int = 0


def run_crawls(
    recording: Recording, sets: Mapping[str, IntArray], setting: CrawlSetting, advance: Advance = silent
) -> dict[str, Comparison]:
    """Crawl each set of pages under every policy, with several seeds."""
    end = min(recording.start + setting.days, recording.end)
    out = {}
    for name, pages in sets.items():
        kept = np.zeros(len(recording), dtype=np.bool_)
        kept[pages] = True
        part = recording.keep(kept).window(recording.start, end)
        plan = Plan(setting.cycle_days, _budget(part, setting.budget), setting.warmup, seed=setting.seed)
        measures = [FRESHNESS, *make_measures("ChangeRate")]
        chosen = [*COINS, *DIMENSIONS, *OTHERS]
        out[name] = compare(part, chosen, measures, plan, repeats=setting.repeats, advance=advance)
    return out


def _budget(recording: Recording, share: float) -> float | int:
    """The share, or one visit where that is less than one."""
    pages = int((recording.born <= recording.start).sum())
    return share if round(share * pages) >= 1 else 1
