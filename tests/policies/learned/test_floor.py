"""The promise per site: debts by what the oldest-first rule would find, paid with the likeliest pages."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.columns import BoolArray, FloatArray, PageIds
from recrawl.evaluate.crawl import crawl
from recrawl.evaluate.measures.all_measures import make_measures
from recrawl.plan import Plan
from recrawl.policies.learned.floor import STRENGTH, Floor
from recrawl.recording.recording import Recording
from recrawl.visits import Outcome, Visits
from support.small_recordings import tables


def visits_of(pages: PageIds, changed: BoolArray) -> Visits:
    none = np.zeros(len(pages), dtype=np.int32)
    outcome = np.where(changed, Outcome.CHANGED, Outcome.UNCHANGED).astype(np.uint8)
    return Visits(pages, np.ones(len(pages)), outcome, none, none, np.zeros(len(pages)), np.empty(0, dtype=np.int64))


def chosen(floor: Floor, chance: FloatArray, site: list[int], budget: int, cycle: int, room: int = 9) -> list[int]:
    pages = np.arange(len(chance))
    sites, waited, tie = np.array(site), np.ones(len(chance)), np.arange(len(chance), dtype=np.uint64)
    sent: list[int] = floor.choose(pages, sites, chance, waited, tie, budget, room, cycle).tolist()
    return sent


def test_a_site_that_scores_leave_out_is_owed_what_oldest_first_finds() -> None:
    """First cycle, 10 of 40 pages: oldest first finds 10/40 * 30 * .1 = .75 changes on the second site, by 30 pages."""
    chance = np.concatenate([np.full(10, 0.5), np.full(30, 0.1)])
    site = [0] * 10 + [1] * 30
    floor = Floor(0.8)
    sent = chosen(floor, chance, site, 10, 1)
    k = (1.0 + STRENGTH) / (1.0 + STRENGTH)  # nothing expected or found yet
    assert floor.due[1] == pytest.approx(0.25 * 30 * 0.1 * k)
    assert floor.debt[1] == pytest.approx(0.8 * 0.75)
    assert sent == [10]  # a tenth of the budget; the first site is served by the scores and owed nothing
    floor.learn(np.array(site), visits_of(np.array([0, 10]), np.array([True, True])))
    assert floor.debt[1] == pytest.approx(0.6 - 1.0)
    assert str(floor) == (
        "floor 0.8 per site: 1 visits found 1 changes, where the last pages by score would have brought 0"
    )


def test_no_site_is_paid_where_nearly_every_visit_finds_a_change_or_a_change_costs_too_many_elsewhere() -> None:
    """The last pages chosen have .9: too dear. They have .5 and the others .01: a change would cost 50 elsewhere."""
    site = [0] * 10 + [1] * 30
    dear = np.concatenate([np.full(10, 0.9), np.full(30, 0.1)])
    rare = np.concatenate([np.full(10, 0.5), np.full(30, 0.01)])
    assert chosen(Floor(1.0), dear, site, 10, 1) == []
    assert chosen(Floor(1.0), rare, site, 10, 1) == []
    assert chosen(Floor(1.0), rare, site, 40, 1) == []  # every page is visited anyway


def test_what_could_not_be_paid_fades_slowly() -> None:
    """A site is owed .75 changes a cycle and gets no visit for 50 cycles: about two thirds of that are still owed."""
    site, floor = [0] * 10 + [1] * 30, Floor(1.0)
    chance = np.concatenate([np.full(10, 0.5), np.full(30, 0.1)])
    for cycle in range(1, 51):
        assert chosen(floor, chance, site, 10, cycle, room=0) == []
    assert floor.due[1] > 0.75 * 50  # a visit after more than one cycle finds more
    assert 0.6 * floor.due[1] < floor.debt[1] < 0.7 * floor.due[1]


def test_a_slow_site_beside_a_busy_one_is_found_as_much_as_by_age() -> None:
    """60 busy pages, 550 still ones, 50 that change once in 60 days: .8 of what age finds on each site, at least."""
    draw = np.random.default_rng(3)
    changes = [[day + 0.5 for day in range(60) if draw.random() < 0.5] for _ in range(60)]
    changes += [[] for _ in range(550)]
    changes += [sorted(draw.uniform(0, 60, draw.poisson(1))) for _ in range(50)]
    web = Recording.from_arrays(tables(60, changes, site=[0] * 60 + [1] * 550 + [2] * 50))
    worst = make_measures("WorstSite")
    ratio = {
        spec: crawl(web, spec, Plan(1.0, 40, seed=1, exact_links=False), worst).value(worst[0])
        for spec in ("learned", "learned(floor=0)")
    }
    assert ratio["learned"] > 0.8
    assert ratio["learned"] > ratio["learned(floor=0)"]
