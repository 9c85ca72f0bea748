"""Policies that learn from their own visits and those of other pages."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.cycle import EveryPage, run_cycle
from recrawl.errors import InputError
from recrawl.features.page_words import hashed, words_of
from recrawl.policies.catalogue import make_policy
from recrawl.policies.experts.expert_policy import NO_WORDS, Experts
from recrawl.policies.experts.visit_experts import related_pages, train
from recrawl.policies.experts.visit_log import VisitLog, own_at, rate_of, related_at
from recrawl.policy import NO_SIGNIFICANCE, Setting
from recrawl.recording.recording import Recording
from recrawl.see.words import bag_of
from recrawl.simulate.recorded import RecordedWorld
from support.handmade_memory import visits
from support.small_recordings import Tables, following_pages, recording, tables


def crawl(made: Tables, spec: str, days: int = 40, budget: int = 2, warmup: int = 12) -> tuple[Experts, list[int]]:
    """Crawl, and return the policy and how often each page was visited after the warm-up."""
    world = RecordedWorld(Recording.from_arrays(made))
    memory = world.memory(cycle_days=1.0, seed=1)
    policy = make_policy(spec, Setting(1))
    assert isinstance(policy, Experts)
    count = np.zeros(len(memory), dtype=np.int64)
    for day in range(1, days):
        rounds = run_cycle(world, memory, EveryPage(policy) if day <= warmup else policy, budget + 99 * (day <= warmup),
                           float(day))  # fmt: skip
        if day > warmup:
            np.add.at(count, np.concatenate([v.pages for v in rounds]), 1)
    return policy, count.tolist()


def test_the_log_keeps_the_last_visits() -> None:
    """Lines are in the order of time, the oldest fall out, and the window then begins where they ended."""
    log = VisitLog(kept=3)
    log.make_room(2)
    log.hold(np.array([0, 1]), 0)
    for cycle, changed in ((2, True), (3, False), (5, True), (9, False)):
        log.add(np.array([1]), cycle, np.array([changed]), np.array([4.0]), None)
    assert log.cycle[1].tolist() == [3, 5, 9]
    assert log.begin[1] == 2
    assert log.rate(np.array([1]))[0] == pytest.approx(-np.log(2.5 / 4) * 3 / 7)
    assert log.mixed(3).tolist() == [1]
    series = log.series(np.array([1]), 9, 8)[0]
    assert series.tolist() == [0, 0, 0, 0.5, 0.5, 0, 0, 0]  # cycles 1 to 8: found in cycle 5, after a gap of 2


def test_features_of_visits_by_hand() -> None:
    """What is known before a cycle comes from earlier ones alone: frequency, last outcomes, size, who moved since."""
    log = VisitLog()
    log.make_room(2)
    log.hold(np.array([0, 1]), 0)
    for cycle, changed in ((1, False), (2, True), (4, False)):
        log.add(np.array([0]), cycle, np.array([changed]), np.array([9.0 * changed]), None)
    out = np.empty(5)
    own_at(6, 3, log.columns, 0, out)
    assert out == pytest.approx([np.log(rate_of(1, 3, 4)), 0.0, 1.0, np.log(10), np.log(5)])
    own_at(2, 1, log.columns, 0, out)
    assert out == pytest.approx([np.log(rate_of(0, 1, 1)), 0.0, 0.0, 0.0, np.log(3)])
    beside = np.empty(4)
    related_at(3, 3, log.columns, 0, 0, beside)
    assert beside.tolist() == [1.0, 0.0, 0.0, 0.0]  # seen in cycle 4, unchanged
    related_at(3, 1, log.columns, 0, 0, beside)
    assert beside.tolist() == [1.0, 1.0, 0.0, 0.0]


def test_related_pages_are_those_that_changed_before() -> None:
    """An expert of a page is one of its site whose changes were seen earlier; the page itself comes first."""
    log = VisitLog()
    log.make_room(3)
    pages = np.arange(3)
    log.hold(pages, 0)
    draw = np.random.default_rng(0)
    lead = draw.random(31) < 0.3
    for cycle in range(1, 31):
        seen = np.array([lead[cycle - 1], lead[cycle], lead[cycle]])
        log.add(pages, cycle, seen, np.ones(3), None)
    found = related_pages(log, pages, np.array([0, 0, 1]), np.arange(3), 30, 2, 30)
    assert [experts.tolist() for experts, _ in found] == [[0, 1], [1, 0], [2]]
    assert found[0][1][1] > found[1][1][1] > 0
    models = train(log, pages, found)
    assert models.probability(log, 31).shape == (3,)
    assert ((models.probability(log, 31) > 0) & (models.probability(log, 31) < 1)).all()


@pytest.mark.parametrize("spec", ["expert-1d", "expert-2d", "expert-3d", "expert-3d(pick=coin)"])
def test_visits_go_where_changes_are(spec: str) -> None:
    """A page that changes daily is visited most, one that never does hardly ever, and the budget is spent."""
    _, count = crawl(following_pages(), spec)
    assert sum(count) == 2 * 27
    assert count[2] > count[3]
    assert count[2] == max(count)


def test_significant_changes_can_be_chased() -> None:
    """With change=significant only visits that showed another distribution of words count: page 4 is the one."""
    _, count = crawl(following_pages(), "expert-2d(change=significant)")
    assert count[4] == max(count)
    _, count = crawl(following_pages(), "expert-1d(change=any)", budget=1)
    assert count[2] == max(count)


def test_sizes_can_be_chased() -> None:
    """With change=size a page whose changes are large is visited before one that changes as often by little."""
    made = tables(30, [[d + 0.5 for d in range(30)]] * 2)
    made["changes"]["d_words_added"] = np.where(made["changes"]["page_id"] == 1, 500, 1)
    made["changes"]["d_words_removed"] = np.zeros(60, dtype=np.int64)
    _, count = crawl(made, "expert-1d(change=size)", days=30, budget=1)
    assert count == [0, 17]


def test_what_the_world_does_not_show_is_noted() -> None:
    """Without words or tests of significance the policies go by changes alone, and say so."""
    made = following_pages()
    del made["texts"], made["changes"]["chi2_p"]
    policy, count = crawl(made, "expert-3d(change=significant)")
    assert set(policy.notes) == {NO_WORDS, NO_SIGNIFICANCE}
    assert sum(count) == 2 * 27
    assert crawl(following_pages(), "expert-3d")[0].notes == ()


def test_a_visit_shows_the_words_of_its_time() -> None:
    """Words are those of the version that stands at the visit, and whether a change was significant is told."""
    world = RecordedWorld(Recording.from_arrays(following_pages()))
    seen = world.visit(np.array([2, 3, 4]), 3.0)
    assert seen.words is not None
    assert seen.significant is not None
    bag = bag_of("page2 news2")
    assert seen.words()[0] == pytest.approx(hashed(bag.bucket, bag.count))
    assert seen.significant.tolist() == [False, False, bool(seen.changed[2])]
    bare = RecordedWorld(recording(3, [[1.0]])).visit(np.array([0]), 2.0)
    assert bare.words is None
    assert bare.significant is None


def test_first_terms_stand_in_for_texts() -> None:
    """A recording with hashed terms of first and last versions shows the first ones only: the last are the future."""
    made = tables(3, [[1.0], []])
    made["terms"] = {
        "page_id": np.array([0, 0]),
        "when": np.array(["start", "end"], dtype=np.object_),
        "bucket": np.array([[5], [6, 7]], dtype=np.object_),
        "count": np.array([[2], [2, 1]], dtype=np.object_),
        "total": np.array([2, 3]),
    }
    words = words_of(Recording.from_arrays(made))
    assert words.known
    rows = words.rows(np.array([0, 1]), 2.5)
    assert rows[0].nonzero()[0].tolist() == [5]
    assert not rows[1].any()


def test_bad_arguments() -> None:
    """Wrong options are refused with one line."""
    for spec in ("expert-1d(change=none)", "expert-2d(every=-1)", "expert-3d(C=0)", "expert-3d(pick=best)"):
        with pytest.raises(InputError):
            make_policy(spec, Setting())


def test_a_policy_without_visits_has_an_opinion() -> None:
    """Before any visit, and after visits that all failed, pages can still be chosen."""
    policy = make_policy("expert-3d", Setting())
    world = RecordedWorld(Recording.from_arrays(following_pages()))
    memory = world.memory(cycle_days=1.0)
    memory.begin_cycle()
    policy.begin(memory, 1.0)
    assert len(policy.choose(memory, 3, 1.0)) == 3
    policy.learn(memory, visits([0, 1], "xx", 1.0))
    assert len(policy.choose(memory, 3, 1.0)) == 3
