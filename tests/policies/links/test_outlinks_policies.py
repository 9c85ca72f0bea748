"""Policies that go where new links appear."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from recrawl.columns import FloatArray
from recrawl.cycle import EveryPage, run_cycle
from recrawl.errors import InputError
from recrawl.evaluate.crawl import crawl
from recrawl.evaluate.measures.all_measures import make_measures
from recrawl.features.link_learners import has_ngboost
from recrawl.features.related import NONE, Related
from recrawl.memory import Memory
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy
from recrawl.policies.learned.learned import Learned
from recrawl.policies.links.link_forecast import LinkForecast
from recrawl.policies.links.linkhistory import FEATURES, LinkWatcher
from recrawl.policy import Setting
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld
from support.handmade_memory import visits
from support.real_recordings import THREE_SITES
from support.small_recordings import Tables, recording, tables

# -- history ----------------------------------------------------------------------------------------------------------


def described(history: str, *links: tuple[int, int], near: Related | None = None) -> FloatArray:
    """Describe page 0 after these visits with these new links, and page 1, which was not visited, in the next cycle."""
    watcher, memory = LinkWatcher(), Memory(np.arange(2), np.zeros(2, dtype=np.int32))
    memory.hold_copies(np.arange(2), 0.0)
    found = iter(links)
    for cycle, mark in enumerate(history, 1):
        memory.begin_cycle()
        watcher.begin(memory, float(cycle))
        if mark == "c":
            internal, external = next(found)
            visit = replace(
                visits([0], "c", cycle), new_internal=np.array([internal]), new_external=np.array([external])
            )
            watcher.learn(memory, visit)
            memory.record(visit)
    memory.begin_cycle()
    return np.asarray(watcher.history.describe(memory, near))


def test_history_by_hand() -> None:
    """Two visits after 1 and 3 cycles with 2 and 6 internal links: rates 2 and 2, a mean of 2, found at both."""
    row = dict(zip(FEATURES, described("c..c", (2, 0), (6, 0))[0].tolist(), strict=True))
    assert row["waited"] == 1
    assert row["mean internal"] == row["internal, visit -1"] == row["internal, visit -2"] == 2.0
    assert row["link change rate"] == 1.0
    assert np.isnan(row["internal, visit -3"])
    assert np.isnan(row["related: mean internal"])


def test_history_looks_around() -> None:
    """A page that was never compared has the rates of the page that it is related to."""
    near = Related(np.array([[NONE], [0]], dtype=np.int32), np.array([[0.0], [0.9]], dtype=np.float32), 1.0, 1.0)
    row = dict(zip(FEATURES, described("c", (3, 1), near=near)[1].tolist(), strict=True))
    assert row["related: mean internal"] == 3.0
    assert row["related: mean external"] == 1.0
    assert np.isnan(row["mean internal"])


# -- baselines --------------------------------------------------------------------------------------------------------


def web() -> Recording:
    """Page 0 gains 1 link a day, page 1 gained 9 on day 1, page 2 changes daily without links, page 3 rests."""
    days = np.arange(0.5, 9.0)
    changes: list[Any] = [days.tolist(), [0.5], days.tolist(), []]
    links = [1] * len(days) + [9] + [0] * len(days)
    return recording(9.0, changes, new_internal=links, new_external=[0] * len(links))


def chosen(spec: str, warmup: int = 3, budget: int = 1) -> list[int]:
    world = RecordedWorld(web())
    memory = world.memory(cycle_days=1.0)
    policy = make_policy(spec, Setting(1, world if spec.startswith("oracle") else None))
    for day in range(1, warmup + 1):
        run_cycle(world, memory, EveryPage(policy), 4, float(day))
    rounds = run_cycle(world, memory, policy, budget, float(warmup + 1))
    return [int(page) for visits in rounds for page in visits.pages]


@pytest.mark.parametrize(("spec", "first"), [("nnl-av", 1), ("nnl-pr", 0), ("oracle(of=links)", 0)])
def test_first_choices_by_hand(spec: str, first: int) -> None:
    """After 3 days: the mean is 3 links on page 1 and 1 on page 0; the last visit found 1 on page 0, which has more."""
    assert chosen(spec) == [first]


def test_the_content_change_rate_does_not_see_links() -> None:
    """By CCR the pages that change daily come first, with or without links."""
    assert set(chosen("ccr", budget=2)) == {0, 2}


def test_equals_go_by_the_longest_wait() -> None:
    """Pages without any new link take turns."""
    world = RecordedWorld(recording(30.0, [[]] * 6))
    memory = world.memory(cycle_days=1.0)
    policy = make_policy("nnl-av", Setting(1))
    seen: list[int] = []
    for day in range(1, 7):
        seen += [int(v.pages[0]) for v in run_cycle(world, memory, policy, 1, float(day))]
    assert sorted(seen) == list(range(6))


def test_an_oracle_of_links_needs_a_world_that_counts_them() -> None:
    """Without the truth, or with one that knows only changes, it is refused."""
    with pytest.raises(InputError, match="knows the truth"):
        make_policy("oracle(of=links)", Setting(1))
    with pytest.raises(InputError, match="luck"):
        make_policy("oracle(of=luck)", Setting(1))


# -- look back, look around -------------------------------------------------------------------------------------------


def topical(seed: int = 0, pages: int = 120) -> Tables:
    """A fifth of the pages is about birds and gains links daily, the others are about rocks and change without any."""
    draw = np.random.default_rng(seed)
    birds = np.arange(pages) % 5 == 0
    changes = [np.sort(draw.uniform(0, 20, 20)).tolist() for _ in range(pages)]
    gained = np.repeat(birds, 20).astype(int) * draw.poisson(3.0, 20 * pages)
    made = tables(20.0, changes, new_internal=gained.tolist(), new_external=[0] * (20 * pages))
    buckets = np.empty(pages, dtype=object)
    buckets[:] = [np.sort(draw.choice(np.arange(20) + (0 if bird else 100), 8, replace=False)) for bird in birds]
    counts = np.empty(pages, dtype=object)
    counts[:] = [np.ones(8, dtype=np.int64)] * pages
    made["terms"] = {
        "page_id": np.arange(pages),
        "when": np.full(pages, "start", dtype=object),
        "bucket": buckets,
        "count": counts,
        "total": np.full(pages, 8),
    }
    return made


def found(spec: str, budget: float) -> float:
    """New links per visit."""
    measures = make_measures("NewLinks")
    return crawl(Recording.from_arrays(topical()), spec, Plan(1.0, budget, warmup=1), measures).value(measures[0])


def test_lbla_finds_the_pages_with_links() -> None:
    """With visits for each page once, they go to the pages that gain links, and far more are found than by age."""
    assert found("lbla", 0.05) > 1.3 * found("age", 0.05)


def test_lbla_looks_around() -> None:
    """Of pages that were never compared itself, it prefers those whose related pages gained links."""
    world = RecordedWorld(Recording.from_arrays(topical()))
    memory = world.memory(cycle_days=1.0)
    policy = make_policy("lbla(explore=0)", Setting(1))
    looked_at = np.arange(60)
    memory.begin_cycle()
    policy.begin(memory, 1.0)
    visits = world.visit(looked_at, 1.0)
    policy.learn(memory, visits)
    memory.record(visits)
    memory.begin_cycle()
    policy.begin(memory, 2.0)
    order = policy.choose(memory, 120, 2.0)
    never = [page for page in order.tolist() if page >= 60]
    assert np.mean([page % 5 == 0 for page in never[:10]]) > 0.8


@pytest.mark.parametrize(
    "options",
    ["target=lcr, learner=et", "target=nl, learner=et", "target=pnl, learner=lgbm", "learner=et", "learner=lgbm"],
)
def test_lbla_ranks_by_the_papers_targets(options: str) -> None:
    """Every target and learner of the paper finds more new links than age does."""
    assert found(f"lbla({options})", 0.05) > 1.1 * found("age", 0.05)


def test_lbla_learns_by_natural_gradients() -> None:
    """NNL-NGB learns where the package is installed, and is refused in one line where it is not."""
    if not has_ngboost():
        with pytest.raises(InputError, match="needs the package ngboost"):
            make_policy("lbla(learner=ngb)", Setting(1))
        return
    forecast = LinkForecast("nnl", "ngb")
    rows = np.zeros((60, len(FEATURES)), dtype=np.float32)
    rows[:30, FEATURES.index("mean internal")] = 5.0
    forecast.learn(rows, np.ones(60), np.where(np.arange(60) < 30, 5.0, 0.0), np.ones(60), 1)
    forecast.fit(1)
    low, high = forecast.expected(rows[[40, 3]], np.ones(2))
    assert high > 3.0 > 1.0 > low


def test_lbla_counts_one_sort_of_links() -> None:
    """With links=external a page that gains only internal links has no history and no prior of its own."""
    watcher = make_policy("lbla(links=external)", Setting(1))
    memory = Memory(np.arange(2), np.zeros(2, dtype=np.int32))
    memory.hold_copies(np.arange(2), 0.0)
    memory.begin_cycle()
    watcher.begin(memory, 1.0)
    visit = replace(visits([0, 1], "cc", 1), new_internal=np.array([7, 0]), new_external=np.array([0, 2]))
    watcher.learn(memory, visit)
    memory.record(visit)
    memory.begin_cycle()
    watcher.begin(memory, 2.0)
    assert watcher.choose(memory, 2, 2.0).tolist() == [1, 0]
    rows = watcher.history.describe(memory, None)  # type: ignore[attr-defined]
    assert rows[:, FEATURES.index("link change rate")].tolist() == [0.0, 1.0]
    assert rows[:, FEATURES.index("mean internal")].tolist() == [0.0, 0.0]


def test_the_link_change_rate_is_predicted_by_related_pages_alone() -> None:
    """The page's own history would give it away (section 7): no column of it is read for target=lcr."""
    assert all(FEATURES[i].startswith("related:") for i in LinkForecast("lcr", "et").columns)
    assert any(not FEATURES[i].startswith("related:") for i in LinkForecast("nnl", "et").columns)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("target=lcr, learner=ngb", "number of new links alone"),
        ("target=nl", "number of new links alone"),
        ("learner=et, objective=changes", "objective=links alone"),
        ("target=luck", "target"),
        ("links=none", "links"),
    ],
)
def test_lbla_refuses_what_the_paper_has_not(options: str, why: str) -> None:
    """A learner without that target, or a target with another objective, is refused in one line."""
    with pytest.raises(InputError, match=why):
        make_policy(f"lbla({options})", Setting(1))


def test_objectives_differ() -> None:
    """For links the pages with links are visited; for changes all pages that change count alike."""
    links, both, changes = (
        found(f"lbla(objective={objective})", 0.05) for objective in ("links", "changes+0.5*links", "changes")
    )
    assert links > 1.05 * changes
    assert both > changes
    with pytest.raises(InputError, match="unknown objective"):
        make_policy("lbla(objective=luck)", Setting(1))
    with pytest.raises(InputError, match="explore between"):
        make_policy("lbla(explore=2)", Setting(1))


def test_learned_looks_for_links_as_lbla_does() -> None:
    """With objective=links the same learner decides, so as much is found; no site is paid for changes then."""
    assert found("learned(objective=links)", 0.05) > 0.95 * found("lbla", 0.05)
    measures = make_measures("NewLinks")
    for objective, promised in (("links", False), ("changes+0.1*links", True)):
        spec = f"learned(objective={objective}, floor=9)"
        notes = crawl(Recording.from_arrays(quiet_and_busy()), spec, Plan(1.0, 0.1, warmup=1), measures).notes
        assert any(note.startswith("floor") for note in notes) == promised


def quiet_and_busy() -> Tables:
    """A site that changes daily, and one whose pages change twice in twenty days."""
    draw = np.random.default_rng(3)
    changes = [np.sort(draw.uniform(0, 20, 20 if page < 60 else 2)).tolist() for page in range(120)]
    links = [0] * sum(len(days) for days in changes)
    return tables(20.0, changes, site=[page // 60 for page in range(120)], new_internal=links, new_external=links)


def test_what_learned_expects_grows_with_the_wait() -> None:
    """An explanation with objective=links says when a page with new links is due again."""
    world = RecordedWorld(Recording.from_arrays(topical()))
    memory = world.memory(cycle_days=1.0)
    policy = make_policy("learned(objective=links, base=none)", Setting(1))
    assert isinstance(policy, Learned)
    for day in range(1, 6):
        run_cycle(world, memory, EveryPage(policy) if day < 3 else policy, 120 if day < 3 else 12, float(day))
    birds, rocks = (np.median([policy.explain(page + i).score for page in range(0, 120, 5)]) for i in (0, 1))
    assert birds > 2.0 * rocks > 0.0


def test_real_pages() -> None:
    """On real pages lbla finds more new links than the same visits by age, and no more than the oracle of links."""
    real = Recording.open(THREE_SITES).window(0.0, 182.0)
    measures = make_measures("NewLinks")
    plan = Plan(7.0, 0.1)
    age, lbla, best = (
        crawl(real, spec, plan, measures).value(measures[0]) for spec in ("age", "lbla", "oracle(of=links)")
    )
    assert age < lbla < best
