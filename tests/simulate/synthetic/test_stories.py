"""Synthetic webs made for a paper's premise: pages that follow pages, and topics that decide who gains links."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.stats import spearmanr

from recrawl.errors import InputError
from recrawl.features.newlinks import Targets, new_links
from recrawl.papers.experts.snapshots import behaviour_flips, snapshots_of
from recrawl.recording.recording import Recording
from recrawl.see.change import distance_of
from recrawl.see.words import bag_of
from recrawl.simulate.synthetic.makeup import Stories
from recrawl.simulate.synthetic.presets import preset
from recrawl.simulate.synthetic.stories import NOBODY, tell
from recrawl.simulate.synthetic.synthesis import SyntheticWeb, draw_web, synthesize


@cache
def web() -> SyntheticWeb:
    return draw_web(preset("stories"), 120, 60.0, 3)


@cache
def recording() -> Recording:
    return synthesize("stories", 120, 60.0, 3)


def test_significant_changes_are_common() -> None:
    """Pages that tell stories flip between change and no change on more than 30% of the days, the paper's filter."""
    snapshots = snapshots_of(recording(), 1.0)
    flips = behaviour_flips(snapshots.changed("significant"), snapshots.there)
    assert 40 <= (flips >= 0.3).sum() <= 80
    assert (flips > 0).sum() < 80


def test_followers_repeat_their_leaders() -> None:
    """A follower tells nine of ten stories of its leader, exactly its lag in days later."""
    made = web()
    none = np.zeros(0, dtype=np.int64)
    empty = replace(made.history, page=none.astype(np.int32), day=none.astype(np.float32), newborn=none, announced=none)
    history, telling = tell(Stories(), made.pages, empty, 60.0, np.random.default_rng(1))
    follower = int(np.flatnonzero(telling.lag == 2)[0])

    def told(page: int) -> dict[int, int]:
        part = slice(history.start[page], history.start[page + 1])
        story, step = telling.story[part], history.day[part].astype(int)
        return {int(s): int(d) for s, d in zip(story, step, strict=True) if s != NOBODY}

    leader, own = told(int(telling.leader[follower])), told(follower)
    shared = set(leader) & set(own)
    assert len(shared) > 0.75 * sum(day < 58 for day in leader.values())
    assert all(own[story] == leader[story] + 2 for story in shared)


def test_counts_are_those_of_the_texts() -> None:
    """Words, additions, removals, cosine and significance of every change are computed from the two texts."""
    made = web()
    assert made.texts is not None
    first, later = made.texts
    for change in range(0, len(later), 97):
        page = int(made.history.page[change])
        old = first[page] if change == made.history.start[page] else later[change - 1]
        distance = distance_of(bag_of(old), bag_of(later[change]))
        assert made.edits.added[change] == distance.added
        assert made.edits.words[change] == len(later[change].split())
        assert made.edits.chi2_p[change] == pytest.approx(np.nan_to_num(distance.p, nan=1.0), abs=1e-6)


def test_too_many_texts_are_refused() -> None:
    """A web with a text per version has a size of its own, named in one line."""
    with pytest.raises(InputError, match=r"too many for texts: at most 1e\+06 page-days, 5494 pages"):
        synthesize("stories", 20_000)


def test_topics_decide_who_gains_links() -> None:
    """On topic-links a page's link change rate goes with that of its topic; on weekly-links hardly."""
    rho = {}
    for name in ("topic-links", "weekly-links"):
        made = synthesize(name, 3_000, seed=1, only=("links",))
        rate = Targets.of(new_links(made, np.arange(0.0, 64.0, 7.0))[0]).lcr
        topic = np.unique(np.asarray(made.page("topic")).astype(str), return_inverse=True)[1]
        around = (np.bincount(topic, rate) / np.bincount(topic))[topic]
        rho[name] = float(spearmanr(rate, around).statistic)
    assert rho["topic-links"] > 0.55
    assert rho["weekly-links"] < 0.3
