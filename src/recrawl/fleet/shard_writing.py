"""Write a memory and its visits as shards: from a crawl, or from a recording that is crawled for some cycles first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recrawl.columns import IntArray, PageIds
from recrawl.cycle import EveryPage, run_cycle
from recrawl.eligibility import Bar
from recrawl.errors import InputError
from recrawl.fleet.shard_files import (
    LAST_CYCLE,
    MEMORY_COLUMNS,
    Columns,
    ShardPart,
    ShardSet,
    check_count,
    gaps_of,
    new_folder,
    shard_of,
    write_shard,
)
from recrawl.live.facade import Crawl
from recrawl.live.open_crawl import OpenCrawl, bar_pages
from recrawl.live.store import Store
from recrawl.live.store_visits import Rows
from recrawl.memory import Memory
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy
from recrawl.policies.learned.belief import WARM, WARM_CHUNKS
from recrawl.policies.learned.places import PLACED, Places
from recrawl.policy import Setting
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld
from recrawl.urls.url import registrable_domain
from recrawl.visits import Outcome

LAST_ROUND = 255


@dataclass
class Snapshot:
    """A memory with the visits that made it: page, cycle, round, outcome, in the order of the cycles."""

    memory: Memory
    domains: list[str]  # by site
    urls: npt.NDArray[np.object_]
    paths: npt.NDArray[np.object_]
    page: PageIds
    cycle: IntArray
    round: IntArray
    outcome: IntArray
    at: float  # when the cycle to plan is due
    seed: int
    next_cycle: int


def write_shards(snapshot: Snapshot, folder: str | Path, count: int, source: str, *, force: bool = False) -> ShardSet:
    """Write a snapshot as `count` shards."""
    check_count(count)
    if snapshot.next_cycle > LAST_CYCLE:
        raise InputError(f"shards hold at most {LAST_CYCLE} cycles, and this would be number {snapshot.next_cycle}")
    path = new_folder(folder, force=force)
    of_site = np.array([shard_of(domain, count) for domain in snapshot.domains], dtype=np.int64)
    memory = snapshot.memory
    pages = np.flatnonzero(memory.known)
    shard = of_site[memory.site[pages]]
    parts = [_write_one(snapshot, path, number, pages[shard == number]) for number in range(count)]
    shards = ShardSet(path, snapshot.next_cycle, snapshot.at, memory.cycle_days, snapshot.seed, source, tuple(parts))
    shards.write_header()
    return shards


def _write_one(snapshot: Snapshot, folder: Path, number: int, pages: PageIds) -> ShardPart:
    memory = snapshot.memory
    columns: Columns = {name: getattr(memory, name)[pages] for name in MEMORY_COLUMNS}
    columns["page"] = pages
    columns["site"] = np.unique(memory.site[pages], return_inverse=True)[1]
    columns["gone"], columns["barred"] = memory.gone[pages], memory.bars.page[pages]
    columns["barred"] = np.where(columns["barred"], columns["barred"], memory.bars.site[memory.site[pages]])
    rests = memory.rests()[pages] > snapshot.next_cycle - memory.cycle
    columns["barred"] = np.where(rests & (columns["barred"] == Bar.OPEN), np.uint8(Bar.LEFT_ALONE), columns["barred"])
    columns["new_internal"], columns["new_external"] = memory.new_links[pages].T
    if memory.importance is not None:
        columns["importance"] = memory.importance[pages]
    visits = _visits_of(snapshot, pages)
    return write_shard(folder, number, columns, _groups(snapshot, pages), snapshot.urls[pages].tolist(), visits)


def _groups(snapshot: Snapshot, pages: PageIds) -> npt.NDArray[np.int32]:
    """Return the groups of the pages' addresses, numbered from 0 within the shard."""
    if not len(pages):
        return np.empty((0, PLACED), dtype=np.int32)
    places = Places()
    places.place(np.arange(len(pages)), snapshot.memory.site[pages], snapshot.paths[pages], len(pages))
    return places.ids[: len(pages), :PLACED]


def _visits_of(snapshot: Snapshot, pages: PageIds) -> Columns:
    row = np.full(len(snapshot.memory), -1, dtype=np.int64)
    row[pages] = np.arange(len(pages))
    mine = (row[snapshot.page] >= 0) & (snapshot.outcome < Outcome.GONE)
    columns = (column[mine] for column in (snapshot.page, snapshot.cycle, snapshot.round, snapshot.outcome))
    page, cycle, number, outcome = columns
    order = np.lexsort((snapshot.memory.tie[page], number, cycle))
    page, cycle, number, outcome = page[order], cycle[order], number[order], outcome[order]
    gap = gaps_of(page, cycle, outcome < Outcome.FIRST)
    return {"page": row[page], "cycle": cycle, "round": number, "outcome": outcome, "gap": gap}


def numbered_rounds(rounds: Sequence[PageIds], known: int) -> PageIds:
    """Return the number of each visit's round, round after round; one of most pages counts as several, as a warm-up."""
    numbers: list[PageIds] = []
    start = 0
    for pages in rounds:
        parts = WARM_CHUNKS if len(pages) > WARM * max(1, known) else 1
        for part in np.array_split(pages, parts):
            numbers.append(np.full(len(part), min(start, LAST_ROUND)))
            start += 1
    return np.concatenate([np.zeros(0, dtype=np.int64), *numbers])


# -- sources ----------------------------------------------------------------------------------------------------------


def of_crawl(crawl: Crawl) -> Snapshot:
    """Read a live crawl; the cycle to plan is the open one, or the next."""
    _, plan = crawl.steering("age")
    opened = OpenCrawl("age", plan, crawl.directory.config())
    with crawl.reading() as store:
        opened.store = store
        opened.restore()
        memory, last = opened.memory, store.last_cycle()
        bar_pages(store, memory, store.planned(memory.cycle).tolist())
        is_open = last is not None and not last.done
        pieces = [_in_rounds(store, piece, int(memory.known.sum())) for piece in store.visits_in_order()]
        found = np.full(len(memory), "", dtype=object)
        for page, url in store.all_urls().items():
            found[page] = url
        sites = int(memory.site.max(initial=0)) + 1
        hosts = store.hosts()
    at = 0.0 if last is None else last.at + (0.0 if is_open else plan.cycle_days)
    nothing = np.zeros(0, dtype=np.int64)
    visited, cycle, number, outcome = (
        (np.concatenate([nothing, *column]) for column in zip(*pieces, strict=True)) if (pieces) else (nothing,) * 4
    )
    return Snapshot(
        memory,
        [registrable_domain(hosts[site]) if site in hosts else "" for site in range(sites)],
        found,
        np.array([url.split("/", 3)[-1] for url in found], dtype=object),
        visited,
        cycle,
        number,
        outcome,
        at,
        plan.seed,
        memory.cycle + (not is_open),
    )


def _in_rounds(store: Store, piece: Rows, known: int) -> tuple[IntArray, ...]:
    """Return page, cycle, round and outcome of one cycle's visits; those of no round come last."""
    order = np.argsort(piece["page"])
    listed = [pages[np.isin(pages, piece["page"])] for _, pages in store.rounds(int(piece["cycle"][0]))]
    listed.append(np.setdiff1d(piece["page"], np.concatenate([piece["page"][:0], *listed])))
    pages = np.concatenate(listed)
    row = order[np.searchsorted(piece["page"], pages, sorter=order)]
    numbers = numbered_rounds(listed, known)
    return pages, piece["cycle"][row].astype(np.int64), numbers, piece["outcome"][row].astype(np.int64)


def of_recording(recording: Recording, plan: Plan, cycles: int, policy: str) -> Snapshot:
    """Crawl a recording under a policy for so many cycles, warm-up included."""
    longest = plan.cycles(recording)
    if not plan.warmup <= cycles <= longest:
        raise InputError(f"cycles must be from {plan.warmup} (the warm-up) to {longest} (the recording), not {cycles}")
    world = RecordedWorld(recording, discover=plan.discover)
    memory = world.memory(cycle_days=plan.cycle_days, seed=plan.seed, importance=plan.importance)
    chooser = make_policy(policy, Setting(seed=plan.seed))
    seen: list[tuple[Any, ...]] = []
    for cycle in range(1, cycles + 1):
        at = recording.start + cycle * plan.cycle_days
        if cycle <= plan.warmup:
            rounds = run_cycle(world, memory, EveryPage(chooser), len(memory), at)
        else:
            budget = plan.visits(recording)
            rounds = run_cycle(world, memory, chooser, budget, at, site_cap=plan.site_cap, discovery=plan.discovery)
        numbers = numbered_rounds([visits.pages for visits in rounds], int(memory.known.sum()))
        outcomes = np.concatenate([np.zeros(0, dtype=np.int64), *(visits.outcome for visits in rounds)])
        pages = np.concatenate([numbers[:0], *(visits.pages for visits in rounds)])
        seen.append((pages, np.full(len(pages), cycle), numbers, outcomes.astype(np.int64)))
    page, cycle_of, number, outcome = (np.concatenate(column) for column in zip(*seen, strict=True))
    paths = recording.page("path") if recording.has_page("path") else recording.page_ids.astype(str).astype(object)
    names = np.array(recording.site_names, dtype=object)[memory.site]
    urls = np.array([f"http://{site}/{path}" for site, path in zip(names, paths, strict=True)], dtype=object)
    domains = [registrable_domain(name) for name in recording.site_names]
    at = recording.start + (cycles + 1) * plan.cycle_days
    return Snapshot(
        memory, domains, urls, np.asarray(paths), page, cycle_of, number, outcome, at, plan.seed, cycles + 1
    )
