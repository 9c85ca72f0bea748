"""A crawl that begins with another crawler's history knows what that knew."""

from __future__ import annotations

from pathlib import Path

import pytest

from recrawl.cli import main
from recrawl.live.facade import Crawl
from recrawl.live.planner import Planner
from recrawl.live.reported import Seen
from recrawl.live.warm_start import warm_start
from support.live_crawls import Days

HISTORY = """url,time,digest,status
https://a.example/x,1970-01-11T00:00:00Z,1,
https://a.example/x,1970-01-12T06:00:00Z,2,
https://a.example/x,1970-01-12T12:00:00Z,2,
https://a.example/y,1970-01-11T00:00:00Z,1,
https://a.example/y,1970-01-13T00:00:00Z,1,
https://a.example/z,1970-01-11T00:00:00Z,1,
https://a.example/z,1970-01-13T00:00:00Z,,410
"""


def test_a_history_becomes_the_crawls_own_visits(tmp_path: Path) -> None:
    """By hand: x changed once, y never, z is gone; two visits in one cycle are one; the planner goes on from there."""
    (tmp_path / "h.csv").write_text(HISTORY)
    crawl = Crawl.create(tmp_path / "c")
    told = warm_start(crawl, "csv", [tmp_path / "h.csv"])
    assert (told.pages, told.visits, told.changes, told.cycles) == (3, 6, 1, 3)
    with Planner.open(tmp_path / "c", policy="bayes", budget=5, clock=Days(13.0)) as plan:
        x, y, z = (plan.store.page_of(f"https://a.example/{name}") or 0 for name in "xyz")
        assert (plan.memory.n[[x, y]].tolist(), plan.memory.changes[[x, y]].tolist()) == ([1, 1], [1, 0])
        assert plan.memory.gone[z]
        assert plan.memory.last_visit[x] == 11.5
        chosen = plan.next(5)
        assert [choice.url[-1] for choice in chosen] == ["x", "y"]
        assert plan.report([Seen(chosen[0].url, digest="2")]).outcomes == {"first": 1}
    assert [visit["note"] for visit in crawl.page("https://a.example/y").visits] == ["adopted: csv"] * 2


def test_only_a_crawl_without_visits_can_begin_with_a_history(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second adoption is refused in one line, exit code 2; nothing is changed."""
    (tmp_path / "h.csv").write_text(HISTORY)
    Crawl.create(tmp_path / "c")
    words = ["adopt", "csv", str(tmp_path / "h.csv"), "-C", str(tmp_path / "c")]
    assert main(words) == 0
    assert "6 visits to 3 pages" in capsys.readouterr().out
    assert main(words) == 2
    assert "before the first cycle" in capsys.readouterr().err


def test_visits_are_reported_from_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`next`, fetch, `report`, as a cron job would: CSV or JSON lines; a wrong line is named by its number."""
    crawl = str(tmp_path / "c")
    Crawl.create(crawl).add("https://a.example/x", "https://a.example/y")
    assert main(["next", "-C", crawl, "-n", "1", "--budget", "2"]) == 0
    url = capsys.readouterr().out.strip()
    other = ({"https://a.example/x", "https://a.example/y"} - {url}).pop()
    (tmp_path / "v.csv").write_text(f'url,digest,etag\n{url},1,"""v1"""\n')
    assert main(["report", "-C", crawl, str(tmp_path / "v.csv"), "--budget", "2"]) == 0
    assert capsys.readouterr().out == "1 recorded (1 first), 0 folded, 0 refused\n"
    (tmp_path / "v.jsonl").write_text(f'{{"url": "{other}", "status": 200, "digest": "d", "links": ["/z"]}}\n')
    assert main(["report", "-C", crawl, str(tmp_path / "v.jsonl"), "--json"]) == 0
    assert '"first": 1' in capsys.readouterr().out
    (tmp_path / "bad.csv").write_text("url,status\nhttps://a.example/x,200\nhttps://a.example/y,fine\n")
    assert main(["report", "-C", crawl, str(tmp_path / "bad.csv")]) == 2
    assert "bad.csv, line 3: status 'fine' is not a whole number" in capsys.readouterr().err
    assert main(["next", "-C", crawl, "--json", "--now", "--budget", "9"]) == 0
    assert '"etag": "\\"v1\\""' in capsys.readouterr().out
