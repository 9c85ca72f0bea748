"""Groups of visits: many together where each is little work, fewer where each has links to compare."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recrawl.fetch.outcome import FetchResult, Kind
from recrawl.live.bodies import Bodies
from recrawl.live.recorder import GROUP, GROUP_LINKS, Arrived, Recorder
from recrawl.live.store import Store
from recrawl.live.store_visits import SeenLinks, VisitRecord
from recrawl.urls.traps import DiscoveryBudget
from recrawl.visits import Outcome

PAGES = GROUP + 10
SHOWN = 60  # links of a page


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    store = Store.create(tmp_path / "state.sqlite")
    urls = [f"http://a.test/{n}" for n in range(PAGES)]
    with store.transaction():
        store.add_pages(urls, ["a.test"] * PAGES, 0.0)
    yield Recorder(store, Bodies(tmp_path), None, lambda _: False, DiscoveryBudget(), lambda _: None)
    store.close()


def _visit(page: int, outcome: Outcome, edition: int) -> Arrived:
    """Return a visit that shows other links in each edition."""
    urls = [f"http://b.test/{edition}/{k}" for k in range(SHOWN)]
    links = SeenLinks(urls, [""] * SHOWN, [False] * SHOWN)
    record = VisitRecord(page, float(edition), int(outcome), digest=b"%d" % edition, links=links)
    return Arrived(FetchResult(f"http://a.test/{page}", Kind.OK), record, False, ())


def test_a_group_ends_where_enough_links_are_compared(recorder: Recorder) -> None:
    """Recording a group holds up other hosts: 500 first visits, or as many others as show 4,000 links."""
    recorded = list[int]()  # visits of the cycle after each group

    def visit_all(outcome: Outcome, cycle: int) -> list[int]:
        recorded.clear()
        recorder.begin(cycle)
        recorder.also = lambda: recorded.append(recorder.store.visits_in(cycle))
        for page in range(PAGES):
            recorder.add(_visit(page, outcome, cycle))
        return recorded

    assert visit_all(Outcome.FIRST, 1) == [GROUP]
    recorder.record()
    some = -(-GROUP_LINKS // SHOWN)
    assert visit_all(Outcome.CHANGED, 2) == list(range(some, PAGES, some))
    recorder.record()
    assert recorded[-1] == PAGES
    recorder.group_links = float("inf")
    assert visit_all(Outcome.CHANGED, 3) == [GROUP]
    assert {row[5] for row in recorder.rows.values()} == {0}, "internal links"
    assert {row[6] for row in recorder.rows.values()} == {SHOWN}, "external ones"
