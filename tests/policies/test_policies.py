"""What each policy chooses, worked out by hand; wrong specs; and the list of all policies."""

from __future__ import annotations

import json
from typing import cast

import numpy as np
import pytest

from recrawl.cli import main
from recrawl.columns import FloatArray
from recrawl.cycle import EveryPage, run_cycle
from recrawl.errors import InputError, UnknownNameError
from recrawl.memory import Memory
from recrawl.policies.catalogue import make_policy, policies
from recrawl.policies.classical.allocation import harmonic_rates, periodic_rates
from recrawl.policies.classical.coin import Coin
from recrawl.policies.classical.frequency import Frequency
from recrawl.policies.classical.planned import Planned, Remembered
from recrawl.policy import Setting
from recrawl.simulate.recorded import RecordedWorld
from reference.likeliest import likeliest_rate
from support.handmade_memory import Knows, choice, remember, visits
from support.small_recordings import recording

# -- by hand --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "histories", "best"),
    [
        ("age", ("uuuu", "c...", "cc..", "ccc."), [1, 2, 3, 0]),  # t = 1, 4, 3, 2
        ("tx", ("uuuu", "c...", "cc..", "cc.u"), [2, 1, 3, 0]),  # t X = 0, 4, 6, 2
        ("bayes", ("uuuu", "c...", "cc..", "ccu."), [1, 2, 3, 0]),  # .5/5, 4*1.5/2 = 3, 3*2.5/3 = 2.5, 2*2.5/4
        ("bayes(a=0, b=1)", ("cuuu", "u...", "ccc."), [2, 0, 1]),  # 1/5, 0, 2*3/4
        ("cg", ("ccuu", "cu..", "uuuu"), [1, 0, 2]),  # ln(4.5/2.5) = .59; 3 ln(2.5/1.5) = 1.53; 0
        ("nad", ("cccu", "cu..", "uuuu"), [1, 0, 2]),  # 3/4; 3 * 1/2; 0
        ("sad", ("cccu", "uc..", "uuuc"), [1, 2, 0]),  # 0; 3 * 1; 1
        ("aad", ("cccu", "uuuc", "uuu."), [0, 1, 2]),  # (1+2+3)/10; 4/10; 0
        ("gad", ("cccu", "uuuc", "uuu."), [1, 0, 2]),  # 7/15; 8/15; 0
        ("sad(over=cycles)", ("uuuc", "uc..", "cccu"), [0]),  # only a change in the last cycle counts
    ],
)
def test_scores_by_hand(spec: str, histories: tuple[str, ...], best: list[int]) -> None:
    """Pages are visited from the highest score (Santos et al. 2014, section 5.1), with t from 1 in the fifth cycle."""
    assert choice(spec, *histories, budget=len(best)) == best


def test_importance_multiplies_the_worth_of_a_visit() -> None:
    """A page half as likely to have changed is visited first if it is three times as important."""
    assert choice("nad", "cccc", "ccuu", budget=1) == [0]
    assert choice("nad", "cccc", "ccuu", budget=1, importance=[1.0, 3.0]) == [1]


def test_rand_draws_anew_each_cycle() -> None:
    """Random choices depend on the seed and the cycle, favour no page, and favour important ones in proportion."""
    picks = np.zeros(4)
    weighted = np.zeros(2)
    for seed in range(400):
        picks[choice("rand", "u", "u", "u", "u", budget=1, setting=Setting(seed))[0]] += 1
        weighted[choice("rand", "u", "u", budget=1, setting=Setting(seed), importance=[1.0, 3.0])[0]] += 1
    assert picks == pytest.approx([100] * 4, abs=40)
    assert weighted == pytest.approx([100, 300], abs=40)
    days = {tuple(choice("rand", *["u" * day] * 6, budget=6)) for day in range(1, 6)}
    assert len(days) > 1


def test_round_robin_goes_by_the_exact_time() -> None:
    """Of two pages visited in the same cycle the one visited earlier has its turn first; age sees a tie."""
    for first, second in ((0, 1), (1, 0)):
        memory = remember(".", ".")
        memory.record(visits([first], "u", 1.25))
        memory.record(visits([second], "u", 1.75))
        memory.begin_cycle()
        assert make_policy("round-robin", Setting()).choose(memory, 2, 3.0).tolist() == [first, second]
    assert choice("round-robin", "uu", "u.", budget=2, importance=[9.0, 1.0]) == [1, 0]  # turns before importance


def test_freq_visits_in_proportion() -> None:
    """Rates 1:2:3:6 and 2 visits per cycle: shares 1/6, 1/3, 1/2 and 1, so 10, 20, 30 and 60 visits in 60 cycles."""
    policy = Frequency(lambda memory: np.array([1.0, 2.0, 3.0, 6.0]))
    memory = remember(".", ".", ".", ".")
    count = np.zeros(4)
    for _ in range(60):
        pages = policy.choose(memory, 2, 0.0)
        count[pages] += 1
        found = visits(pages.tolist(), "uu", 0.0)
        policy.learn(memory, found)
        memory.record(found)
        memory.begin_cycle()
    assert count == pytest.approx([10, 20, 30, 60], abs=1)


def test_freq_by_importance() -> None:
    """Importance counts like a rate: of two equal pages the one three times as important comes first."""
    assert choice("freq", "cc", "cc", budget=1, importance=[1.0, 3.0]) == [1]


class Probability:
    """A scorer that says what it was told."""

    def __init__(self, *values: float) -> None:
        self.values = np.array(values)

    def score(self, memory: Memory, at: float) -> FloatArray:
        return self.values


def test_coin_visits_with_the_probability() -> None:
    """Probability 1 is always visited, 0 never, 1/4 in a quarter of the cycles (Radinsky & Bennett 2013)."""
    count = np.zeros(3)
    for seed in range(400):
        count[Coin(Probability(1.0, 0.25, 0.0), seed).choose(remember(".", ".", "."), 3, 1.0)] += 1
    assert count == pytest.approx([400, 100, 0], abs=35)
    assert count[[0, 2]].tolist() == [400, 0]


def test_coin_under_a_limit() -> None:
    """The limit cuts the random order; asked again in the same cycle, the same coins have fallen."""
    memory = remember(*["."] * 50)
    coin = Coin(Probability(*[0.5] * 50), seed=2)
    winners = coin.choose(memory, 50, 1.0)
    assert 10 < len(winners) < 40
    assert coin.choose(memory, 5, 1.0).tolist() == winners[:5].tolist()
    memory.record(visits(winners.tolist(), "u" * len(winners), 1.0))
    assert len(coin.choose(memory, 50, 1.0)) == 0
    filled = Coin(Probability(*[0.5] * 50), seed=2, fill=True).choose(remember(*["."] * 50), 50, 1.0)
    assert filled[: len(winners)].tolist() == winners.tolist()
    assert len(filled) == 50


def test_lambdacrawl_by_hand() -> None:
    """rho t with rho of Kolobov et al. 2019 from the likeliest rates: each step with the paper's formula."""
    histories = ("cc..", "uu..", "cccc", "uuuu")
    gaps = {"cc..": ([1, 1], 0), "uu..": ([], 2), "cccc": ([1] * 4, 0), "uuuu": ([], 4)}
    D = np.array([likeliest_rate(changed, quiet) for changed, quiet in gaps.values()])
    rho = harmonic_rates(np.ones(4), D, 2.0)
    order = np.argsort(-rho * np.array([3, 3, 1, 1])).tolist()
    assert choice("lambdacrawl", *histories, budget=2) == order[:2] == [0, 1]


def test_lambdacrawl_counts_days_not_cycles() -> None:
    """A gap of a weekly cycle is seven days."""
    policy = cast(Planned, make_policy("lambdacrawl", Setting()))
    memory = remember("c", "u", policy=policy, cycle_days=7.0)
    expected = [likeliest_rate([7.0], 0.0) * 7, likeliest_rate([], 7.0) * 7]
    assert policy.rates.per_cycle(memory) == pytest.approx(expected)


def test_freshness_optimal_leaves_the_fastest() -> None:
    """Rates of 1 to 5 and 5 visits: 1.15, 1.36, 1.35, 1.14 and none for the fastest (Cho & Garcia-Molina 2003)."""
    policy = Planned(Remembered(lambda memory: np.array([1.0, 2.0, 3.0, 4.0, 5.0])), periodic_rates)
    assert policy.choose(remember(*["u"] * 5), 5, 2.0).tolist() == [1, 2, 0, 3, 4]


def test_plans_are_made_once_a_cycle() -> None:
    """Asked again within a cycle, a plan is the one made for the whole budget."""
    policy = Planned(Remembered(lambda memory: np.array([1.0, 2.0, 3.0, 4.0, 5.0])), periodic_rates)
    memory = remember(*["u"] * 5)
    first = policy.choose(memory, 5, 2.0)[:2]
    memory.record(visits(first.tolist(), "uu", 2.0))
    assert policy.choose(memory, 3, 2.0).tolist() == [0, 3, 4]


def test_explore_by_hand() -> None:
    """Of four visits a quarter goes to the longest unvisited, after the policy's own; nested shares add up."""
    web = recording(4, [[0.5, 1.5, 2.5]] * 4 + [[]] * 4)

    def rounds(spec: str) -> list[list[int]]:
        world = RecordedWorld(web)
        memory, policy = world.memory(cycle_days=1.0), make_policy(spec, Setting())
        for day in (1, 2):
            run_cycle(world, memory, EveryPage(policy), 8, day)
        run_cycle(world, memory, policy, 4, 3.0)
        return [v.pages.tolist() for v in run_cycle(world, memory, policy, 4, 4.0)]

    plain, explored, nested = rounds("cg"), rounds("explore(cg, 25%)"), rounds("explore(explore(cg, 1), 0.5)")
    assert sorted(plain[0]) == [0, 1, 2, 3]
    assert [len(pages) for pages in explored] == [3, 1]
    assert set(explored[0]) <= {0, 1, 2, 3}
    assert [len(pages) for pages in nested] == [2, 2]


def test_explore_reaches_every_page() -> None:
    """Under cg a page that has not changed is never visited again; a share for the longest unvisited ends that."""
    web = recording(30, [[day - 0.5 for day in range(1, 31)]] * 2 + [[]] * 8)
    last: dict[str, float] = {}
    for spec in ("cg", "explore(cg, 0.5)"):
        world = RecordedWorld(web)
        memory, policy = world.memory(cycle_days=1.0), make_policy(spec, Setting())
        for day in range(1, 31):
            run_cycle(world, memory, EveryPage(policy) if day <= 2 else policy, 10 if day <= 2 else 2, float(day))
        last[spec] = float(memory.last_visit.min())
    assert last["cg"] == 2.0
    assert last["explore(cg, 0.5)"] >= 20.0


def test_explore_lets_an_idle_policy_idle() -> None:
    """Where the policy wants nothing, the share is spent and the rest of the budget is not."""
    memory = remember("u", "u", "u", "u")
    policy = make_policy("explore(fixed(9d), 0.5)", Setting())
    pages = policy.choose(memory, 2, 2.0)
    assert len(pages) == 1
    memory.record(visits(pages.tolist(), "u", 2.0))
    assert len(policy.choose(memory, 1, 2.0)) == 0


def test_oracle_sees_what_is_stale() -> None:
    """Changed pages first, the more important before, then the dead, then the fresh."""
    inf = np.inf
    truth = Setting(truth=Knows([inf, 1.5, 1.0, 0.5, 3.0], [inf, inf, 1.0, inf, inf]))
    assert set(choice("oracle", *["u"] * 5, budget=2, setting=truth)) == {1, 3}
    assert choice("oracle", *["u"] * 5, budget=3, setting=truth)[2] == 2
    weighted = choice("oracle", *["u"] * 5, budget=3, setting=truth, importance=[9, 1, 9, 2, 9])
    assert weighted == [3, 1, 2]


# -- names and words ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ("lamdacrawl", "unknown policy 'lamdacrawl'; did you mean 'lambdacrawl'?"),
        ("explore(gat, 0.1)", "unknown policy 'gat'; did you mean"),
        ("tx(3)", "policy 'tx(3)': too many arguments: 3; tx takes no arguments"),
        ("gad(weights=cycles)", "policy 'gad(weights=cycles)': no parameter 'weights'; gad takes over=visits"),
        ("gad(over=days)", "over must be one of visits, cycles, not 'days'"),
        ("freshness-optimal(rate=x)", "rate must be one of cg, nad, sad, aad, gad, bayes, gaps, shared, not 'x'"),
        ("explore(0.1, cg)", "share must be a share from 0 to 1, not 'cg'"),
        ("explore(0.1)", "unknown policy '0.1'"),
        ("explore(cg, 1.5)", "share must be a share from 0 to 1, not '1.5'"),
        ("explore(cg, 0.1, share=0.2)", "share is given twice"),
        ("explore", "policy 'explore': policy is missing; explore takes policy, share=0.1"),
        ("fixed(0d)", "every must be a positive span of time such as 12h, 7d or 2w, not '0d'"),
        ("fixed(soon)", "every must be a positive span"),
        ("fixed(fill=perhaps)", "fill must be yes or no, not 'perhaps'"),
        ("nutch(retries=2.5)", "retries must be a whole number, not '2.5'"),
        ("nutch(inc=much)", "inc must be a number, not 'much'"),
        ("nutch(inc=-1)", "inc must not be negative"),
        ("nutch(least=9d, most=1d)", "least must not be longer than most"),
        ("bayes(a=-1)", "a and b must satisfy"),
        ("coin(lambdacrawl)", "'lambdacrawl' gives no probability"),
        ("oracle", "needs a world that knows the truth"),
        ("cg(", "missing ')'"),
    ],
)
def test_wrong_specs(spec: str, line: str) -> None:
    """What is wrong with a spec is said in one line that names the policy or its parameter."""
    with pytest.raises(InputError) as wrong:
        make_policy(spec, Setting())
    assert line in str(wrong.value)
    assert "\n" not in str(wrong.value)


def test_unknown_policy_is_an_unknown_name() -> None:
    """An unknown name is its own kind of error."""
    with pytest.raises(UnknownNameError):
        make_policy("", Setting())


def test_recrawl_policies(capsys: pytest.CaptureFixture[str]) -> None:
    """The verb lists every policy on one screen of 100 columns, and some of them, or JSON, with all parameters."""
    assert main(["policies"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 50
    assert max(map(len, lines)) <= 100
    assert all(any(line.startswith(entry.name) for line in lines) for entry in policies)
    assert main(["policies", "nutch", "cls-nad"]) == 0
    few = capsys.readouterr().out
    assert "most=365d" in few
    assert "clusters=100" in few
    assert "learned" not in few
    assert main(["policies", "nuch"]) == 2
    assert "nutch" in capsys.readouterr().err
    assert main(["policies", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert list(rows) == [entry.name for entry in policies]
    assert rows["nutch"]["parameters"]["most"] == "365d"
    assert rows["explore"]["parameters"] == {"policy": None, "share": "0.1"}
    assert [name for name, row in rows.items() if row["clairvoyant"]] == ["oracle"]
    assert all(row["formula"] and row["source"] for row in rows.values())
