"""Counters per page, host and cycle are what a count of the visits gives, whatever was recorded."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.live import store_url_parts
from recrawl.live.store import Store
from recrawl.live.store_history import LOOKED_THROUGH, PageFilter
from recrawl.live.store_visits import SeenLinks, VisitRecord
from recrawl.visits import Outcome
from support.counted_store import recounted

PAGES = [f"http://{host}.example/{i}" for host in "ab" for i in range(3)]
HOSTS = [url.split("/")[2] for url in PAGES]
visit = st.tuples(st.integers(0, 5), st.sampled_from(Outcome), st.integers(0, 3))  # page, outcome, links
cycle = st.lists(visit, max_size=6, unique_by=lambda v: v[0])
correction = st.tuples(st.integers(0, 5), st.sampled_from(Outcome))


def _record(page: int, at: float, outcome: Outcome, links: int) -> VisitRecord:
    seen = SeenLinks([f"http://a.example/l{i}" for i in range(links)], [""] * links, [True] * links)
    brings = outcome in (Outcome.FIRST, Outcome.CHANGED)
    digest = bytes([int(at), links]) if brings else None
    return VisitRecord(page, at, int(outcome), digest=digest, links=seen if brings else None, links_digest=digest)


@settings(max_examples=60, deadline=None)
@given(st.lists(cycle, min_size=1, max_size=5), st.lists(correction, max_size=4))
def test_counters_are_what_a_count_gives(
    cycles: list[list[tuple[int, Outcome, int]]], corrections: list[tuple[int, Outcome]]
) -> None:
    """After any visits, and second reports that correct some of them, every counter agrees with the tables."""
    with TemporaryDirectory() as folder:
        store = Store.create(Path(folder) / "state.sqlite")
        fetched = set[int]()
        with store.transaction():
            store.add_pages(PAGES, HOSTS, 0.0)
            for number, visits in enumerate(cycles, 1):
                store.open_cycle(number, float(number), 6, "age")
                records = []
                for page, outcome, links in visits:
                    was = outcome is Outcome.FIRST and page in fetched
                    found = Outcome.CHANGED if was or (outcome is Outcome.CHANGED and page in fetched) else outcome
                    if found in (Outcome.FIRST, Outcome.CHANGED):
                        found = Outcome.CHANGED if page in fetched else Outcome.FIRST
                        fetched.add(page)
                    records.append(_record(page, number + page / 10, found, links))
                store.add_visits(number, records, store.set_links(records, {}))
            last = {page for page, _, _ in cycles[-1]}
            for page, outcome in corrections:
                if page in last:
                    again = _record(page, len(cycles) + 0.9, outcome, 0)._replace(links=None)
                    store.upgrade_visit(len(cycles), again)
        assert recounted(store)
        status = store.status()
        assert status["visits"] == sum(map(len, cycles))
        assert (
            status["fetched"] == store.db.execute("select count(*) from pages where digest is not null").fetchone()[0]
        )
        store.close()


def test_lists_of_pages_follow_the_counters(tmp_path: Path) -> None:
    """Two pages, three cycles, by hand: order, filters and the last times are those of the visits."""
    store = Store.create(tmp_path / "state.sqlite")
    with store.transaction():
        store.add_pages(PAGES[:3], HOSTS[:3], 0.0)
        found = {1: (2, 2), 2: (1, 0), 3: (0, 1)}  # by cycle: outcomes of pages 0 and 1; page 2 is never visited
        for number, outcomes in found.items():
            store.open_cycle(number, float(number), 2, "age")
            records = [VisitRecord(page, number + page / 10, outcome) for page, outcome in enumerate(outcomes)]
            store.add_visits(number, records, [(0, 0)] * 2)

    def listed(**asked: object) -> list[int]:
        return [page["page"] for page in store.pages(PageFilter(**asked))]  # type: ignore[arg-type]

    assert listed(sort="changes") == [0, 1, 2]
    assert listed(sort="last") == [1, 0, 2]
    assert listed(sort="waiting") == [2, 0, 1]
    assert listed(sort="url", limit=2) == [0, 1]
    assert listed(changed=True, since=2.5) == [1]
    assert listed(changed=True, contains="/0") == [0]
    assert listed(since=3.05) == [1]
    first = store.pages(PageFilter())[0]
    assert (first["visits"], first["changes"], first["last_visit_at"], first["last_change_at"]) == (3, 1, 3.0, 2.0)
    assert store.changes_by_cycle() == {1: 0, 2: 1, 3: 1}
    assert store.visited_at() == [1.0, 2.0, 3.0]
    assert [(c["cycle"], c["first"], c["changed"], c["unchanged"]) for c in store.cycles(2)] == [
        (3, 0, 1, 1),
        (2, 0, 1, 1),
    ]
    assert store.hosts_at_work()[0]["pages"] == 3


def test_summaries_of_urls_change_no_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With full blocks summarised, a search finds what reading every URL finds, and reads far fewer of them."""
    monkeypatch.setattr(store_url_parts, "BLOCK", 256)
    store = Store.create(tmp_path / "state.sqlite")
    urls = [f"http://a.example/{'Rare-é' if i == 2_500 else 'often'}/{i * 7919 % 100_003}" for i in range(3_000)]
    with store.transaction():
        store.add_pages(urls[:2_000], ["a.example"] * 2_000, 0.0)
        store.summarise_urls()
        store.add_pages(urls[2_000:], ["a.example"] * 1_000, 0.0)
    for _ in range(2):
        for part in ("often", "Rare-é", "e-é/", "nowhere", urls[300][-7:], urls[2_999][-7:], "/9", "%_often"):
            expected = [url for url in urls if part in url]
            found = [page["url"] for page in store.pages(PageFilter(part, sort="waiting"))]
            assert found == expected, part
            assert store.url_like(part) == min(expected, key=len, default=None)
        read = store.pages_that_may_hold("nowhere at all")
        assert read is not None
        assert sum(last - first + 1 for first, last in read) < 1_300
        with store.transaction():
            store.summarise_urls()
    assert store.pages_that_may_hold("nowhere at all") == [(2_816, 2_999)]
    store.close()


def test_a_part_of_a_url_is_found_however_rare_it_is(tmp_path: Path) -> None:
    """A list of pages by a part of their URLs is that of all pages, near the front of the order or far behind."""
    store = Store.create(tmp_path / "state.sqlite")
    urls = [f"http://a.example/{'Rare' if i % 997 == 996 else 'often'}/{i}?x%20_={i % 7}" for i in range(3_000)]
    with store.transaction():
        store.add_pages(urls, ["a.example"] * len(urls), 0.0)
    assert len(urls) > LOOKED_THROUGH
    for part in ("often", "Rare", "rare", "/2992?", "x%20_=3", "x_20", "%", "\\", "nowhere"):
        for sort, back in (("waiting", 1), ("last", -1)):
            expected = [url for url in urls[::back] if part in url]
            for limit in (1, 50, None):
                found = [page["url"] for page in store.pages(PageFilter(part, sort=sort, limit=limit))]
                assert found == expected[:limit], (part, sort, limit)
    store.close()
