"""Small recordings for tests, made of arrays or written as Parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from recrawl import arguments
from recrawl.columns import PageIds
from recrawl.memory import Memory
from recrawl.policies.catalogue import policies
from recrawl.policy import Named, Setting
from recrawl.recording.recording import Recording
from recrawl.visits import Visits

Tables = dict[str, dict[str, npt.NDArray[Any]]]


def tables(
    days: float,
    changes: Sequence[Sequence[float]],
    *,
    born: Sequence[float] | None = None,
    died: Sequence[float] | None = None,
    site: Sequence[int] | None = None,
    links: Sequence[tuple[int, float, int]] = (),
    **change_columns: Sequence[int],
) -> Tables:
    """Return tables with one page for each sequence of change times; a link is (page, day from, target page)."""
    count = len(changes)
    sites = np.array(site if site is not None else [0] * count, dtype=np.int64)
    made: Tables = {
        "sites": {"site_id": np.unique(sites), "days": np.full(len(np.unique(sites)), float(days))},
        "pages": {
            "page_id": np.arange(count, dtype=np.int64),
            "site_id": sites,
            "path": np.array([f"/{page}" for page in range(count)], dtype=object),
            "born_day": np.array(born if born is not None else [0.0] * count, dtype=np.float64),
            "died_day": np.array(died if died is not None else [np.nan] * count, dtype=np.float64),
        },
        "changes": {
            "page_id": np.repeat(np.arange(count, dtype=np.int64), [len(times) for times in changes]),
            "day": np.concatenate([[], *changes]).astype(np.float64),
        },
    }
    for column, values in change_columns.items():
        made["changes"][column] = np.array(values, dtype=np.int64)
    if links:
        made["links"] = {
            "page_id": np.array([page for page, _, _ in links], dtype=np.int64),
            "day_from": np.array([day for _, day, _ in links], dtype=np.float64),
            "day_to": np.full(len(links), np.nan),
            "internal": np.ones(len(links), dtype=np.bool_),
            "target_page": np.array([target for _, _, target in links], dtype=np.int64),
        }
    return made


def recording(days: float, changes: Sequence[Sequence[float]], **options: Any) -> Recording:
    """Return the same as a recording."""
    return Recording.from_arrays(tables(days, changes, **options))


def following_pages(days: int = 40) -> Tables:
    """Page 0 changes the day after page 1 does, 2 always, 3 never, 4 at times; every version has a text."""
    draw = np.random.default_rng(2)
    lead = np.flatnonzero(draw.random(days - 2) < 0.4) + 0.5
    some = np.flatnonzero(draw.random(days) < 0.3) + 0.5
    changes = [lead + 1, lead, np.arange(days) + 0.5, np.empty(0), some]
    made = tables(days, [list(times) for times in changes], born=[0.0] * 5)
    pages = np.repeat(np.arange(5), [len(times) + 1 for times in changes])
    day = np.concatenate([np.append(0.0, times) for times in changes])
    made["texts"] = {
        "page_id": pages,
        "day": day,
        "text": np.array([f"page{p} news{d:.0f}" for p, d in zip(pages, day, strict=True)], dtype=np.object_),
    }
    made["changes"]["chi2_p"] = np.where(made["changes"]["page_id"] == 4, 0.01, 1.0)
    return made


def random_tables(pages: int, days: float, seed: int, *, sites: int = 3, births: bool = False) -> Tables:
    """Return pages with Poisson changes at rates between never and hourly."""
    draw = np.random.default_rng(seed)
    born = np.where(draw.random(pages) < 0.2, draw.uniform(0.1, days - 1, pages), 0.0) if births else np.zeros(pages)
    died = np.where(draw.random(pages) < 0.15, draw.uniform(days / 2, days, pages), np.nan) if births else None
    rates = draw.choice([0.0, 0.05, 0.3, 1.0, 4.0], pages)
    changes = []
    for page in range(pages):
        end = days if died is None or np.isnan(died[page]) else float(died[page])
        begin = float(born[page])
        count = draw.poisson(rates[page] * max(end - begin, 0.0))
        times = np.sort(draw.uniform(begin, end, count)) if end > begin else np.empty(0)
        changes.append(times[(times > begin) & (times < end)])
    return tables(
        days,
        [list(times) for times in changes],
        born=born.tolist(),
        died=None if died is None else np.where(died <= born, np.nan, died).tolist(),
        site=draw.integers(0, sites, pages).tolist() if sites > 1 else None,
    )


def write(made: Mapping[str, Mapping[str, npt.NDArray[Any]]], folder: Path) -> Path:
    """Write tables as a recording on disk."""
    folder.mkdir(parents=True)
    for table, columns in made.items():
        pq.write_table(
            pa.table({name: pa.array(values) for name, values in columns.items()}), folder / f"{table}.parquet"
        )
    return folder


def open_policies() -> list[str]:
    """Specs of all registered policies that are not clairvoyant and need no file: with `cg` where they need another."""
    found = []
    for entry in policies:
        required = [p.name for p in arguments.parameters(entry.make) if p.required]
        if not entry.clairvoyant and required in ([], ["policy"]):
            found.append(f"{entry.name}(cg)" if required else entry.name)
    return found


class Script(Named):
    """A policy that chooses what it was told, cycle by cycle."""

    def __init__(self, cycles: Mapping[int, Sequence[int]]) -> None:
        self.cycles = cycles

    def __call__(self, setting: Setting) -> Script:
        return self

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        pages = np.array(self.cycles.get(memory.cycle, ()), dtype=np.int64)
        return pages[memory.asked[pages] < memory.cycle][:budget]


class Diary:
    """Notes what a policy chooses."""

    def __init__(self, policy: Any) -> None:
        self.policy = policy
        self.chosen: list[tuple[float, list[int]]] = []

    def begin(self, memory: Memory, at: float) -> None:
        self.policy.begin(memory, at)

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        pages: PageIds = self.policy.choose(memory, budget, at)
        self.chosen.append((at, pages.tolist()))
        return pages

    def learn(self, memory: Memory, visits: Visits) -> None:
        self.policy.learn(memory, visits)
