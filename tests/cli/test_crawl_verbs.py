"""Verbs that change a crawl while it runs or between runs: add, remove, pause, resume, run --now, diff, show --at."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.living import LivingWeb, begin

from recrawl.cli import main
from recrawl.live.directory import CrawlDirectory
from recrawl.live.facade import Crawl
from recrawl.live.recorder import Noted
from recrawl.live.session import Session
from recrawl.plan import Plan
from recrawl.spans import at_of

PLAN = Plan(1.0, 200, warmup=0)


@pytest.fixture
def web() -> Iterator[LivingWeb]:
    with LivingWeb(("a.test", "b.test"), pages=3, slow_delay_s=0) as web:
        yield web


@pytest.fixture
def crawl(tmp_path: Path, web: LivingWeb) -> CrawlDirectory:
    return begin(tmp_path / "crawl", web)


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert main(words) == code
    told = capsys.readouterr()
    return told.out if code == 0 else told.err


def cycle(crawl: CrawlDirectory) -> list[str]:
    """Run one cycle at once; return the URLs visited."""
    visited: list[str] = []

    def watch(noted: Noted) -> None:
        visited.append(noted.url)

    with Session(crawl, "age", PLAN, watch=watch) as session:
        session.at_once = True
        session.run_cycle()
    return visited


def test_pages_added_while_a_run_holds_the_crawl_are_visited_in_its_next_cycle(
    crawl: CrawlDirectory, web: LivingWeb, capsys: pytest.CaptureFixture[str]
) -> None:
    """`add` leaves them in a queue; the process that crawls takes them in, with their host in the scope."""
    visited: list[str] = []
    with Session(crawl, "age", PLAN, watch=lambda noted: visited.append(noted.url)) as session:
        session.run_cycle()
        new = f"http://new.test:{web.port}/page"
        assert "the process that crawls adds them" in said(capsys, "add", "-C", str(crawl.path), new)
        assert new not in visited
        session.at_once = True
        session.run_cycle()
    assert visited.count(new) == 1


def test_good_lines_are_added_and_bad_ones_named(
    crawl: CrawlDirectory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file with two bad lines among four adds two pages and says which lines are bad; a bare host gets a hint."""
    lines = tmp_path / "urls.txt"
    lines.write_text("# mine\nhttp://a.test/x\nexample.org\n\nftp://a.test/\nhttp://a.test/y\n")
    assert main(["add", "-C", str(crawl.path), "-f", str(lines)]) == 0
    told = capsys.readouterr()
    assert "2 pages added" in told.out
    assert "line 3: 'example.org' is not" in told.err
    assert "did you mean https://example.org/?" in told.err
    assert "line 5: " in told.err
    assert "https://example.org/" in said(capsys, "add", "-C", str(crawl.path), "example.org", code=2)


def test_removed_pages_and_paused_hosts_are_not_visited_until_they_are_back(
    crawl: CrawlDirectory, web: LivingWeb, capsys: pytest.CaptureFixture[str]
) -> None:
    """`remove`, `pause`, `resume` and `add` again, and `status` counts what is left out."""
    folder, page = str(crawl.path), web.urls("b.test", 1)[0]
    said(capsys, "remove", "-C", folder, page)
    said(capsys, "pause", "-C", folder, "a.test")
    visited = cycle(crawl)
    assert page not in visited
    assert not any("a.test" in url for url in visited)
    barred = json.loads(said(capsys, "status", "-C", folder, "--json"))["barred"]
    assert (barred["removed"], barred["paused"]) == (1, 3)
    said(capsys, "resume", "-C", folder, "a.test")
    said(capsys, "add", "-C", folder, page)
    visited = cycle(crawl)
    assert page in visited
    assert sum("a.test" in url for url in visited) == 3
    assert "no host 'c.test'" in said(capsys, "pause", "-C", folder, "c.test", code=2)
    assert "did you mean a.test?" in said(capsys, "pause", "-C", folder, web.urls("a.test", 1)[0], code=2)


def test_a_cycle_that_is_not_due_runs_now(crawl: CrawlDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    """`run --cycles 1 --now` twice in a row makes two cycles; times are ISO 8601."""
    for _ in range(2):
        said(capsys, "run", "-C", str(crawl.path), "--cycles", "1", "--now", "--quiet")
    status = json.loads(said(capsys, "status", "-C", str(crawl.path), "--json"))
    assert status["cycle"]["number"] == 2
    assert abs(at_of(status["cycle"]["at"]) - time.time() / 86_400) < 0.1
    lines = (crawl.path / "log.jsonl").read_text().splitlines()
    assert all(at_of(json.loads(line)["at"]) > 20_000 for line in lines)
    assert at_of(status["next_due_at"]) == pytest.approx(at_of(status["cycle"]["at"]) + 1, abs=1e-6)
    assert "the next cycle is due" in said(capsys, "status", "-C", str(crawl.path))


def test_cycles_run_at_once_are_replayed_at_their_own_pace(
    crawl: CrawlDirectory, web: LivingWeb, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three cycles within seconds, of a crawl whose cycles are days: `learn` and `replay` have two cycles to judge."""
    for _ in range(3):
        said(capsys, "run", "-C", str(crawl.path), "--cycles", "1", "--now", "--quiet")
        web.day += 3
    told = json.loads(said(capsys, "replay", "-C", str(crawl.path), "--policies", "age", "--json"))
    assert len(told["cycles"]) >= 1
    assert any("as far apart as this crawl's were" in note for note in told["data"]["notes"])
    assert "note: cycles of" in said(capsys, "learn", "-C", str(crawl.path), "--policies", "age,bayes")
    said(capsys, "replay", "-C", str(crawl.path), "--every", "1d", code=2)


def test_what_a_page_said_then_and_what_changed_since(
    crawl: CrawlDirectory, web: LivingWeb, capsys: pytest.CaptureFixture[str]
) -> None:
    """`show --at`, `diff` and `pages --changed --since` look back at versions."""
    folder, page = str(crawl.path), web.urls("a.test", 1)[0]
    cycle(crawl)
    assert "one version whose body was kept; a difference needs two" in said(capsys, "diff", "-C", folder, page, code=2)
    between = time.time() / 86_400
    web.day += 10
    cycle(crawl)
    then, now = (Crawl.open(crawl.path).text_at(page, at)[1] for at in (between, between + 1))
    assert then != now
    told = json.loads(said(capsys, "diff", "-C", folder, page, "--json"))
    assert told["versions"] == 2
    assert told["lines"] == [f"-{then}", f"+{now}"]
    assert "there is no version 3" in said(capsys, "diff", "-C", folder, page, "1", "3", code=2)
    assert then.split()[0] in said(capsys, "show", "-C", folder, page, "--at", "2100-01-01") + then
    changed = json.loads(said(capsys, "pages", "-C", folder, "--changed", "--since", "2026-01-01", "--json"))
    assert len(changed) == len(json.loads(said(capsys, "pages", "-C", folder, "--changed", "--json"))) > 0
    assert json.loads(said(capsys, "pages", "-C", folder, "--changed", "--since", "2h", "--json")) == changed
    assert json.loads(said(capsys, "pages", "-C", folder, "--changed", "--since", "0.001s", "--json")) == []
    assert then.split()[0] in said(capsys, "show", "-C", folder, page, "--at", "0.001s") + then
    with pytest.raises(SystemExit, match="2"):
        main(["pages", "-C", folder, "--since", "2 fortnights"])
    assert "'2 fortnights' is not a span of time" in capsys.readouterr().err
    later = said(capsys, "pages", "-C", folder, "--changed", "--since", "2100-01-01", "--json")
    assert json.loads(later) == []


def test_a_first_run_in_which_everything_is_refused_says_which_setting_opens_it(
    tmp_path: Path, web: LivingWeb, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pages on this machine, without allow_networks: the screen names it."""
    crawl = Crawl.create(tmp_path / "mine")
    crawl.add(f"http://127.0.0.1:{web.port}/1")
    assert main(["run", "-C", str(tmp_path / "mine"), "--cycles", "1"]) == 0
    assert "allow_networks" in capsys.readouterr().err
    assert not web.log
