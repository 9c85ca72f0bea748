"""Every measure against a crawl of four pages that can be followed by hand.

Cycles of a day, a warm-up of one, two visits per cycle. Page 0 changes at 1.25, 2.5 and 2.75, page 1 at 1.5, page 2
never, page 3 at 0.5, and dies at 3.25. The crawler visits

    cycle 2 (at day 2): page 2 (unchanged), page 0 (stale since 1.25)      stale pages: 0, 1
    cycle 3 (at day 3): page 1 (stale since 1.5), page 2 (unchanged)       stale pages: 0 (since 2.5), 1
    cycle 4 (at day 4): page 3 (gone), page 0 (stale since 2.5)            stale pages: 0; 3 is dead
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.cli import main
from recrawl.columns import FloatArray
from recrawl.cycle import EveryPage, run_cycle
from recrawl.errors import InputError, UnknownNameError
from recrawl.evaluate.crawl import CrawlResult, clairvoyant, crawl
from recrawl.evaluate.measures.all_measures import Measure, make_measure, make_measures, measures
from recrawl.evaluate.measures.ranking import NDCG, ChangeRate
from recrawl.memory import Memory
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy
from recrawl.policies.topk import TopK
from recrawl.policy import Setting
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld
from support.real_recordings import THREE_SITES
from support.small_recordings import Script, open_policies, random_tables, recording

SECOND = 1 / math.log(3)  # what a changed page gains at rank 2
VISITS = Script({2: (2, 0), 3: (1, 2), 4: (3, 0)})
PLAN = Plan(cycle_days=1.0, budget=2, warmup=1)


def four_pages() -> Recording:
    return recording(
        4,
        [(1.25, 2.5, 2.75), (1.5,), (), (0.5,)],
        died=[np.nan, np.nan, np.nan, 3.25],
        new_internal=[2, 0, 1, 5, 7],
        new_external=[1, 3, 0, 0, 7],
    )


def measured(text: str) -> tuple[CrawlResult, Measure]:
    measure = make_measure(text)
    return crawl(four_pages(), VISITS, PLAN, [measure], importance=np.array([2.0, 1.0, 1.0, 4.0])), measure


EXAMPLES = {
    # measure: (its value in cycles 2, 3 and 4, its value over the crawl)
    # Santos 2014 eq. 1: one of two visits found a change in each cycle
    "ChangeRate": ((1 / 2, 1 / 2, 1 / 2), 1 / 2),
    # weights 2, 1, 1, 4 have the mean 2; pages 0, 1 and 0 were found changed
    "ChangeRate(weighted)": ((1 / 2, 0.5 / 2, 1 / 2), 1.25 / 3),
    # Santos 2014 eqs. 2-3: found at rank 2 of 2 stale, at rank 1 of 2 stale, at rank 2 of 1 stale
    "NDCG": ((SECOND / (1 + SECOND), 1 / (1 + SECOND), SECOND), (1 + SECOND) / 3),
    "NDCG@1": ((0, 1, 0), 1 / 3),
    "NDCG@25%": ((0, 1, 0), 1 / 3),
    # Cho & Garcia-Molina 2003: fresh until 1.25, 1.5, always, always; 2.5, never, always, always; never, always, ...
    "Freshness": ((2.75 / 4, 2.5 / 4, 2.25 / 4), 2.5 / 4),
    "Freshness(weighted)": (
        ((2 * 0.25 + 0.5 + 1 + 4) / 8, (2 * 0.5 + 0 + 1 + 4) / 8, (0 + 1 + 1 + 4 * 0.25) / 8),
        (6 + 6 + 3) / 24,
    ),
    # integrals of t - s: page 0 from 1.25, 1 from 1.5; page 0 from 2.5, 1 all day; page 0 all day, 3 from 3.25
    "Age": (
        (
            (0.75**2 + 0.5**2) / 2 / 4,
            (0.5**2 + 1.5**2 - 0.5**2) / 2 / 4,
            (1.5**2 - 0.5**2 + 0.75**2) / 2 / 4,
        ),
        (0.8125 + 2.25 + 2.5625) / 2 / 4 / 3,
    ),
    "Age(weighted)": (
        (
            (2 * 0.75**2 + 0.5**2) / 2 / 8,
            (2 * 0.5**2 + 1.5**2 - 0.5**2) / 2 / 8,
            (2 * (1.5**2 - 0.5**2) + 4 * 0.75**2) / 2 / 8,
        ),
        (1.375 + 2.5 + 6.25) / 2 / 8 / 3,
    ),
    # after the visits page 1, page 0 and none is stale; then page 3 is known to be gone
    "FreshnessEnd": ((3 / 4, 3 / 4, 3 / 3), 2.5 / 3),
    # found at 2 since 1.25, at 3 since 1.5, at 4 since 2.5
    "Delay": ((0.75, 1.5, 1.5), 3.75 / 3),
    # changes at 1.25, 1.5 | 2.5, 2.75 | none; so far
    "ChangesFound": ((1 / 2, 2 / 4, 3 / 4), 3 / 4),
    # page 0: 2+1; page 1: 5+0; page 0: 0+3 and 1+0
    "NewLinks": ((3 / 2, 5 / 2, 4 / 2), 12 / 6),
    "NewLinks(internal)": ((2 / 2, 5 / 2, 1 / 2), 8 / 6),
    "NewLinks(external)": ((1 / 2, 0, 3 / 2), 4 / 6),
    "NewPages": ((0, 0, 0), 0),
    # 2 and 0 are new picks, then 1, then 3
    "NewPicks": ((2 / 2, 1 / 2, 1 / 2), 4 / 6),
    # days since the last visit: 0 1 0 1 | 1 0 0 2 | 0 1 1
    "Unvisited@1d": ((0, 1 / 4, 0), 1 / 12),
    "Unvisited@50%": ((0, 0, 1), 1 / 3),
    "Unvisited@99%": ((1, 2, 1), 4 / 3),
    "Spent": ((1, 1, 1), 1),
}


@pytest.mark.parametrize("text", EXAMPLES)
def test_every_measure_has_its_hand_computed_value(text: str) -> None:
    """Each measure gives, per cycle and over the crawl, what one computes by hand."""
    result, measure = measured(text)
    cycles, total = EXAMPLES[text]
    assert result.cycles.tolist() == [2, 3, 4]
    assert result.per_cycle(measure) == pytest.approx(cycles)
    assert result.value(measure) == pytest.approx(total)


def test_every_registered_measure_has_an_example() -> None:
    """No measure goes without a hand-computed example."""
    shown = {make_measure(text).name for text in EXAMPLES}
    elsewhere = {
        "FreshnessAt10",
        "MAPAt10",
        "WorstSite",
    }  # test_search_quality has pages with words, test_worstsite sites
    assert {make_measure(entry.name).name for entry in measures} == shown | elsewhere


@pytest.mark.parametrize("text", [*EXAMPLES, "Unvisited@30d"])
def test_a_measure_is_a_value(text: str) -> None:
    """A measure reads back from its own text, equal and with the same hash."""
    measure = make_measure(text)
    assert measure == make_measure(repr(measure))
    assert hash(measure) == hash(make_measure(text))
    assert repr(measure) == text
    assert measure.better in ("higher", "lower")
    assert measure.description


def test_names_of_one_measure_are_equal() -> None:
    """ChangeRatio is ChangeRate, and the default of Unvisited is 30 days; NDCG@1 is not NDCG@100%."""
    assert make_measure("ChangeRatio") == ChangeRate()
    assert make_measure("Unvisited") == make_measure("Unvisited@30d")
    assert make_measure("NDCG@1").spec != make_measure("NDCG@100%").spec
    assert make_measures("NDCG@5%, NDCG@5%,ChangeRate") == (NDCG(0.05), ChangeRate())


def test_unknown_measure_suggests_the_nearest() -> None:
    """A slip in a name gets the nearest name."""
    with pytest.raises(UnknownNameError, match="did you mean 'ChangeRate'"):
        make_measure("ChangeRat")


@pytest.mark.parametrize(
    "text",
    ["NDCG@0", "NDCG@-3", "NDCG@101%", "NDCG@nan%", "NDCG@x", "Unvisited@30", "Unvisited@0d", "Unvisited@101%",
     "ChangeRate(heavy)", "ChangeRate@5", "Delay(1)", "NewLinks(both)", "NDCG(", ""],
)  # fmt: skip
def test_impossible_measures_are_refused(text: str) -> None:
    """A measure with a senseless argument is an input error, not a number."""
    with pytest.raises(InputError):
        make_measures(text)


def test_cycle_without_stale_pages_has_ndcg_0_and_without_visits_no_change_rate() -> None:
    """Nothing to find is NDCG 0 (the authors' program); no visit at all has no ChangeRate rather than 0."""
    web = recording(3, [(), ()])
    result = crawl(web, Script({2: (0,)}), Plan(1.0, 1, 1), make_measures("NDCG,ChangeRate,Spent"))
    assert result.per_cycle(NDCG()).tolist() == [0, 0]
    np.testing.assert_equal(result.per_cycle(ChangeRate()), [0, np.nan])
    assert result.value(ChangeRate()) == 0
    assert result.spent == result.value(make_measure("Spent")) == 0.5


def test_new_pages_are_counted_where_a_visit_shows_them() -> None:
    """A page born at 1.5 and linked from page 0 since its change at 1.5 is found by the visit to page 0."""
    web = recording(3, [(1.5,), (), ()], born=[0, 0, 1.5], links=[(0, 1.5, 2)])
    result = crawl(web, Script({2: (0,), 3: (2,)}), Plan(1.0, 1, 1), make_measures("NewPages,ChangeRate,Freshness"))
    assert result.per_cycle(make_measure("NewPages")).tolist() == [1, 0]
    assert result.per_cycle(ChangeRate()).tolist() == [1, 0]  # a first visit is not a change
    assert result.per_cycle(make_measure("Freshness")).tolist() == [(0.5 + 1) / 2, 1]  # no copy of page 2 yet


def test_weights_default_to_one() -> None:
    """Without importance a weighted measure is the plain one."""
    plain, weighted = make_measures("Age,Age(weighted)")
    result = crawl(four_pages(), VISITS, PLAN, [plain, weighted])
    assert result.value(plain) == result.value(weighted)


class ByNewLinks:
    """Scores pages by the new links they have shown so far."""

    def score(self, memory: Memory, at: float) -> FloatArray:
        return memory.new_links.sum(axis=1).astype(np.float64)


def test_measuring_does_not_change_the_crawl() -> None:
    """A policy that goes by new links makes the same visits whether new links are measured or not."""
    web = Recording.open(THREE_SITES).window(300, 364)

    def rates(text: str) -> list[float]:
        result = crawl(web, lambda setting: TopK(ByNewLinks()), Plan(7.0, 0.1, 2), make_measures(text))
        return result.per_cycle(ChangeRate()).tolist()

    assert rates("ChangeRate") == rates("ChangeRate,NewLinks,NewPages,Age")


seeds = st.integers(0, 2**31)


@settings(max_examples=25, deadline=None)
@given(seed=seeds, budget=st.integers(1, 12), k=st.integers(1, 30), name=st.sampled_from(["rand", "cg", "oracle"]))
def test_shares_stay_between_0_and_1(seed: int, budget: int, k: int, name: str) -> None:
    """NDCG and all other shares lie in [0, 1] in every cycle of every crawl."""
    web = Recording.from_arrays(random_tables(20, 8, seed, births=True))
    budget = min(budget, int((web.born <= 0).sum()))
    shares = make_measures(f"NDCG,NDCG@{k},ChangeRate,Freshness,FreshnessEnd,NewPicks,Unvisited@2d,Spent")
    result = crawl(web, name, Plan(1.0, budget, 1, seed=seed, discover="birth"), shares)
    for measure in shares:
        values = result.per_cycle(measure)
        assert ((np.isnan(values)) | ((values >= 0) & (values <= 1 + 1e-12))).all(), measure


@settings(max_examples=15, deadline=None)
@given(seed=seeds, budget=st.integers(1, 20), before=st.integers(0, 4))
def test_no_policy_finds_more_in_a_cycle_than_the_oracle(seed: int, budget: int, before: int) -> None:
    """From the same memory, the oracle's next cycle finds at least as many changes as any policy's."""
    web = Recording.from_arrays(random_tables(20, 8, seed))

    def found(spec: str) -> tuple[int, int]:
        world = RecordedWorld(web)
        memory = world.memory(cycle_days=1.0, seed=seed)
        policy = make_policy(spec, Setting(seed=seed, truth=world if clairvoyant(spec) else None))
        past = make_policy("rand", Setting(seed=seed))
        run_cycle(world, memory, EveryPage(policy), len(memory), 1.0)
        for cycle in range(before):
            run_cycle(world, memory, past, 5, 2.0 + cycle)
        rounds = run_cycle(world, memory, policy, budget, 2.0 + before)
        return sum(int(v.changed.sum()) for v in rounds), sum(len(v) for v in rounds)

    most, visits = found("oracle")
    assert visits == budget
    for spec in open_policies():
        changed, made = found(spec)
        assert changed <= most, spec
        assert changed / max(made, 1) <= most / visits or made < visits, spec


def test_recrawl_measures(capsys: pytest.CaptureFixture[str]) -> None:
    """The verb lists every measure with what it means, for people and as JSON."""
    assert main(["measures"]) == 0
    shown = capsys.readouterr().out
    assert all(any(line.startswith(entry.name) for line in shown.splitlines()) for entry in measures)
    assert main(["measures", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert list(rows) == [entry.name for entry in measures]
    assert all(row["meaning"] for row in rows.values())
    assert rows["Age"] == {
        "name": "Age",
        "written": "Age or Age(weighted)",
        "meaning": make_measure("Age").description,
        "unit": "days",
        "better": "lower",
        "source": "Cho & Garcia-Molina 2003",
    }
