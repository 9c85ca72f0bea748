"""The contract that every registered policy keeps; entries that need a file or another policy are given examples."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.arguments import parameters
from recrawl.columns import FloatArray, IntArray, PageIds
from recrawl.errors import PolicyError
from recrawl.evaluate.crawl import clairvoyant
from recrawl.evaluate.policy_checks import check_policy, choices
from recrawl.memory import Memory
from recrawl.policies.catalogue import make_policy, policies
from recrawl.policy import Policy, Setting
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld
from recrawl.visits import Visits
from support.handmade_memory import Knows, choice, remember
from support.small_recordings import random_tables, recording

# of policies that must be told something
EXAMPLES = {"explore": "explore(cg, 0.3)", "chase": "chase(cg)", "gp": "gp:t-cg"}
VARIANTS = [
    "gad(over=cycles)",
    "bayes(a=1, b=2)",
    "freq(rate=bayes)",
    "coin(bayes, fill=yes)",
    "fixed(2d, fill=yes)",
    "nutch(first=2d, sync=no, fill=yes)",
    "stormcrawler(fill=yes)",
    "freshness-optimal(form=poisson)",
    "freshness-optimal(rate=cg)",
    "lambdacrawl(pseudo=3d)",
    "explore(explore(nutch(first=3d), 20%), share=0.5)",
    "explore(coin, 0)",
    "explore(freq, 1)",
    "chase(explore(nad, 0.2), change=large, words=5)",
]


def every_spec() -> list[str]:
    """One spec for every entry that can be made without a file, and the variants above."""
    needs_nothing = [e.name for e in policies if not any(p.required for p in parameters(e.make))]
    return needs_nothing + [spec for name, spec in EXAMPLES.items() if name in policies] + VARIANTS


# -- the contract ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", every_spec())
@settings(max_examples=8)
@given(web=st.integers(0, 99), budget=st.integers(1, 12), cap=st.integers(0, 3), weigh=st.booleans())
def test_contract(spec: str, web: int, budget: int, cap: int, weigh: bool) -> None:
    """Budgets and caps hold, no page is chosen twice in a cycle, and the same seed makes the same choices."""
    made = Recording.from_arrays(random_tables(20, 8, web, births=True))
    first, second = (choices(made, spec, seed=5, budget=budget, cap=cap, weighted=weigh) for _ in range(2))
    assert first == second
    for pages in first[1:]:
        assert len(pages) == len(set(pages)) <= budget
        if cap and pages:
            assert np.bincount(made.site[pages]).max() <= cap


class Witness:
    """Passes everything on to a policy, and holds the loop and the policy to what `Policy` promises of the memory."""

    def __init__(self, policy: Policy) -> None:
        self.policy, self.cycle = policy, 0

    def begin(self, memory: Memory, at: float) -> None:
        assert memory.cycle == self.cycle + 1, "a cycle begins once"
        self.cycle = memory.cycle
        with unchanged(memory):
            self.policy.begin(memory, at)

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        assert memory.cycle == self.cycle
        assert budget > 0
        with unchanged(memory):
            return self.policy.choose(memory, budget, at)

    def learn(self, memory: Memory, visits: Visits) -> None:
        assert memory.cycle == self.cycle
        assert memory.known[visits.pages].all()
        assert (memory.asked[visits.pages] < memory.cycle).all(), "learn comes before record"
        assert not memory.known[visits.discovered].any(), "what visits discover is known when they are recorded"
        with unchanged(memory):
            self.policy.learn(memory, visits)


@contextmanager
def unchanged(memory: Memory) -> Iterator[None]:
    columns = {name: value for name, value in vars(memory).items() if isinstance(value, np.ndarray)}
    before = {name: value.tobytes() for name, value in columns.items()}
    yield
    assert {name: value.tobytes() for name, value in columns.items()} == before


@pytest.mark.parametrize("spec", [spec for spec in every_spec() if not clairvoyant(spec)])
def test_a_policy_learns_from_the_memory_before_the_visits_and_leaves_it_alone(spec: str) -> None:
    """Cycles begin once, `learn` comes before the memory records, and nobody but the loop writes into the memory."""
    web = Recording.from_arrays(random_tables(20, 8, 3, births=True))
    choices(web, lambda setting: Witness(make_policy(spec, setting)), seed=5, budget=6)


class Broken:
    """Chooses the first pages, and breaks one rule."""

    def __init__(self, rule: str) -> None:
        self.rule, self.calls = rule, 0

    def begin(self, memory: Memory, at: float) -> None:
        pass

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        pages = np.flatnonzero(memory.eligible())
        if self.rule == "budget":
            return pages[: budget + 1]
        if self.rule == "twice":
            return np.repeat(pages[:1], 2)[:budget] if budget > 1 else pages[:1]
        if self.rule == "gone":
            return np.arange(len(memory))[:budget]
        return np.random.default_rng().permutation(pages)[:budget]  # draws without the seed

    def learn(self, memory: Memory, visits: Visits) -> None:
        pass


@pytest.mark.parametrize("rule", ["budget", "twice", "gone", "seed"])
def test_the_shipped_checks_find_a_broken_policy(rule: str) -> None:
    """`recrawl.check_policy` names in one line what a policy of one's own does wrong, and lets a good one pass."""
    check_policy("explore(cg, 0.3)")
    with pytest.raises(PolicyError, match=r"chose|exceeded"):
        check_policy(lambda setting: Broken(rule))


@pytest.mark.parametrize("spec", every_spec())
@settings(max_examples=8)
@given(histories=st.lists(st.text("uc.", min_size=4, max_size=4), min_size=3, max_size=12), data=st.data())
def test_the_order_of_the_pages_does_not_matter(spec: str, histories: list[str], data: st.DataObject) -> None:
    """A policy chooses the same pages when they are numbered in another order, since ties go by the page's key."""
    order = np.array(data.draw(st.permutations(range(len(histories)))))
    k = data.draw(st.integers(1, len(histories)))
    same = [int(page) for page in choose_keyed(spec, histories, np.arange(len(histories)), k)]
    assert [int(order[page]) for page in choose_keyed(spec, [histories[i] for i in order], order, k)] == same


def choose_keyed(spec: str, histories: list[str], keys: IntArray, k: int) -> list[int]:
    truth = RecordedWorld(recording(9, [[float(key % 5)] if key % 5 else [] for key in keys]))
    policy = make_policy(spec, Setting(4, truth))
    memory = remember(*histories, policy=policy, keys=keys)
    return policy.choose(memory, k, 5.0).tolist()


@pytest.mark.parametrize("spec", every_spec())
def test_missing_copies_come_first(spec: str) -> None:
    """A page that is known but was never fetched comes before all pages that were, the more important first."""
    options = {"setting": Setting(1, Nothing())}
    assert set(choice(spec, "?", "uc", "cc", "?", budget=2, **options)) == {0, 3}
    assert choice(spec, "?", "uc", "cc", "?", budget=2, importance=[1, 9, 9, 2], **options) == [3, 0]


class Nothing:
    """The truth of a web in which nothing ever changes."""

    stale_since: FloatArray = np.full(4, np.inf)
    died: FloatArray = np.full(4, np.inf)


@pytest.mark.parametrize("spec", [spec for spec in every_spec() if spec != "ache"])
def test_equal_importance_is_no_importance(spec: str) -> None:
    """Pages that are all of importance 1 are chosen as if nothing were known of it (but to ACHE 1 is irrelevant)."""
    histories = ("c.cu", "uu..", "?", "cccc", "u..u", "....", "cu.c")
    setting = Setting(3, Knows([np.inf, 1.0, np.inf, 2.0, 0.5, np.inf, 3.0], [np.inf] * 7))
    plain = choice(spec, *histories, budget=4, setting=setting)
    assert choice(spec, *histories, budget=4, setting=setting, importance=[1.0] * 7) == plain


@pytest.mark.parametrize("spec", every_spec())
def test_a_policy_shows_its_spec(spec: str) -> None:
    """The repr of a policy is a spec that makes the same policy."""
    shown = repr(make_policy(spec, Setting(1, Nothing())))
    assert shown.split("(")[0] == spec.split("(")[0]
    assert repr(make_policy(shown, Setting(1, Nothing()))) == shown


def test_reprs() -> None:
    """Defaults are left out, and spans of time and shares are written as they are read."""
    for spec, shown in {
        "cg": "cg",
        "gad(over=visits)": "gad",
        "fixed(36h)": "fixed(every=36h)",
        "nutch(first=2w, sync=no)": "nutch(first=14d, sync=no)",
        "explore(gad(over=cycles),25%)": "explore(gad(over=cycles), share=0.25)",
    }.items():
        assert repr(make_policy(spec, Setting())) == shown
