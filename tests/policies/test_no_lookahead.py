"""A policy knows only what its own visits have shown: altering the rest of the web does not alter its choices."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from recrawl.cycle import EveryPage, run_cycle
from recrawl.policies.catalogue import make_policy, policies
from recrawl.policy import Setting
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld
from support.small_recordings import Diary, Tables, open_policies, random_tables

PAGES, DAYS, WARMUP, UNTIL, BUDGET, SEED = 60, 14, 2, 9, 8, 5


def choices(
    tables: Tables, spec: str, *, truth: bool = False, discover: str = "links"
) -> list[tuple[float, list[int]]]:
    """Crawl up to day UNTIL and return what the policy chose, round by round."""
    world = RecordedWorld(Recording.from_arrays(with_words(tables)), discover=discover)
    memory = world.memory(cycle_days=1.0, seed=SEED)
    policy = Diary(make_policy(spec, Setting(seed=SEED, truth=world if truth else None)))
    for cycle in range(1, UNTIL + 1):
        chooser = EveryPage(policy) if cycle <= WARMUP else policy
        run_cycle(world, memory, chooser, len(memory) if cycle <= WARMUP else BUDGET, float(cycle))
    return [(at, pages) for at, pages in policy.chosen if at > WARMUP]


def with_changes(tables: Tables, page: list[int], day: list[float]) -> Tables:
    """Return the tables with other changes."""
    order = np.lexsort((day, page))
    altered = copy.copy(tables)
    altered["changes"] = {
        "page_id": np.array(page, dtype=np.int64)[order],
        "day": np.array(day, dtype=np.float64)[order],
    }
    return altered


def with_words(tables: Tables) -> Tables:
    """Return the tables with lengths: those of versions follow their days, so another history has other lengths."""
    changes, count = tables["changes"], len(tables["pages"]["page_id"])
    return tables | {
        "pages": tables["pages"] | {"words": 100 + 10 * np.arange(count)},
        "changes": changes | {"words": (50 + 1000 * changes["day"]).astype(np.int64)},
    }


def another_future(tables: Tables, seed: int) -> Tables:
    """Return the same web up to day UNTIL and another one after it: other changes, no further deaths."""
    old = tables["changes"]
    past = old["day"] <= UNTIL
    draw = np.random.default_rng(seed)
    page = old["page_id"][past].tolist() + draw.integers(0, PAGES, 200).tolist()
    day = old["day"][past].tolist() + draw.uniform(UNTIL + 0.01, DAYS, 200).tolist()
    altered = with_changes(tables, page, day)
    died = tables["pages"]["died_day"]
    altered["pages"] = tables["pages"] | {"died_day": np.where(died > UNTIL, np.nan, died)}
    born = tables["pages"]["born_day"][altered["changes"]["page_id"]]
    gone = altered["pages"]["died_day"][altered["changes"]["page_id"]] <= altered["changes"]["day"]
    living = (altered["changes"]["day"] > born) & ~gone
    altered["changes"] = {name: column[living] for name, column in altered["changes"].items()}
    return altered


def another_unseen_past(tables: Tables, chosen: list[tuple[float, list[int]]]) -> Tables:
    """Alter what happened on each page after its last visit: what had changed has not, and the reverse."""
    last_visit = np.full(PAGES, float(WARMUP))
    for at, pages in chosen:
        last_visit[pages] = at
    old = tables["changes"]
    seen = old["day"] <= last_visit[old["page_id"]]
    unseen_pages = np.unique(old["page_id"][~seen])
    quiet = np.setdiff1d(np.flatnonzero(last_visit < UNTIL), unseen_pages)
    page = old["page_id"][seen].tolist() + quiet.tolist()
    day = old["day"][seen].tolist() + (last_visit[quiet] + 0.5).tolist()
    return with_changes(tables, page, day)


@pytest.mark.parametrize("spec", open_policies())
def test_the_future_does_not_matter(spec: str) -> None:
    """Choices up to a day stay the same whatever changes, and whoever lives on, after that day."""
    web = random_tables(PAGES, DAYS, seed=1, births=True)
    chosen = choices(web, spec, discover="birth")
    assert sum(len(pages) for _, pages in chosen) > 0
    for seed in (2, 3):
        assert choices(another_future(web, seed), spec, discover="birth") == chosen


@pytest.mark.parametrize("spec", open_policies())
def test_what_was_not_visited_does_not_matter(spec: str) -> None:
    """Choices stay the same if every page changes otherwise after its last visit."""
    web = random_tables(PAGES, DAYS, seed=4)
    chosen = choices(web, spec)
    altered = another_unseen_past(web, chosen)
    assert len(altered["changes"]["day"]) != len(web["changes"]["day"])
    assert choices(altered, spec) == chosen


def test_the_test_would_catch_a_clairvoyant() -> None:
    """The oracle, which does look ahead, does not pass: so the alterations matter."""
    web = random_tables(PAGES, DAYS, seed=4)
    chosen = choices(web, "oracle", truth=True)
    assert choices(another_unseen_past(web, chosen), "oracle", truth=True) != chosen


def test_only_the_oracle_is_clairvoyant() -> None:
    """Whatever sees the truth says so."""
    assert [entry.name for entry in policies if entry.clairvoyant] == ["oracle"]
