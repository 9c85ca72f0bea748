"""The learned policy as a crawler: rounds, limits, importance, caps, births, explanations, saving."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recrawl.columns import FloatArray
from recrawl.cycle import EveryPage, run_cycle
from recrawl.errors import InputError
from recrawl.evaluate.crawl import crawl
from recrawl.evaluate.measures.all_measures import make_measures
from recrawl.memory import Memory
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy
from recrawl.policies.learned.learned import HOT, Learned
from recrawl.policies.learned.places import PARENT
from recrawl.policies.learned.rounds import longest, most_unfetched, round_size, rounds_of, spread
from recrawl.policy import Setting
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld
from support.real_recordings import THREE_SITES
from support.small_recordings import random_tables, tables


def learned(spec: str = "learned", seed: int = 1) -> Learned:
    policy = make_policy(spec, Setting(seed=seed))
    assert isinstance(policy, Learned)
    return policy


class Crawl:
    """A crawl of a recording with one policy, cycle by cycle."""

    def __init__(
        self, web: Recording, policy: Learned, budget: int, *, importance: FloatArray | None = None, cap: int = 0
    ) -> None:
        self.world = RecordedWorld(web, discover="birth")
        self.memory: Memory = self.world.memory(cycle_days=1.0, seed=1)
        self.memory.importance = importance
        self.policy, self.budget, self.cap = policy, budget, cap
        self.chosen: list[list[int]] = []

    def run(self, cycles: int, warmup: int = 2) -> Crawl:
        for _ in range(cycles):
            cycle = self.memory.cycle + 1
            asked: Any = EveryPage(self.policy) if cycle <= warmup else self.policy
            budget, cap = (self.budget, self.cap) if cycle > warmup else (len(self.memory), 0)
            found = run_cycle(self.world, self.memory, asked, budget, float(cycle), site_cap=cap)
            self.chosen.append([int(page) for visits in found for page in visits.pages])
        return self


def directories(pages: int, days: int, busy: int) -> Recording:
    """Return a web of ten directories; every page of directory `busy` changes on every third day, no other does."""
    changes = [[d + 0.5 for d in range(0, days, 3)] if page % 10 == busy else [] for page in range(pages)]
    made = tables(days, changes)
    made["pages"]["path"] = np.array([f"d{page % 10}/p{page}.md" for page in range(pages)], dtype=object)
    return Recording.from_arrays(made)


def test_a_round_takes_few_pages_of_a_place_that_was_not_asked_yet() -> None:
    """Groups get their room and what they already had; what is left over goes to the best that were passed."""
    ids = np.array([[0], [0], [0], [0], [1], [1]], dtype=np.int32)
    order, asked = np.arange(6), np.array([0.0, 1.0])
    assert spread(order, ids, asked, np.array([1]), 3).tolist() == [0, 4, 5]
    assert spread(order, ids, asked, np.array([1]), 5).tolist() == [0, 4, 5, 1, 2]


def test_budget_goes_where_neighbours_changed() -> None:
    """Where one directory of ten is edited again and again, most visits after the warm-up go there."""
    done = Crawl(directories(400, 30, 3), learned(), 40).run(30)
    late = [page for pages in done.chosen[12:] for page in pages]
    assert np.mean([page % 10 == 3 for page in late]) > 0.5


def test_pages_that_fall_due_together_are_begun_early() -> None:
    """Five pages that fall due in two cycles, with two visits per cycle: 5 - 2 * 2 = 1 must go now."""
    everyone = np.ones(6, dtype=np.bool_)
    tie = np.arange(6, dtype=np.uint64)
    waited = np.array([8.0, 8.0, 8.0, 8.0, 8.0, 1.0])
    assert longest(waited, everyone, tie, 10, 2).tolist() == [0]
    assert longest(waited, everyone, tie, 10, 3).tolist() == []
    assert longest(waited, everyone, tie, 8, 2).tolist() == [0, 1, 2, 3, 4]


def test_no_page_waits_longer_than_the_limit() -> None:
    """With wait=12 and a budget that allows it, no page is left unvisited for more than 12 cycles."""
    done = Crawl(directories(120, 40, 3), learned("learned(wait=12)"), 20).run(40)
    last = np.zeros(120)
    for cycle, pages in enumerate(done.chosen, start=1):
        last[pages] = cycle
        assert (cycle - last).max() <= 12


def test_the_limit_on_waiting_holds_for_unimportant_pages() -> None:
    """A page of importance 0 is visited when its time has come: no limit times nothing is no number."""
    done = Crawl(directories(60, 30, 3), learned("learned(wait=10)"), 12, importance=np.zeros(60)).run(30)
    assert {page for pages in done.chosen[2:16] for page in pages} == set(range(60))


def test_importance_moves_visits() -> None:
    """Of pages alike in all else, the more important are visited more often."""
    web = Recording.from_arrays(tables(20, [[d + 0.5 for d in range(20)]] * 60))
    weight = np.where(np.arange(60) < 30, 1.0, 5.0)
    done = Crawl(web, learned("learned(explore=0)"), 10, importance=weight).run(20)
    visits = np.bincount([page for pages in done.chosen[2:] for page in pages], minlength=60)
    assert visits[30:].sum() > 2 * visits[:30].sum()


def test_site_caps_hold() -> None:
    """No site gets more than its cap, and the budget is spent elsewhere."""
    web = Recording.from_arrays(random_tables(90, 12, 4, sites=3, births=True))
    done = Crawl(web, learned(), 30, cap=7).run(12)
    for pages in done.chosen[2:]:
        assert np.bincount(done.memory.site[pages]).max() <= 7


def test_the_same_seed_makes_the_same_crawl() -> None:
    """Two crawls with one seed choose the same pages in the same order."""
    web = Recording.from_arrays(random_tables(200, 15, 2, births=True))
    assert Crawl(web, learned(), 20).run(15).chosen == Crawl(web, learned(), 20).run(15).chosen


def test_an_explanation_adds_up() -> None:
    """After training, a page has a chance between 0 and 1, at most ten causes in words, and a next visit."""
    done = Crawl(directories(400, 30, 3), learned(), 40).run(20)
    done.memory.begin_cycle()
    done.policy.begin(done.memory, 21.0)
    told = done.policy.explain(13)
    assert 0.0 < told.chance < 1.0
    assert 0 < len(told.causes) <= 10
    assert any("/d3/" in cause.words for cause in told.causes)
    assert told.next_visit is not None
    assert f"{told.chance:.0%}" in str(told)
    assert str(told).endswith("\n  ".join(["", *done.policy.notes]))
    assert any(note.startswith("exploring: ") for note in told.notes), "and what exploring has cost and brought"


def test_a_page_without_a_copy_has_no_explanation() -> None:
    """Asked about a page that was never fetched, the policy says so in one line."""
    with pytest.raises(InputError, match="has not been fetched yet"):
        learned().explain(0)


def test_real_pages() -> None:
    """On three real sites, weekly at 5%, it finds at least 1.7 times as many changes as the oldest-first rule."""
    web = Recording.open(THREE_SITES).window(0, 364).fixed()
    found = make_measures("ChangeRate")
    rates = {
        spec: crawl(web, spec, Plan(7.0, 0.05, seed=1, exact_links=False), found).value(found[0])
        for spec in ("age", "learned")
    }
    assert rates["learned"] > 1.7 * rates["age"]


@pytest.mark.parametrize(
    ("most", "budget", "rounds"),
    [(24, 2_000, 24), (24, 384, 24), (24, 200, 12), (24, 100, 8), (24, 0, 8), (24, 20_000, 12), (24, 50_000, 8)],
)
def test_a_cycle_has_fewer_rounds_where_they_would_be_tiny_or_dear(most: int, budget: int, rounds: int) -> None:
    assert rounds_of(most, budget) == rounds
    assert rounds_of(3, budget) == 3  # whoever asks for fewer gets them


def test_rounds_share_a_budget_evenly_whatever_the_first_one_took() -> None:
    """100 visits in 8 rounds, 30 of them in the first: seven rounds of 10."""
    assert [round_size(100, 8, 1), round_size(70, 8, 2), round_size(10, 8, 8), round_size(4, 8, 9)] == [13, 10, 10, 4]
    assert most_unfetched(13, 2_000, 24) == 250  # first visits go in eighths
    assert most_unfetched(13, 10, 1) == 13


def test_surprises_of_several_rounds_have_a_group_scored_again_once() -> None:
    """Two changes at .6 in two rounds are .76 more than was expected: above HOT together, neither of them alone."""
    policy, web = learned(), Recording.from_arrays(tables(9, [[0.5]] * 6))
    crawl = Crawl(web, policy, 2)
    policy.begin(crawl.memory, 1.0)
    belief = policy.belief
    belief.evidence.make_room(len(belief.places), len(web))
    belief.surprise = np.zeros(len(belief.evidence.groups))
    parent = belief.places.ids[0, PARENT]
    policy._score[:6], policy._budget = 0.6, 1
    for cycle, page in enumerate((0, 1)):
        belief.cycle = cycle + 1
        belief.learn(crawl.world.visit(np.array([page]), 1.0), policy._score)
        assert (belief.surprise[parent] > HOT) == (page == 1)
    assert belief.surprise[parent] == pytest.approx(0.9 * 0.4 + 0.4)
    assert policy._candidates(np.arange(6)).tolist() == list(range(6))  # all are of this directory
    assert belief.surprise[parent] == 0.0
    assert len(policy._candidates(np.arange(6))) == 4  # the best for a budget of one
