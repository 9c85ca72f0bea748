"""Download errors as in the paper's data (Santos et al. 2014, section 5): drawn, filtered, and filled in.

A recording has exact change times and no errors. To see what errors do to the results, each daily download may fail
with some probability. Pages with more than two errors are left out. Where a download failed, nobody knows whether the
page had changed; the paper guesses from "the most frequent period without changes in the first d - 1 days": the page
counts as changed on day d if that many days or more have passed since its last change. Of equally frequent periods
the shortest is taken, and a page with fewer than two changes so far has no period and counts as unchanged.
"""

from __future__ import annotations

import numpy as np

from recrawl.columns import BoolArray, FloatArray
from recrawl.compiled import kernel
from recrawl.errors import InputError
from recrawl.plan import Plan
from recrawl.recording.recording import Recording

MOST_ERRORS = 2


def with_errors(recording: Recording, plan: Plan, share: float) -> tuple[Recording, float]:
    """Return what a crawler that downloads every page in every cycle notes, and the share of downloads that failed."""
    cycles = plan.cycles(recording)
    ends = recording.start + plan.cycle_days * np.arange(1, cycles + 1, dtype=np.float64)
    changed = changes_by_cycle(recording, ends)
    failed = np.random.default_rng([plan.seed, 2012]).random(changed.shape) < share
    kept = failed.sum(axis=1) <= MOST_ERRORS
    if not kept.any():
        raise InputError(f"with {100 * share:g}% of errors every page has more than {MOST_ERRORS}: nothing is left")
    noted = noted_changes(changed[kept], failed[kept])
    return _recording(recording.keep(kept), noted, ends), float(failed[kept].mean())


def changes_by_cycle(recording: Recording, ends: FloatArray) -> BoolArray:
    """Return pages x cycles: whether the page changed in the cycle that ends then."""
    page = np.repeat(np.arange(len(recording)), np.diff(recording.change_start))
    cycle = np.searchsorted(ends, recording.change_day)
    changed = np.zeros((len(recording), len(ends)), dtype=np.bool_)
    inside = cycle < len(ends)
    changed[page[inside], cycle[inside]] = True
    return changed


@kernel
def noted_changes(changed: BoolArray, failed: BoolArray) -> BoolArray:
    """Return what is noted per page and cycle: changes since the last download that worked, and guesses elsewhere."""
    pages, cycles = changed.shape
    noted = np.zeros((pages, cycles), dtype=np.bool_)
    gaps = np.zeros(cycles + 1, dtype=np.int64)
    for page in range(pages):
        gaps[:] = 0
        last = -1  # the cycle in which a change was last noted
        missed = False  # a change that no download has shown yet
        for cycle in range(cycles):
            missed = missed or changed[page, cycle]
            if failed[page, cycle]:
                period = np.argmax(gaps)
                noted[page, cycle] = gaps[period] > 0 and cycle - last >= period
            else:
                noted[page, cycle] = missed
                missed = False
            if noted[page, cycle]:
                if last >= 0:
                    gaps[cycle - last] += 1
                last = cycle
    return noted


def _recording(pages: Recording, noted: BoolArray, ends: FloatArray) -> Recording:
    """Make a recording of what was noted."""
    page, cycle = np.nonzero(noted)
    sites = np.unique(pages.site)
    names = np.array(pages.site_names, dtype=object)[sites]
    tables = {
        "sites": {"site_id": sites, "days": np.full(len(sites), ends[-1]), "repo": names},
        "pages": {
            "page_id": pages.page_ids,
            "site_id": pages.site,
            "born_day": np.full(len(pages), min(pages.start, 0.0)),
            "died_day": np.full(len(pages), np.nan),
        },
        "changes": {"page_id": pages.page_ids[page], "day": ends[cycle]},
    }
    return Recording.from_arrays(tables, pages.name).window(pages.start, pages.end)
