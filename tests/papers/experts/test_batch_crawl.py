"""The batch crawl of section 8.3: models of Tables 1 to 3, learnt once, and a crawler that sees its copies alone."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from recrawl.columns import BoolArray
from recrawl.errors import InputError
from recrawl.papers.experts.batch_crawl import METHODS, BatchModels, batch_crawl, visits_of
from recrawl.papers.experts.batch_tables import batch_findings, batch_json, batch_table
from recrawl.papers.experts.expert_learners import Describer, decisions
from recrawl.papers.experts.experts_protocol import SIGNIFICANT
from recrawl.papers.experts.snapshots import Snapshots, behaviour_flips, snapshots_of
from recrawl.simulate.synthetic.synthesis import synthesize

SMALL = replace(SIGNIFICANT, train=20, experts=4)


@cache
def watched() -> tuple[Snapshots, BoolArray]:
    """The pages of a small web of stories that pass the filter."""
    snapshots = snapshots_of(synthesize("stories", 60, 70.0, 5), 1.0)
    changed = snapshots.changed("significant")
    rows = np.flatnonzero(behaviour_flips(changed, snapshots.there) >= 0.3)
    return snapshots.take(rows), changed[rows]


def test_models_of_a_step_answer_as_they_did_then() -> None:
    """Asked about the step at which they were learnt, frozen classifiers give the answer of the sliding window."""
    snapshots, changed = watched()
    council = Describer(snapshots, changed, SMALL.window).council(0, np.array([1, 2]))
    rolling = decisions(council, np.array([40]), 20, 1.0, ensembles=False)
    frozen = decisions(council, np.array([40, 45]), 20, 1.0, ensembles=False, learnt_at=40)
    assert np.array_equal(rolling[:, 0], frozen[:, 0], equal_nan=True)
    assert not np.array_equal(frozen[:, 0], frozen[:, 1], equal_nan=True)


def test_the_crawl() -> None:
    """Every method visits one page in ten per step, from the same observed steps; the report has them all."""
    snapshots, changed = watched()
    crawl = batch_crawl(snapshots, changed, SMALL, 1.0, 1)
    assert set(crawl.fresh) == set(METHODS)
    assert crawl.visits == visits_of(crawl.pages) == round(0.1 * crawl.pages)
    assert all(0 < fresh.mean() < 1 for fresh in crawl.fresh.values())
    assert len(crawl.by_step("2D")) == crawl.steps == 70 - crawl.observed
    assert len(batch_table(crawl).rows) == 4
    assert len(batch_findings(crawl)) == 4
    assert batch_json(crawl)["freshness"]["1D"]["mean"] == pytest.approx(crawl.by_page("1D").mean())


def test_the_crawler_sees_its_copies_alone() -> None:
    """What happens after a step, and to pages that are not visited, changes no chance of the next step."""
    snapshots, changed = watched()
    batch = BatchModels(snapshots, changed, SMALL, 1.0)
    later = snapshots.version.copy()
    later[:, batch.begin + 1 :] = later[:, batch.begin][:, None]
    other = replace(snapshots, version=later)
    altered = changed.copy()
    altered[:, batch.begin + 1 :] = False
    still = BatchModels(other, altered, SMALL, 1.0)
    view = snapshots.version[:, batch.begin - 2 : batch.begin + 1]
    moved = changed[:, batch.begin - 2 : batch.begin + 1]
    for method in METHODS:
        assert batch.chances(method, view, moved) == pytest.approx(still.chances(method, view, moved))


def test_a_short_recording_has_no_crawl() -> None:
    """Where too few steps are left after those observed, one line says so."""
    snapshots, changed = watched()
    with pytest.raises(InputError, match="too few for a crawl after 81 observed ones"):
        batch_crawl(snapshots, changed, SIGNIFICANT, 1.0, 1)
