"""The learned policy: its features, its prior, its objectives and what happens when the learner fails."""

from __future__ import annotations

import logging
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.cycle import EveryPage, run_cycle
from recrawl.describe.evidence import FEATURES, STRENGTH, Evidence
from recrawl.describe.places import LEVELS, Places
from recrawl.errors import InputError
from recrawl.predict.hazard import Hazard
from recrawl.predict.objectives import parse_objective
from recrawl.schedule.catalog import make_policy
from recrawl.schedule.learned import Learned
from recrawl.schedule.policy import Setting
from recrawl.simulate.recorded import RecordedWorld
from recrawl.simulate.synthetic import synthesize


def learned(spec: str = "learned") -> Learned:
    policy = make_policy(spec, Setting(seed=1))
    assert isinstance(policy, Learned)
    return policy


def test_a_page_belongs_to_its_site_section_directories_name_and_prefix() -> None:
    """Pages share a group exactly where they share that part of their address on the same site."""
    places = Places()
    paths = np.array(["a/b/c/v-1.md", "a/b/c/v-2.md", "a/b/d/v-1.md", "a/b/c/v-1.md"], dtype=object)
    places.place(np.arange(4), np.array([0, 0, 0, 1]), paths, 4)
    same = {level: places.ids[0, j] == places.ids[1, j] for j, level in enumerate(LEVELS)}
    assert same == dict.fromkeys(LEVELS, True) | {"name": False}
    elsewhere = {level: places.ids[0, j] == places.ids[2, j] for j, level in enumerate(LEVELS)}
    assert elsewhere == {
        "site": True, "section": True, "parent": True, "directory": False, "name": True, "prefix": False,
    }  # fmt: skip
    assert not (places.ids[0] == places.ids[3]).any()


def test_an_index_page_counts_as_a_page_of_the_directory_above() -> None:
    """docs/guide/index.html stands for docs/guide, next to docs/intro.html."""
    places = Places()
    paths = np.array(["docs/guide/index.html", "docs/intro.html"], dtype=object)
    places.place(np.arange(2), np.zeros(2, dtype=np.int64), paths, 2)
    directory = LEVELS.index("directory")
    assert places.ids[0, directory] == places.ids[1, directory]


@given(st.lists(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=6), min_size=1, max_size=8))
def test_evidence_since_the_last_visit_is_what_a_recount_gives(cycles: list[list[tuple[int, bool]]]) -> None:
    """visits_since and share_since of a page's site are those of all visits after its own last one."""
    places, evidence = Places(), Evidence()
    paths = np.array([f"d{page % 2}/p{page}.html" for page in range(6)], dtype=object)
    places.place(np.arange(6), np.zeros(6, dtype=np.int64), paths, 6)
    evidence.make_room(len(places), 6)
    events: list[tuple[int, bool]] = []  # in order; None marks nothing
    asked = dict.fromkeys(range(6), 0)  # how many events were known at the page's last visit
    for number, visits in enumerate(cycles, 1):
        visits = list(dict(visits).items())
        pages = np.array([page for page, _ in visits], dtype=np.int64)
        changed = np.array([found for _, found in visits], dtype=np.bool_)
        evidence.begin_cycle(np.zeros(1, dtype=np.int64))
        evidence.update(pages, places.ids, changed, np.ones(len(pages)), number)
        events += visits
        evidence.settle(pages, places.ids)
        asked |= dict.fromkeys(pages.tolist(), len(events))
        out = np.empty((6, len(LEVELS) * len(FEATURES)), dtype=np.float32)
        evidence.describe(np.arange(6), places.ids, number, out)
        for page in range(6):
            news = [found for _, found in events[asked[page] :]]
            assert out[page, FEATURES.index("visits_since")] == len(news)
            share = out[page, FEATURES.index("share_since")]
            assert math.isnan(share) if not news else share == pytest.approx(sum(news) / len(news))


def test_the_prior_shrinks_from_the_site_down_to_the_page() -> None:
    """r <- (C + S r) / (E + S) for site, parent and directory, then the page's own changes with strength 4."""
    places, evidence = Places(), Evidence()
    places.place(np.arange(1), np.zeros(1, dtype=np.int64), np.array(["a/b/c.html"], dtype=object), 1)
    evidence.make_room(len(places), 1)
    evidence.base = 0.1
    page = np.zeros(1, dtype=np.int64)
    evidence.update(page, places.ids, np.array([True]), np.array([2.0]), 1)
    rate = 0.1
    for _ in range(3):
        rate = (1.0 + STRENGTH * rate) / (2.0 + STRENGTH)
    expected = (1 + 4.0 * rate) / (2.0 + 4.0)
    assert evidence.rates(page, places.ids, np.array([1]), np.array([2.0]))[0] == pytest.approx(expected)


def test_the_indices_are_those_derived_in_the_module() -> None:
    """With rate 0.5 and t = 2: x = 1, freshness (1 - 2/e)/0.5, age 2 - (1 - 2/e)/0.25, links p times links."""
    p, t, links = np.array([1 - math.exp(-1.0)]), np.array([2.0]), np.array([3.0])
    gained = 1 - 2 / math.e
    for text, worth in [
        ("changes", p[0]),
        ("freshness", gained / 0.5),
        ("age", 2.0 - gained / 0.25),
        ("links", 3 * p[0]),
        ("changes+0.5*links", p[0] + 1.5 * p[0]),
    ]:
        assert parse_objective(text).index(p, t, links)[0] == pytest.approx(worth)


@pytest.mark.parametrize("text", ["", "profit", "2*", "changes+", "-1*links"])
def test_an_unknown_objective_is_refused_in_one_line(text: str) -> None:
    """What is not a sum of the four objectives is bad input."""
    with pytest.raises(InputError, match="unknown objective"):
        parse_objective(text)


class _Broken:
    def predict(self, *_: object, **__: object) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.array([np.nan])


def test_a_model_that_returns_nan_hands_over_to_the_prior_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    """The prior is returned, the fault is kept, and the warning comes once."""
    hazard = Hazard(("a",))
    rows, prior = np.zeros((1, 1), dtype=np.float32), np.array([0.25])
    for _ in range(2):
        hazard.model = _Broken()  # type: ignore[assignment]
        with caplog.at_level(logging.WARNING):
            assert hazard.probability(rows, prior) is prior
    assert hazard.fault is not None
    assert len(caplog.records) == 1


def test_it_finds_more_changes_than_age_where_changes_are_contagious() -> None:
    """On a mixed synthetic web with site-wide edits it finds more changes than the longest unvisited first."""
    recording = synthesize("mixed", 1500, 84, seed=3)
    found = {}
    for name in ("age", "learned"):
        world = RecordedWorld(recording)
        memory = world.memory(cycle_days=7.0, seed=1)
        policy = make_policy(name, Setting(seed=1))
        visits = [
            visit
            for cycle in range(12)
            for visit in run_cycle(
                world,
                memory,
                EveryPage(policy) if cycle < 2 else policy,
                len(memory) if cycle < 2 else 75,
                recording.start + 7.0 * (cycle + 1),
            )
            if cycle >= 2
        ]
        found[name] = sum(int(visit.changed.sum()) for visit in visits)
    assert found["learned"] > 1.1 * found["age"]


def test_no_page_waits_longer_than_the_limit() -> None:
    """With wait=6 and a budget that allows it, every page is visited at least every 7 cycles."""
    recording = synthesize("poisson", 300, 40, seed=2)
    world = RecordedWorld(recording)
    memory = world.memory(cycle_days=1.0, seed=1)
    policy = learned("learned(wait=6)")
    for cycle in range(40):
        chooser = EveryPage(policy) if cycle < 1 else policy
        run_cycle(world, memory, chooser, len(memory) if cycle < 1 else 75, recording.start + cycle + 1.0)
        assert memory.waited().max() <= 7
