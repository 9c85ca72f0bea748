"""The whole experiment on related pages: predictions of every protocol, then the crawls of Fig 8."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recrawl.columns import IntArray
from recrawl.errors import InputError
from recrawl.evaluate.compare import Comparison, compare
from recrawl.evaluate.measures.all_measures import make_measures
from recrawl.evaluate.measures.freshness import FreshnessEnd
from recrawl.evaluate.measures.measure import Measure
from recrawl.evaluate.work_engine import LOCAL
from recrawl.papers.experts.batch_crawl import BatchCrawl, batch_crawl
from recrawl.papers.experts.experts_protocol import ExpertsProtocol, choose_pages
from recrawl.papers.experts.experts_trials import TrialOutcome, run_protocol
from recrawl.papers.experts.snapshots import Snapshots, behaviour_flips, snapshots_of
from recrawl.plan import Plan
from recrawl.progress import Advance, silent
from recrawl.recording.recording import Recording


@dataclass(frozen=True)
class ExpertsExperiment:
    """The predictions of every protocol, and the crawls of Fig 8 by set of pages."""

    outcomes: Sequence[TrialOutcome]
    crawls: Mapping[str, Comparison]
    left_out: Sequence[str] = ()  # protocols that could not be run, and why
    batch: BatchCrawl | None = None  # the crawl by the models of Tables 1 to 3, of the first protocol


def run_experiment(
    recording: Recording,
    protocols: Sequence[ExpertsProtocol],
    crawl_seeds: int,
    advance: Advance = silent,
    engine: str = LOCAL,
) -> ExpertsExperiment:
    """Run every protocol; `crawl_seeds` is how often each crawl is repeated, 0 leaves the crawls out.

    Crawls run on the engine, with the same results.
    """
    seen: dict[float, Snapshots] = {}
    outcomes, crawls, left_out = [], {}, list[str]()
    for protocol in protocols:
        if protocol.step_days not in seen:
            seen[protocol.step_days] = snapshots_of(recording, protocol.step_days, advance=advance)
        try:
            outcomes.append(run_protocol(recording, seen[protocol.step_days], protocol, advance))
        except InputError as error:
            if len(protocols) == 1:
                raise
            left_out.append(f"{protocol.name} could not be run: {error}")
    if not outcomes:
        raise InputError("; ".join(left_out))
    batch = None
    if crawl_seeds:
        try:
            batch = _batch(seen, outcomes[0], crawl_seeds, advance)
        except InputError as error:
            left_out.append(f"no crawl by the models of Tables 1 to 3: {error}")
        first = seen[protocols[0].step_days]
        flips = behaviour_flips(first.changed(), first.there)  # of any change, which is what the crawls look for
        _, rows, _ = choose_pages(flips, protocols[0])
        sets = {"pages that pass the filter": first.pages[rows], "all pages with text": first.pages}
        crawls = run_crawls(recording, sets, CrawlSetting(seed=protocols[0].seed, repeats=crawl_seeds), advance, engine)
    return ExpertsExperiment(outcomes, crawls, left_out, batch)


def _batch(seen: Mapping[float, Snapshots], outcome: TrialOutcome, seeds: int, advance: Advance) -> BatchCrawl:
    """Crawl the pages that pass the filter by the models that predicted them."""
    protocol = outcome.protocol
    snapshots = seen[protocol.step_days]
    changed = snapshots.changed(protocol.change, protocol.rule)
    _, rows, _ = choose_pages(behaviour_flips(changed, snapshots.there), protocol)
    return batch_crawl(snapshots.take(rows.astype(np.int64)), changed[rows], protocol, outcome.cost, seeds, advance)


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
    recording: Recording,
    sets: Mapping[str, IntArray],
    setting: CrawlSetting,
    advance: Advance = silent,
    engine: str = LOCAL,
) -> dict[str, Comparison]:
    """Crawl each set of pages under every policy, with several seeds: how fresh copies are kept by visits to one page
    in ten each day (Fig 8 of Radinsky & Bennett 2013).
    """
    end = min(recording.start + setting.days, recording.end)
    out = {}
    for name, pages in sets.items():
        kept = np.zeros(len(recording), dtype=np.bool_)
        kept[pages] = True
        part = recording.keep(kept).window(recording.start, end)
        plan = Plan(setting.cycle_days, _budget(part, setting.budget), setting.warmup, seed=setting.seed)
        measures = [FRESHNESS, *make_measures("ChangeRate")]
        chosen = [*COINS, *DIMENSIONS, *OTHERS]
        out[name] = compare(part, chosen, measures, plan, repeats=setting.repeats, engine=engine, advance=advance)
    return out


def _budget(recording: Recording, share: float) -> float | int:
    """The share, or one visit where that is less than one."""
    pages = int((recording.born <= recording.start).sum())
    return share if round(share * pages) >= 1 else 1
