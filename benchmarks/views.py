"""What looking at a large crawl costs: CPU-milliseconds of every view at ten million visits.

python -m benchmarks.views [VISITS [PAGES]]; 10,000,000 visits to 100,000 pages unless said otherwise. Making the store
takes minutes; each view is opened anew, as a verb does, and measured the second time (imports and caches apart).
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from recrawl.live.bodies import Bodies
from recrawl.live.facade import Crawl
from recrawl.live.store import Store
from recrawl.live.store_visits import signed
from recrawl.live.storeschema import INDEXES, TRIGGERS
from recrawl.live.upgrade import COUNTERS
from recrawl.urls.urlindex import url_hashes

VISITS, PAGES, HOSTS = 10_000_000, 100_000, 1_000
BARRED = 10_000
LIMIT_MS = 50.0


def url_of(page: int) -> str:
    """Return the URL of a page."""
    return f"https://host{page % HOSTS}.example/section-{page % 97}/page-{page}.html"


def make_crawl(folder: Path, visits: int, pages: int) -> Crawl:
    """A crawl of daily cycles in which a page was visited every tenth day, and one visit in five found a change."""
    crawl = Crawl.create(folder)
    store = Store.open(crawl.directory.state)
    db = store.db
    db.execute("pragma synchronous = off")
    db.execute("pragma cache_size = -1000000")
    db.execute("pragma journal_mode = off")
    drop = "select type, name from sqlite_schema where type = 'trigger' or type = 'index' and sql is not null"
    for kind, name in db.execute(drop).fetchall():
        db.execute(f"drop {kind} {name}")
    keys = url_hashes([url_of(page) for page in range(pages)]).tolist()
    per_cycle, cycles = max(1, pages // 10), -(-visits // max(1, pages // 10))
    with store.transaction():
        db.executemany("insert into hosts (name, added) values (?, 1)", [(f"host{h}.example",) for h in range(HOSTS)])
        db.executemany(
            "insert into pages (page, url, url_hash, host, first_seen_at, digest) values (?, ?, ?, ?, 1.0, x'00')",
            ((page, url_of(page), signed(key), page % HOSTS + 1) for page, key in enumerate(keys)),
        )
        db.executemany(
            "insert into cycles (cycle, at, budget, policy, done) values (?, ?, ?, 'age', 1)",
            ((cycle, float(cycle), per_cycle) for cycle in range(1, cycles + 1)),
        )
        # the v-th visit is to page v modulo the pages, so each is visited once in ten cycles
        db.execute(
            "insert into visits with recursive n(v) as (select 0 union all select v + 1 from n where v + 1 < :visits)"
            " select v + 1, v % :pages, v / :per + 1, v / :per + 1 + (v % :per) * 1e-7,"
            " case when v < :pages then 2 when (v * 7919) % 5 = 0 then 1 when (v * 31) % 997 = 0 then 4 else 0 end,"
            " 200, 1000, .1, 0, 0, 0, null from n",
            {"visits": visits, "pages": pages, "per": per_cycle},
        )
        db.execute(
            "insert into versions select visit, page, x'00', 300, null, null, null from visits where outcome in (1, 2)"
        )
        db.execute("insert into barred select page, 1 from pages where page % (? / ?) = 0", (pages, min(BARRED, pages)))
        db.execute("insert into host_bars select host, 3 from hosts where host % 50 = 0")
        _give_bodies(crawl, store)
    counting = ";".join(part for part in COUNTERS.split(";") if "alter table" not in part)
    db.executescript(f"begin; {counting}; {INDEXES} {TRIGGERS} commit;")
    began = time.process_time()
    with store.transaction():
        store.summarise_urls()
    took_s = time.process_time() - began
    print(f"summaries of URLs, as written when cycles end: {took_s / pages * 1e6:.2f} us per page")
    store.close()
    return crawl


def _give_bodies(crawl: Crawl, store: Store) -> None:
    """Let one page have two bodies, so that its last change can be shown."""
    bodies = Bodies(crawl.directory.warc)
    bodies.open({})
    last = store.db.execute("select visit from versions where page = 0 order by visit desc limit 2").fetchall()
    for number, (visit,) in enumerate(last):
        text = "".join(f"<p>Line {k} of the page, edition {number if k == 7 else 0}.</p>" for k in range(100))
        place = bodies.write(url_of(0), 200, (("content-type", "text/html"),), f"<title>t</title>{text}".encode())
        store.db.execute("update versions set warc = ?, offset = ?, length = ? where visit = ?", (*place, visit))
    bodies.close()


def views(crawl: Crawl, last: float) -> dict[str, Callable[[], Any]]:
    """Every view of a crawl, as the verbs and a dashboard ask for it."""

    def reading(ask: Callable[[Store], Any]) -> Callable[[], Any]:
        def asked() -> Any:
            with crawl.reading() as store:
                return ask(store)

        return asked

    return {
        "status": crawl.status,
        "pages": lambda: crawl.pages(limit=50),
        "pages --sort visits": lambda: crawl.pages(sort="visits", limit=50),
        "pages --sort last": lambda: crawl.pages(sort="last", limit=50),
        "pages --sort waiting": lambda: crawl.pages(sort="waiting", limit=50),
        "pages --sort url": lambda: crawl.pages(sort="url", limit=50),
        "pages --changed --since (last cycle)": lambda: crawl.pages(changed=True, since=last, limit=50),
        "pages --contains (many)": lambda: crawl.pages("section-3", limit=50),
        "pages --contains (none)": lambda: crawl.pages("nowhere", limit=50),
        "pages --contains (a number that no page has)": lambda: crawl.pages("page-98765432", limit=50),
        "pages --contains (one)": lambda: crawl.pages(f"page-{PAGES // 2}.", limit=50),
        "show": lambda: crawl.page(url_of(0)),
        "diff": lambda: crawl.diff(url_of(0)),
        "cycles, the last 50": reading(lambda store: store.cycles(50)),
        "hosts, the largest 50": reading(lambda store: store.hosts_at_work(50)),
    }  # fmt: skip


def main() -> None:
    """Build the crawl and print the table."""
    words = [int(word.replace(",", "")) for word in sys.argv[1:] if word.replace(",", "").isdigit()]
    visits, pages = words[0] if words else VISITS, words[1] if len(words) > 1 else PAGES
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        crawl = make_crawl(Path(folder) / "crawl", visits, pages)
        took_s, size = time.process_time() - began, crawl.directory.state.stat().st_size
        print(f"made {visits:,} visits to {pages:,} pages ({size / 1e9:.1f} GB) in {took_s:.0f} CPU-s")
        with crawl.reading() as store:
            last = store.cycles(1)[0]["at"]
        worst = 0.0
        for name, view in views(crawl, last).items():
            view()
            began = time.process_time()
            view()
            took_ms = (time.process_time() - began) * 1e3
            worst = max(worst, took_ms)
            print(f"{took_ms:8.1f} ms CPU  {name}")
        print(f"slowest {worst:.1f} ms CPU (asked: {LIMIT_MS:g})")


if __name__ == "__main__":
    main()
