"""The whole experiment on related pages: predictions of every protocol, then the crawls of Fig 8."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recrawl.evaluate.compare import Comparison
from recrawl.papers.experts.experts_crawl import CrawlSetting, run_crawls
from recrawl.papers.experts.experts_protocol import ExpertsProtocol, choose_pages
from recrawl.papers.experts.experts_trials import TrialOutcome, run_protocol
from recrawl.papers.experts.snapshots import Snapshots, behaviour_flips, snapshots_of
from recrawl.progress import Advance, silent
from recrawl.recording.recording import Recording


@dataclass(frozen=True)
class ExpertsExperiment:
    """The predictions of every protocol, and the crawls of Fig 8 by set of pages."""

    outcomes: Sequence[TrialOutcome]
    crawls: Mapping[str, Comparison]


def run_experiment(
    recording: Recording, protocols: Sequence[ExpertsProtocol], crawl_seeds: int, advance: Advance = silent
) -> ExpertsExperiment:
    """Run every protocol; `crawl_seeds` is how often each crawl is repeated, 0 leaves the crawls out."""
    seen: dict[float, Snapshots] = {}
    outcomes, crawls = [], {}
    for protocol in protocols:
        if protocol.step_days not in seen:
            seen[protocol.step_days] = snapshots_of(recording, protocol.step_days, advance=advance)
        outcomes.append(run_protocol(recording, seen[protocol.step_days], protocol, advance))
    if crawl_seeds:
        first = seen[protocols[0].step_days]
        flips = behaviour_flips(first.changed(), first.there)
        _, rows, _ = choose_pages(flips, protocols[0])
        sets = {"pages that pass the filter": first.pages[rows], "all pages with text": first.pages}
        crawls = run_crawls(recording, sets, CrawlSetting(seed=protocols[0].seed, repeats=crawl_seeds), advance)
    return ExpertsExperiment(outcomes, crawls)
