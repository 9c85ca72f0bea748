"""Links, words, texts, significance and births that lie in the future do not alter the choices of any policy."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

from recrawl.cycle import EveryPage, run_cycle
from recrawl.policies.catalogue import make_policy
from recrawl.policy import Setting
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld
from support.small_recordings import Diary, Tables, open_policies, random_tables

PAGES, DAYS, WARMUP, UNTIL, BUDGET, SEED = 60, 14, 2, 8, 8, 5
WORDS = [f"word{i}" for i in range(40)]
FEW_CLUSTERS = [f"cls-{weight}(clusters=5, every=1, features={which})" for weight, which in (
    ("nad", "combined"), ("sad", "static"), ("gad", "dynamic"), ("aad", "content"))]  # fmt: skip


def contents(seed: int, future: int) -> Tables:
    """A web with everything a recording can hold; up to day UNTIL it depends on `seed` alone, after it on `future`."""
    made = random_tables(PAGES, DAYS, seed, births=True)
    made["pages"]["born_day"] = np.where(made["pages"]["born_day"] >= DAYS - 2, 0.0, made["pages"]["born_day"])
    made["pages"]["born_day"][::13] = UNTIL + 2.0  # some are born too late for anyone to know
    pages, changes = made["pages"], made["changes"]
    living = (changes["day"] > pages["born_day"][changes["page_id"]]) & (
        np.isnan(pages["died_day"][changes["page_id"]]) | (changes["day"] < pages["died_day"][changes["page_id"]])
    )
    made["changes"] = changes = {name: column[living] for name, column in changes.items()}
    _measure(made, seed, future)
    _link(made, seed, future)
    _write(made, seed, future)
    if future:
        _be_born_otherwise(made)
    return made


def _draw(key: tuple[Any, ...], seed: int, future: int, late: bool) -> np.random.Generator:
    """Random numbers for one fact: another future changes those of late facts only."""
    return np.random.default_rng([zlib.crc32(repr(key).encode()), seed, future if late else 0])


def _measure(made: Tables, seed: int, future: int) -> None:
    """Counts of every version, and the significance of every change."""
    changes, count = made["changes"], len(made["pages"]["page_id"])
    names = ("bytes", "text_bytes", "words", "images", "tables", "out_internal", "out_external")
    rows = list(zip(changes["page_id"].tolist(), changes["day"].tolist(), strict=True))
    for at, name in enumerate((*names, "emails")):
        first = [_draw((p, at), seed, future, bool(made["pages"]["born_day"][p] > UNTIL)) for p in range(count)]
        made["pages"][name] = np.array([int(draw.integers(1, 500)) for draw in first])
    for at, name in enumerate((*names, "d_words_added", "d_words_removed", "new_internal", "new_external")):
        drawn = [_draw((*row, at), seed, future, row[1] > UNTIL).integers(0, 500) for row in rows]
        changes[name] = np.array(drawn, dtype=np.int64)
    for name in ("cosine", "chi2_p"):
        shares = [_draw((*row, name), seed, future, row[1] > UNTIL).random() for row in rows]
        changes[name] = np.array(shares, dtype=np.float64)


def _link(made: Tables, seed: int, future: int) -> None:
    """Links that come with versions: some lead to pages that are born late, and their end may lie in the future."""
    pages, changes = made["pages"], made["changes"]
    rows = []
    births = zip(pages["page_id"].tolist(), np.maximum(pages["born_day"], 0.0).tolist(), strict=True)
    for page, day in [*births, *zip(changes["page_id"].tolist(), changes["day"].tolist(), strict=True)]:
        draw = _draw((page, day, "links"), seed, future, day > UNTIL)
        died = pages["died_day"][page]
        for target in np.unique(draw.integers(0, PAGES, 4)).tolist():
            later = changes["day"][(changes["page_id"] == page) & (changes["day"] > day)]
            end = float(later[0]) if len(later) else float(died)
            rows.append((page, day, end, target))
    rows.sort(key=lambda row: (row[0], row[3], row[1]))
    made["links"] = {
        "page_id": np.array([row[0] for row in rows]),
        "day_from": np.array([row[1] for row in rows], dtype=np.float64),
        "day_to": np.array([row[2] for row in rows], dtype=np.float64),
        "internal": np.array([row[0] % 3 == row[3] % 3 for row in rows]),
        "target_page": np.array([row[3] for row in rows]),
    }


def _write(made: Tables, seed: int, future: int) -> None:
    """A text of every version, and the terms of the first and of the last one."""
    pages, changes = made["pages"], made["changes"]
    texts: list[tuple[int, float, str]] = []
    terms: list[tuple[int, str, dict[int, int]]] = []
    for page in pages["page_id"].tolist():
        days = [max(float(pages["born_day"][page]), 0.0), *changes["day"][changes["page_id"] == page].tolist()]
        for day in days:
            draw = _draw((page, day, "text"), seed, future, day > UNTIL)
            texts.append((page, day, " ".join(draw.choice(WORDS, 12))))
        for when, text in (("start", texts[-len(days)][2]), ("end", texts[-1][2])):
            found = sorted(zlib.crc32(word.encode()) % 2**18 for word in text.split())
            terms.append((page, when, {bucket: found.count(bucket) for bucket in dict.fromkeys(found)}))
    made["texts"] = {
        "page_id": np.array([row[0] for row in texts]),
        "day": np.array([row[1] for row in texts], dtype=np.float64),
        "text": np.array([row[2] for row in texts], dtype=np.object_),
    }
    lists = {name: np.empty(len(terms), dtype=np.object_) for name in ("bucket", "count")}
    for i, (_, _, bag) in enumerate(terms):
        lists["bucket"][i], lists["count"][i] = np.array(list(bag)), np.array(list(bag.values()))
    made["terms"] = {
        "page_id": np.array([row[0] for row in terms]),
        "when": np.array([row[1] for row in terms], dtype=np.object_),
        **lists,
        "total": np.array([sum(row[2].values()) for row in terms]),
    }


def _be_born_otherwise(made: Tables) -> None:
    """Take away every second page that is born after day UNTIL, and whatever speaks of it."""
    late = np.flatnonzero(made["pages"]["born_day"] > UNTIL)[::2]
    for name in ("pages", "changes", "links", "texts", "terms"):
        kept = ~np.isin(made[name]["page_id"], late)
        if name == "links":  # the address is still linked to, but no page will ever be there
            target = made[name]["target_page"]
            made[name]["target"] = np.array([f"/never/{page}" for page in target.tolist()], dtype=np.object_)
            made[name]["target_page"] = np.where(np.isin(target, late), -1, target)
        made[name] = {column: values[kept] for column, values in made[name].items()}


def choices(tables: Tables, spec: str, discover: str) -> list[tuple[float, list[int]]]:
    """Crawl up to day UNTIL and return the numbers of the pages that the policy chose, round by round."""
    recording = Recording.from_arrays(tables)
    world = RecordedWorld(recording, discover=discover)
    memory = world.memory(cycle_days=1.0, seed=SEED)
    policy = Diary(make_policy(spec, Setting(seed=SEED)))
    for cycle in range(1, UNTIL + 1):
        chooser = EveryPage(policy) if cycle <= WARMUP else policy
        run_cycle(world, memory, chooser, len(memory) if cycle <= WARMUP else BUDGET, float(cycle))
    return [(at, recording.page_ids[pages].tolist()) for at, pages in policy.chosen if at > WARMUP]


@pytest.fixture(scope="module")
def webs() -> list[Tables]:
    """One web with two futures."""
    return [contents(3, future) for future in (0, 1)]


LINKS = ("lbla(target=lcr, learner=et)", "learned(objective=links)")


@pytest.mark.parametrize("discover", ["links", "birth"])
@pytest.mark.parametrize("spec", [*open_policies(), *FEW_CLUSTERS, *LINKS])
def test_future_contents_do_not_matter(webs: list[Tables], spec: str, discover: str) -> None:
    """Choices stay the same with other links, words, texts, tests and births after the day."""
    assert choices(webs[1], spec, discover) == choices(webs[0], spec, discover)


def test_the_futures_differ(webs: list[Tables]) -> None:
    """The two webs are the same up to the day and differ after it in every table that the test is about."""
    one, other = webs
    assert len(one["pages"]["page_id"]) > len(other["pages"]["page_id"])
    for table, column in (("changes", "chi2_p"), ("links", "target_page"), ("texts", "text")):
        day = "day" if "day" in one[table] else "day_from"
        kept = [np.isin(web[table]["page_id"], other["pages"]["page_id"]) for web in webs]
        late = [web[table][day][keep] > UNTIL for web, keep in zip(webs, kept, strict=True)]
        values = [web[table][column][keep] for web, keep in zip(webs, kept, strict=True)]
        if table != "links":
            assert values[0][~late[0]].tolist() == values[1][~late[1]].tolist()
        assert values[0][late[0]].tolist() != values[1][late[1]].tolist()
