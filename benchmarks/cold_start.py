"""Cold start: how many changes a crawl finds in its first cycles with and without another crawler's history.

    python -m benchmarks.cold_start RECORDING...

The first half of each site's recorded time is crawled by somebody else: a fifth of the pages per week, in turn. That
history is adopted (`recrawl adopt csv -C`), or it is not. Then both crawls fetch every page once, so that they hold the
same copies, and go on under the same policy for four weeks with a twentieth of the pages per week. Found changes are
those of these four cycles; `all` is what there was to find: pages that changed since the copy was taken.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from recrawl.clock import SystemClock
from recrawl.live.facade import Crawl
from recrawl.live.planner import Planner
from recrawl.live.reported import Seen
from recrawl.live.warm_start import warm_start
from recrawl.recording.recording import Recording
from recrawl.urls.url import normalise

WEEK, CYCLES, ROUNDS = 7.0, 4, 8
EPOCH = 18_000.0  # the recordings' day 0 on the crawl's calendar
SETTINGS = '[crawl]\nevery = "7d"\nbudget = "5%"\nsignals = false\n'
POLICIES = ("bayes", "learned")
RECORDINGS = ("tests/data/three-sites", "../shared/data/gitweb")
LEAST, MOST, SITES = 100, 1500, 12  # pages of a site that is taken, and sites of a recording


class Calendar(SystemClock):
    """A clock that the benchmark sets."""

    day = 0.0

    def now(self) -> float:
        return EPOCH + self.day


class Site:
    """The pages of one site that exist from the first day to the last, and their versions."""

    def __init__(self, recording: Recording, site: int) -> None:
        alive = (recording.born <= recording.start) & ~(recording.died <= recording.end) & (recording.site == site)
        paths, start = recording.page("path"), recording.change_start
        address = {
            normalise(f"https://s{site}.example/{str(paths[page]).lstrip('/')}") or "": page
            for page in np.flatnonzero(alive).tolist()
        }
        self.urls = list(address)
        self._days = [recording.change_day[start[page] : start[page + 1]] for page in address.values()]

    def versions(self, day: float) -> list[str]:
        """A digest of every page on a day."""
        return [str(int((days <= day).sum())) for days in self._days]

    def write_history(self, path: Path, until: float) -> None:
        """A fifth of the pages per week, in turn."""
        share = max(1, len(self.urls) // 5)
        with path.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["url", "time", "digest"])
            for week in range(1, int(until / WEEK) + 1):
                versions = self.versions(week * WEEK)
                for i in range((week - 1) * share, week * share):
                    page = i % len(self.urls)
                    rows.writerow([self.urls[page], (EPOCH + week * WEEK) * 86_400.0, versions[page]])


def found(folder: Path, site: Site, policy: str, middle: float, history: Path | None, seed: int) -> list[int]:
    """Crawl four weeks; return the changes found in each."""
    crawl = Crawl.create(folder, f"{SETTINGS}seed = {seed}\n")
    if history is not None:
        warm_start(crawl, "csv", [history])
    clock = Calendar()
    clock.day = middle
    budget = max(1, round(0.05 * len(site.urls)))
    counts = []
    with Planner.open(folder, policy=policy, clock=clock) as planner:
        planner.begin(budget=len(site.urls))
        planner.report([Seen(url, digest=v) for url, v in zip(site.urls, site.versions(middle), strict=True)])
        for cycle in range(1, CYCLES + 1):
            clock.day = middle + WEEK * cycle
            planner.begin(budget=budget)
            version = dict(zip(site.urls, site.versions(clock.day), strict=True))
            changed = 0
            while chosen := planner.next(-(-budget // ROUNDS)):
                told = planner.report([Seen(each.url, digest=version[each.url]) for each in chosen])
                changed += told.outcomes.get("changed", 0)
            counts.append(changed)
    return counts


def main(paths: Sequence[str] = RECORDINGS, seeds: int = 3) -> None:
    """Print what is found per policy, over all sites and seeds."""
    sums = {(policy, warm): np.zeros(CYCLES) for policy in POLICIES for warm in (False, True)}
    there = sites = pages = 0
    with tempfile.TemporaryDirectory() as name:
        for path in filter(lambda path: Path(path).is_dir(), paths):
            recording = Recording.open(path)
            middle = WEEK * int((recording.end - recording.start) / WEEK / 2)
            taken = [Site(recording, number) for number in np.unique(recording.site).tolist()]
            taken = [site for site in taken if LEAST <= len(site.urls) <= MOST][:SITES]
            for number, site in enumerate(taken):
                sites, pages = sites + 1, pages + len(site.urls)
                before, after = site.versions(middle), site.versions(middle + WEEK * CYCLES)
                there += sum(a != b for a, b in zip(before, after, strict=True))
                history = Path(name) / "history.csv"
                site.write_history(history, middle)
                for (policy, warm), total in sums.items():
                    for seed in range(seeds):
                        folder = Path(name) / f"{Path(path).name}-{number}-{policy}-{warm}-{seed}"
                        total += np.array(found(folder, site, policy, middle, history if warm else None, seed))
    print(f"{sites} sites, {pages:,} pages, {there:,} of them changed within the four weeks; means over {seeds} seeds")
    for (policy, warm), total in sums.items():
        each = "  ".join(f"{count:7.1f}" for count in total / seeds)
        print(f"{policy:8} {'with' if warm else 'without':8} {each}   all four: {total.sum() / seeds:.1f}")


if __name__ == "__main__":
    main(sys.argv[1:] or RECORDINGS)
