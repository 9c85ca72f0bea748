"""Check a store's counters against a count of its visits, links and pages."""

from __future__ import annotations

from recrawl.live.store import Store

_BY_OUTCOME = ", ".join(f"sum(outcome = {k})" for k in range(5))
_COLUMNS = "unchanged, changed, first, gone, failed"


def recounted(store: Store) -> bool:
    """Whether every counter is what a pass over the tables counts; says where not."""
    asked = {
        "cycles": (
            f"select cycle, {_COLUMNS} from cycles where unchanged + changed + first + gone + failed order by 1",
            f"select cycle, {_BY_OUTCOME} from visits where cycle in (select cycle from cycles) group by 1 order by 1",
        ),
        "hosts": (
            f"select host, {_COLUMNS} from hosts where unchanged + changed + first + gone + failed order by 1",
            f"select host, {_BY_OUTCOME} from visits join pages using (page) group by 1 order by 1",
        ),
        "hosts' pages": (
            "select host, pages, fetched from hosts where pages order by 1",
            "select host, count(*), sum(digest is not null) from pages group by 1 order by 1",
        ),
        "pages": (
            "select page, visits, changes, last_visit_at, last_change_at from pages where visits order by 1",
            "select page, count(*), sum(outcome = 1), max(at), max(case when outcome = 1 then at end)"
            " from visits group by 1 order by 1",
        ),
        "gone": (
            "select page, gone from pages where page in (select page from visits where outcome <> 4) order by 1",
            "select page, outcome = 3 from visits v where outcome <> 4 and cycle ="
            " (select max(cycle) from visits w where w.page = v.page and outcome <> 4) order by 1",
        ),
        "links": (
            "select page, links from pages where links order by 1",
            "select page, sum(n) from (select page, count as n from first_links union all"
            " select page, count(*) from links where gone_at is null group by page)"
            " group by 1 having sum(n) order by 1",
        ),
        "hosts' links": (
            "select host, links from hosts where links order by 1",
            "select host, sum(links) from pages group by 1 having sum(links) order by 1",
        ),
    }
    for name, (kept, counted) in asked.items():
        one, other = store.db.execute(kept).fetchall(), store.db.execute(counted).fetchall()
        assert one == other, f"{name}: {one} where there are {other}"
    return True
