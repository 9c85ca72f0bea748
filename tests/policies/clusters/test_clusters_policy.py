"""Sampling groups of pages: clusters of pages that look alike, and sites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from recrawl.cycle import EveryPage, run_cycle
from recrawl.errors import InputError
from recrawl.policies.catalogue import make_policy
from recrawl.policies.clusters.groups import first_of_groups, means, sufficient
from recrawl.policy import Policy, Setting
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld
from recrawl.visits import Outcome, Visits
from support.handmade_memory import choice
from support.small_recordings import tables

DAYS = 12


def web(
    changing: int, quiet: int, *, born: Sequence[float] | None = None, alike: bool = False, site: Any = None
) -> Recording:
    """Long pages that change every day, then short ones that never do."""
    daily = [day + 0.5 for day in range(DAYS)]
    begins = [0.0] * (changing + quiet) if born is None else list(born)
    changes = [[day for day in daily if day > begin] for begin in begins[:changing]] + [[]] * quiet
    made = tables(DAYS, changes, born=begins, site=site)
    words = np.full(changing + quiet, 10, dtype=np.int64)
    words[:changing] = 10 if alike else 5_000
    for column in ("words", "text_bytes", "images"):
        made["pages"][column] = words
        made["changes"][column] = words[made["changes"]["page_id"]]
    made["pages"]["path"] = np.array(["/page"] * len(words), dtype=object)
    return Recording.from_arrays(made)


def crawl(recording: Recording, spec: str, budget: int, warmup: int = 2) -> tuple[list[list[Visits]], Policy]:
    """Crawl all days; returns the rounds of each day after the warm-up."""
    world = RecordedWorld(recording, discover="birth")
    memory = world.memory(cycle_days=1.0, seed=3)
    policy = make_policy(spec, Setting(seed=3))
    days = []
    for day in range(1, DAYS + 1):
        warm = day <= warmup
        asked = EveryPage(policy) if warm else policy
        rounds = run_cycle(world, memory, asked, len(memory) if warm else budget, float(day))
        if not warm:
            days.append(rounds)
    return days, policy


def found(days: list[list[Visits]]) -> float:
    """The share of the visits that found a change."""
    outcome = np.concatenate([visits.outcome for rounds in days for visits in rounds])
    return float((outcome == Outcome.CHANGED).mean())


def test_the_sample_size_by_hand() -> None:
    """Four chances .2 .2 .4 .4 have s = .1155; at 80% the mean is known to 1.638 s / 2 = .0946, so .1 but not .09."""
    count, mean, deviation = means(np.array([0.2, 0.2, 0.4, 0.4, 0.7]), np.array([0, 0, 0, 0, 2]), 3)
    assert count.tolist() == [4, 0, 1]
    assert mean == pytest.approx([0.3, 0.0, 0.7])
    assert deviation == pytest.approx([np.sqrt(0.04 / 3), 0.0, 0.0])
    assert sufficient(count, deviation, 0.8, 0.1).tolist() == [True, False, False]
    assert sufficient(count, deviation, 0.8, 0.09).tolist() == [False, False, False]


def test_samples_are_the_first_of_every_group() -> None:
    """As many of each group as wanted, in the given order; a page without a group is no sample."""
    order, group = np.array([4, 3, 2, 1, 0]), np.array([0, 1, 0, -1, 0])
    assert first_of_groups(order, group, np.array([2, 5])).tolist() == [4, 2, 1]


@pytest.mark.parametrize("weights", ["nad", "sad", "aad", "gad"])
def test_the_budget_goes_to_the_cluster_that_changes(weights: str) -> None:
    """Pages that look alike are one cluster: a few samples of each, and the rest of the budget where it changed."""
    days, _ = crawl(web(30, 70), f"cls-{weights}(clusters=2)", budget=30)
    assert found(days) > 0.7
    sampled, rest = days[-1][0], days[-1][-1]
    assert len(days[-1]) >= 2
    assert 0 < sampled.changed.mean() < 1
    assert rest.changed.all()


@pytest.mark.parametrize("weights", ["nad", "sad", "aad", "gad"])
def test_rates_over_all_cycles_find_the_same_cluster(weights: str) -> None:
    """Where cycles without a visit count as no change, the cluster that changes is still the one to visit."""
    days, _ = crawl(web(30, 70), f"cls-{weights}(clusters=2, over=cycles)", budget=30)
    assert found(days) > 0.7
    assert days[-1][-1].changed.all()


def test_the_nearest_to_the_centre_are_sampled_again() -> None:
    """While the clusters stay the same, the same pages are the sample: those nearest the centre."""
    days, _ = crawl(web(30, 70), "cls-nad(clusters=2, every=50)", budget=30)
    assert sorted(days[0][0].pages.tolist()) == sorted(days[1][0].pages.tolist())


def test_a_page_without_history_has_its_clusters_estimate() -> None:
    """A page born on day 4.2 looks like those that change, and is visited as soon as it has a copy; else it waits."""
    born = [0.0] * 29 + [4.2] + [0.0] * 70
    visits = {}
    for cold in ("yes", "no"):
        days, _ = crawl(web(30, 70, born=born), f"cls-nad(clusters=2, every=50, cold={cold})", budget=36)
        visits[cold] = sum(int((v.pages == 29).sum()) for rounds in days for v in rounds)
    assert visits["yes"] == DAYS - 4  # first on day 5, then every day
    assert visits["no"] < visits["yes"]


def test_waiting_makes_a_page_worth_more() -> None:
    """With `wait` the chance of page and cycles is 1 - (1 - phi)^t: a cluster of half the phi has its turns too."""
    daily, slower = [day + 0.5 for day in range(DAYS)], [day + 0.5 for day in range(1, DAYS, 2)]
    made = tables(DAYS, [*[daily] * 30, *[slower] * 30])
    made["pages"]["words"] = np.array([5_000] * 30 + [10] * 30)
    made["pages"]["path"] = np.array(["/page"] * 60, dtype=object)
    visits = {}
    for wait in ("no", "yes"):
        days, _ = crawl(Recording.from_arrays(made), f"cls-nad(clusters=2, every=50, wait={wait})", budget=24)
        visits[wait] = sum(int((v.pages >= 30).sum()) for rounds in days for v in rounds)
    assert visits["yes"] > visits["no"]


def test_pages_that_are_all_alike_are_one_cluster() -> None:
    """Constant features leave one cluster, and pages are visited in turn."""
    days, policy = crawl(web(0, 40, alike=True), "cls-nad(features=static)", budget=10)
    assert policy.groups == 1  # type: ignore[attr-defined]
    visited = np.concatenate([v.pages for rounds in days for v in rounds])
    assert len(np.unique(visited)) > 30


def test_fewer_pages_than_clusters() -> None:
    """With three pages and a hundred clusters the budget is still spent, on pages of their own."""
    days, policy = crawl(web(1, 2), "cls-gad", budget=2)
    assert policy.groups <= 3  # type: ignore[attr-defined]
    assert all(sum(len(v) for v in rounds) == 2 for rounds in days)


def test_an_empty_cluster_is_passed_over() -> None:
    """When all pages of a cluster have died, it is neither sampled nor in the way."""
    made = tables(DAYS, [[] for _ in range(20)], died=[4.5] * 5 + [np.nan] * 15)
    made["pages"]["words"] = np.array([5_000] * 5 + [10] * 15)
    days, _ = crawl(Recording.from_arrays(made), "cls-nad(clusters=2, every=50, features=static)", budget=20)
    assert all(len(np.concatenate([v.pages for v in rounds])) == 15 for rounds in days[4:])


@pytest.mark.parametrize("spec", ["cls-nad(clusters=2, fair=0.5)", "sls(fair=0.5)"])
def test_fairness_visits_everyone(spec: str) -> None:
    """With a share kept for the longest unvisited, each of 70 quiet pages has its turn within seven cycles."""
    days, _ = crawl(web(30, 70, site=[0] * 30 + [1] * 70), spec, budget=30)
    last = np.concatenate([v.pages for rounds in days[:8] for v in rounds])
    assert len(np.unique(last)) == 100


def test_the_site_that_changes_is_visited_whole() -> None:
    """SLS samples about sqrt(N r) pages of each site, then takes the site whose sample had changed."""
    days, _ = crawl(web(30, 70, site=[0] * 30 + [1] * 70), "sls", budget=38)
    sample, rest = days[0]
    assert np.bincount((sample.pages >= 30).astype(int)).tolist() == [4, 6]  # sqrt(30 * .38), sqrt(70 * .38), up
    assert (rest.pages < 30).sum() == 26
    assert (rest.pages >= 30).sum() == 2


def test_a_budget_below_the_number_of_clusters() -> None:
    """With fewer visits than clusters the most promising are sampled and nothing breaks."""
    assert len(choice("cls-sad(clusters=4)", "cc", "uc", "uu", "cu", budget=1)) == 1


def test_wrong_options_are_said() -> None:
    """No clusters, a confidence of 1, unknown features: an input error each."""
    for spec in ("cls-nad(clusters=0)", "cls-nad(confidence=1)", "cls-nad(features=colour)", "cls-nad(every=0)"):
        with pytest.raises(InputError):
            make_policy(spec, Setting())
