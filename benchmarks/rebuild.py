"""Rebuild the memory from a store: pages and visits a second, and what ten million pages take. Uniqueness checks.

python -m benchmarks.rebuild [PAGES]; making the store takes longer than rebuilding from it.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from recrawl.hashing import mix
from recrawl.live.rebuild import rebuild
from recrawl.live.store import Store
from recrawl.live.store_visits import signed
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy
from recrawl.policy import Setting
from recrawl.urls.urlindex import UrlIndex, url_hashes

PAGES = 1_000_000
HOSTS = 10_000


def make_store(path: Path, pages: int) -> Store:
    """A store in which every page was visited once, and a tenth of them a second time."""
    store = Store.create(path)
    hashes = mix(np.arange(pages, dtype=np.uint64), 1).tolist()

    def rows() -> Iterator[tuple[object, ...]]:
        for page, key in enumerate(hashes):
            host = page % HOSTS
            yield page, f"https://host{host}.example/section/page-{page}.html", signed(key), host + 1, 1.0

    def visits() -> Iterator[tuple[object, ...]]:
        for page in range(pages):
            yield page, 1, 1.0 + page * 1e-9, 2
        for page in range(0, pages, 10):
            yield page, 2, 2.0 + page * 1e-9, page % 3 == 0

    db = store.db
    db.execute("pragma synchronous = off")
    db.execute("pragma cache_size = -2000000")
    with store.transaction():
        names = ((f"host{host}.example",) for host in range(HOSTS))
        db.executemany("insert into hosts (name) values (?)", names)
        db.executemany("insert into pages (page, url, url_hash, host, first_seen_at) values (?, ?, ?, ?, ?)", rows())
        db.executemany(
            "insert into cycles (cycle, at, budget, policy, done) values (?, ?, ?, 'age', 1)",
            [(1, 1.0, pages), (2, 2.0, pages // 10)],
        )
        db.executemany(
            "insert into visits (page, cycle, at, outcome, status, body_bytes, elapsed_s, new_internal, new_external,"
            " change_size) values (?, ?, ?, ?, 200, 1, 0.1, 0, 0, 0)",
            visits(),
        )
        db.execute(
            "insert into versions (visit, page, digest, words)"
            " select visit, page, x'00', 300 from visits where outcome > 0"
        )
    store.close()
    return Store.open(path)


def main() -> None:
    pages = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else PAGES
    _uniqueness()
    with tempfile.TemporaryDirectory() as folder:
        make_store(Path(folder) / "warm.sqlite", 1000).close()
        began = time.monotonic()
        store = make_store(Path(folder) / "state.sqlite", pages)
        print(f"made a store of {pages:,} pages in {time.monotonic() - began:.0f} s")
        began = time.monotonic()
        cpu = time.process_time()
        memory = rebuild(store, make_policy("bayes", Setting()), Plan())
        took, used = time.monotonic() - began, time.process_time() - cpu
        known = int(memory.known.sum())
        store.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"rebuilt {known:,} pages and {pages + pages // 10:,} visits in {took:.1f} s ({used:.1f} s CPU),"
        f" peak {peak:.1f} GB; 10 million pages at this rate: {took * 1e7 / pages:.0f} s"
    )


def _uniqueness() -> None:
    """Ask for URLs one hundred at a time, as the links of a page come."""
    urls = [f"https://host{i % 1000}.example/section/page-{i}.html" for i in range(500_000)]
    index = UrlIndex(10_000_000)
    index.add(mix(np.arange(5_000_000, dtype=np.uint64), 7))
    index.add(url_hashes(urls[:100]))
    began = time.process_time()
    for start in range(0, len(urls), 100):
        index.add(url_hashes(urls[start : start + 100]))
    used = time.process_time() - began
    hashes = mix(np.arange(5_000_000, dtype=np.uint64), 8)
    began = time.process_time()
    index.find(hashes)
    bulk = time.process_time() - began
    print(
        f"uniqueness checks, hashing included: {len(urls) / used:,.0f}/s; lookups in bulk: {len(hashes) / bulk:,.0f}/s"
    )


if __name__ == "__main__":
    main()
