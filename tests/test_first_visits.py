"""First visits are paid by what visits to a site and to a URL template found."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from recrawl.cycle import run_cycle
from recrawl.first_visits import CREDIT, LEAST, first_visits, forms_of, in_turn, template, yields_of
from recrawl.policies.catalogue import make_policy
from recrawl.policy import Setting
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld
from recrawl.visits import Outcome
from support.small_recordings import tables


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("", "word"),
        ("red/green/blue", "word/word/word"),
        ("red/green/blue/white/black/7/8", "word/word/word/number/number"),
        ("v1.2/2021-05-04-launch.html", "number/dated.html"),
        ("list?sort=up&page=7&sort=down", "word?page&sort"),
    ],
)
def test_a_template_is_the_form_of_an_address(path: str, form: str) -> None:
    """Words, numbers, years and dates by their kind, endings as they are, a query by its names."""
    assert template(path) == form


def test_groups_take_turns_by_their_weight_up_to_what_they_may_have() -> None:
    """Weights 2 and 1: two rows of the first group for one of the second, behind what went before."""
    group = np.array([0, 0, 0, 1, 1, 1])
    none, all_rows = np.zeros(2, dtype=np.int64), np.full(2, 6)
    assert in_turn(group, np.array([2.0, 1.0]), none, all_rows).tolist() == [0, 1, 3, 2, 4, 5]
    assert in_turn(group, np.ones(2), np.array([3, 0]), all_rows).tolist() == [3, 4, 5, 0, 1, 2]
    assert in_turn(group, np.ones(2), none, np.array([1, 3])).tolist() == [0, 3, 4, 5]


def test_a_group_makes_visits_on_credit_and_changes_pay_for_more() -> None:
    """At .2 changes per visit a change pays for 5 visits; the yield of a new group is that of the whole."""
    changes, visits = np.array([0, 0, 40, 0]), np.array([0, 150, 400, 100_000])
    found = yields_of(np.arange(4), changes, visits, np.full(4, 0.2), 0.2)
    assert CREDIT == 100
    assert found.weight.tolist() == pytest.approx([0.2, 0.08, 0.12, 20 / 100_100])
    assert found.part.tolist() == pytest.approx([1.0, 100 / 150, 300 / 400, LEAST])


def test_a_site_gets_no_more_turns_for_having_many_templates() -> None:
    """A site of eight templates and one of a single template: six places are three for each."""
    site, form = np.array([0] * 8 + [1] * 8), np.array([*range(8), *[9] * 8])
    nothing = np.zeros(16, dtype=np.int64)
    levels = tuple(yields_of(group, nothing, nothing, np.full(10, 0.5), 0.5) for group in (form, site))
    chosen = first_visits(np.arange(16), 6, levels, np.arange(0), 10, (np.arange(16),))
    assert Counter(site[chosen].tolist()) == {0: 3, 1: 3}


def test_endless_forms_share_the_credit_of_a_few() -> None:
    """Ten thousand invented endings are told apart by 255 numbers at most."""
    forms = forms_of(f"a/b.{'abcdefgh'[n % 8]}{'ijklmnop'[n // 8 % 8]}{'qrstuv'[n // 64 % 6]}" for n in range(10_000))
    assert 200 < len(np.unique(forms)) <= 255
    assert forms.min() >= 1


def with_maze(days: int, numbered: int) -> Recording:
    """40 known pages that change daily; on day 2 a maze of 2,000 pages of words on their site, then numbered ones."""
    born = [0.0] * 40 + [1.2] * 2_000 + [1.5] * numbered
    daily = [[day + 0.5 for day in range(2, days)]]
    made = tables(float(days), daily * 40 + [[]] * 2_000 + daily * numbered, born=born)
    words = ("red", "green", "blue", "white", "black", "grey", "pink")
    maze = [f"maze/{words[n % 7]}/{words[n // 7 % 7]}/{words[n // 49 % 7]}x{n // 343}" for n in range(2_000)]
    paths = [*(f"home/{n}.html" for n in range(40)), *maze, *map(str, range(numbered))]
    made["pages"]["path"] = np.array(paths, dtype=object)
    return Recording.from_arrays(made)


def test_an_endless_maze_on_an_honest_site_does_not_delay_its_new_pages() -> None:
    """In a simulation 60 pages that became known after 2,000 of a maze are all fetched within 15 days of 10 visits."""
    world = RecordedWorld(with_maze(30, 60), discover="birth")
    memory, policy = world.memory(cycle_days=1.0), make_policy("age", Setting())
    maze = 0
    for day in range(1, 26):
        rounds = run_cycle(world, memory, policy, 10, float(day), discovery=0.5)
        firsts = [page for visits in rounds for page in visits.pages[visits.outcome == Outcome.FIRST].tolist()]
        assert len(firsts) <= 5
        maze += sum(40 <= page < 2_040 for page in firsts)
        if day == 25:
            assert memory.held()[2_040:].all()
    assert maze <= 60


def test_a_maze_alone_does_not_keep_the_whole_share_of_first_visits() -> None:
    """After 250 visits that brought nothing, while known pages change daily, it has LEAST of the share."""
    world = RecordedWorld(with_maze(60, 0), discover="birth")
    memory, policy = world.memory(cycle_days=1.0), make_policy("bayes", Setting())
    firsts = []
    for day in range(1, 60):
        rounds = run_cycle(world, memory, policy, 40, float(day), discovery=0.5)
        firsts.append(sum(int((visits.outcome == Outcome.FIRST).sum()) for visits in rounds))
    assert firsts[1] == 20
    assert firsts[-1] == 10
