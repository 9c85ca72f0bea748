"""What a new user meets: sitemaps that cannot be read, a first run that fails, `| head`, JSON and times."""

from __future__ import annotations

import csv
import io
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from recrawl.cli import main
from recrawl.cli.options import moment, time_at
from recrawl.live.adding import queue
from recrawl.live.directory import CrawlDirectory
from recrawl.live.facade import Crawl
from recrawl.live.session import Session
from recrawl.live.signals import Heard
from recrawl.plan import Plan
from recrawl.spans import at_of
from support import forked
from support.loopback_servers import Answer, Asked, Loopback

SETTINGS = """
[crawl]
policy = "age"
every = "1d"
budget = "50"
signals = false
[fetch]
allow_networks = ["127.0.0.0/8"]
connect_to = [["*.test", "127.0.0.1"]]
[fetch.gate]
min_delay_s = 0.0
latency_factor = 0.0
"""
ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def answer(asked: Asked) -> Answer:
    """A site with a sitemap that also names a page of somebody else; every page changes with every look."""
    port = asked.headers["host"].split(":")[1]
    if asked.path == "/sitemap.xml":
        names = f"<url><loc>http://a.test:{port}/mapped</loc></url><url><loc>http://bank.test:{port}/</loc></url>"
        return 200, {}, f"<urlset>{names}</urlset>".encode()
    if asked.path == "/torn.xml":
        return 200, {}, f"<urlset><url><loc>http://a.test:{port}/whole</loc></url><url><loc>http://a.te".encode()
    if asked.path == "/robots.txt" and asked.headers["host"].startswith("torn."):
        return 200, {}, f"Sitemap: http://a.test:{port}/torn.xml\n".encode()
    if asked.path == "/robots.txt" and asked.headers["host"].startswith("lost."):
        return 200, {}, f"Sitemap: http://lost.a.test:{port}/missing.xml\n".encode()
    if asked.path in ("/robots.txt", "/missing.xml"):
        return 404, {}, b""
    words = "pear " * (time.time_ns() % 97)
    return 200, {}, f"<title>{asked.path}</title><p>The page {asked.path} with {words}</p>".encode()


@pytest.fixture
def site() -> Iterator[Loopback]:
    with Loopback(answer) as server:
        yield server


@pytest.fixture
def crawl(tmp_path: Path) -> str:
    Crawl.create(tmp_path / "crawl", SETTINGS)
    return str(tmp_path / "crawl")


class Said(NamedTuple):
    out: str
    err: str


def told(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Said:
    assert main(words) == code
    return Said(*capsys.readouterr())


def test_each_sitemap_says_why_and_addresses_beside_it_are_added(
    crawl: str, site: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    """A missing file, a private address and a page that is no sitemap: each has its line, the rest is added."""
    at = f"http://a.test:{site.port}"
    maps = [f"{at}/sitemap.xml", f"{at}/missing.xml", "http://10.0.0.1/s.xml", f"{at}/page"]
    words = [word for each in maps for word in ("--sitemap", each)]
    out, err = told(capsys, "add", "-C", crawl, f"{at}/beside", *words)
    assert "2 pages added, 2 in all" in out
    assert f"{at}/sitemap.xml: 1 of 2 pages are of other sites" in err
    assert f"{at}/missing.xml: gone 404" in err
    assert re.search(r"10\.0\.0\.1/s\.xml: refused-address .*allow_networks = \[\"10\.0\.0\.0/8\"\]", err)
    assert f"{at}/page: names no page" in err
    assert len(err.splitlines()) == 4
    _, err = told(capsys, "add", "-C", crawl, "--sitemap", f"{at}/missing.xml", code=2)
    assert err == f"recrawl: no page that can be added: {at}/missing.xml: gone 404\n"
    out, _ = told(capsys, "add", "-C", crawl, f"{at}/more", "--sitemap", f"{at}/missing.xml", "--json")
    assert json.loads(out) == {"added": 1, "pages": 3}


def test_a_sitemap_of_which_a_part_was_read_says_why(
    tmp_path: Path, site: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that ends in mid-air: its whole entries are taken; `add`, the run's screen and its log say the rest."""
    Crawl.create(tmp_path / "crawl", SETTINGS.replace("signals = false", "signals = true"))
    crawl, at = str(tmp_path / "crawl"), f"http://a.test:{site.port}"
    out, err = told(capsys, "add", "-C", crawl, f"http://torn.a.test:{site.port}/", "--sitemap", f"{at}/torn.xml")
    why = "not well-formed: no element found"
    assert "2 pages added, 2 in all" in out
    assert err == f"recrawl: {at}/torn.xml: read only in part: {why}\n"
    told(capsys, "run", "-C", crawl, "--cycles", "1", "--now")
    err = told(capsys, "run", "-C", crawl, "--cycles", "1", "--now").err
    assert f"{at}/torn.xml: read only in part: {why}" in err
    events = [json.loads(line) for line in (tmp_path / "crawl" / "log.jsonl").read_text().splitlines()]
    found = [(event["url"], event["why"]) for event in events if event["event"] == "read-in-part"]
    assert (f"{at}/torn.xml", why) in found


@pytest.mark.parametrize("verb", ["show", "diff", "remove", "pause", "add"])
def test_bytes_that_are_no_text_are_one_line(verb: str, crawl: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A word that is not UTF-8, as a shell may hand it over, is no page of any crawl."""
    assert main([verb, "-C", crawl, "caf\udce9"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("recrawl: ")
    assert err.count("\n") == 1
    assert told(capsys, "pages", "-C", crawl, "--contains", "caf\udce9").out == ""


def test_lines_with_such_bytes_are_reported_by_number(
    tmp_path: Path, crawl: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """`add -f` takes the good lines of a file in another encoding, also behind a byte-order mark."""
    (tmp_path / "list").write_bytes(b"\xef\xbb\xbfhttp://a.test/\r\nhttp://a.test/caf\xe9\nhttp://b.test/\n")
    out, err = told(capsys, "add", "-C", crawl, "-f", str(tmp_path / "list"))
    assert out == "2 pages added, 2 in all\n"
    assert "list, line 2: 'http://a.test/caf\\udce9' is not a URL to crawl" in err


def test_sitemaps_added_while_a_run_holds_the_crawl_are_read_before_its_next_cycle(
    crawl: str, site: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pages of their own site are visited, though signals are off; one that is missing says so."""
    visited, heard, at = list[str](), list[Heard](), f"http://a.test:{site.port}"
    told(capsys, "add", "-C", crawl, f"http://b.test:{site.port}/")
    directory, plan = CrawlDirectory.open(Path(crawl)), Plan(1.0, 50, warmup=0)
    with Session(directory, "age", plan, watch=lambda noted: visited.append(noted.url), heard=heard.append) as session:
        session.run_cycle()
        maps = ("--sitemap", f"{at}/sitemap.xml", "--sitemap", f"{at}/missing.xml")
        out, _ = told(capsys, "add", "-C", crawl, *maps)
        assert out == "2 sitemaps queued: the process that crawls adds them before its next cycle\n"
        session.at_once = True
        session.run_cycle()
        assert not session.store.asked_sitemaps()
    assert sorted(visited) == sorted([f"{at}/mapped", *[f"http://b.test:{site.port}/"] * 2])
    problems = [line for each in heard for line in each.problems]
    assert problems[0] == f"{at}/missing.xml: gone 404"
    assert problems[1].startswith(f"{at}/sitemap.xml: 1 of 2 pages are of other sites")
    assert len(problems) == 2


def test_a_sitemap_that_is_no_address_is_refused_and_ends_no_run(
    crawl: str, site: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line; what an older version queued all the same is reported by the run, which goes on."""
    told(capsys, "add", "-C", crawl, f"http://a.test:{site.port}/")
    for words in (("--sitemap", "sitemap.xml"), (f"http://a.test:{site.port}/b", "--sitemap", "")):
        err = told(capsys, "add", "-C", crawl, *words, code=2).err
        assert re.fullmatch(r"recrawl: '.*' is not a URL to crawl: not a URL.*; nothing was added\n", err)
    queue(CrawlDirectory.open(Path(crawl)), [], ["sitemap.xml"], 0.0)
    err = told(capsys, "run", "-C", crawl, "--cycles", "1").err
    assert "'sitemap.xml' is not a URL to crawl" in err
    assert "cycle 1 done: 1 first" in err


def test_numbers_out_of_range_are_one_line(crawl: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Ports, limits, cycles and versions beyond what there is name the option and what it takes."""
    many = "9" * 20
    for verb, option, value in (
        ("pages", "--limit", many),
        ("pages", "--limit", "-1"),
        ("prune", "--versions", many),
        ("prune", "--versions", "0"),
        ("serve", "--port", "99999"),
        ("run", "--cycles", "\u00b2"),
        ("next", "-n", "0"),
    ):
        with pytest.raises(SystemExit, match="2"):
            main([verb, "-C", crawl, option, value])
        err = capsys.readouterr().err
        assert re.match(rf"recrawl {verb}: argument {option}.*: '{value}' must be a whole number from [01] to", err)
        assert err.count("\n") == 1


def test_a_file_in_the_way_is_one_line(crawl: str, site: Loopback, capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot be opened beside the store is named with the reason, and exit code 2; then the run goes on."""
    told(capsys, "add", "-C", crawl, f"http://a.test:{site.port}/")
    told(capsys, "run", "-C", crawl, "--cycles", "1", "--now", "--quiet")
    (warc,) = (Path(crawl) / "warc").glob("*.warc.gz")
    body = warc.read_bytes()
    warc.unlink()
    warc.mkdir()
    err = told(capsys, "run", "-C", crawl, "--cycles", "1", "--now", "--quiet", code=2).err
    assert re.fullmatch(rf"recrawl: {warc}: Is a directory.*\n", err)
    warc.rmdir()
    warc.write_bytes(body)
    told(capsys, "run", "-C", crawl, "--cycles", "1", "--now", "--quiet")


def test_a_file_that_is_no_list_of_pages_is_a_few_lines(
    tmp_path: Path, crawl: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """`add -f` of a program or a picture does not fill the screen."""
    (tmp_path / "picture").write_bytes(bytes(range(256)) * 400)
    err = told(capsys, "add", "-C", crawl, "-f", str(tmp_path / "picture"), code=2).err
    assert len(err.splitlines()) == 22
    assert "more lines hold no URL to crawl" in err


def test_a_sitemap_that_cannot_be_read_is_in_the_status(
    tmp_path: Path, site: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    """robots.txt names a missing file: the run's screen, its log and `status` say so."""
    Crawl.create(tmp_path / "crawl", SETTINGS.replace("signals = false", "signals = true"))
    crawl, missing = str(tmp_path / "crawl"), f"http://lost.a.test:{site.port}/missing.xml"
    told(capsys, "add", "-C", crawl, f"http://lost.a.test:{site.port}/")
    told(capsys, "run", "-C", crawl, "--cycles", "1", "--now")
    assert f"{missing}: gone 404" in told(capsys, "run", "-C", crawl, "--cycles", "1", "--now").err
    assert f"sitemap or feed {missing}: gone 404" in told(capsys, "status", "-C", crawl).out
    assert json.loads(told(capsys, "status", "-C", crawl, "--json").out)["feeds"] == {missing: "gone 404"}
    events = [json.loads(line) for line in (tmp_path / "crawl" / "log.jsonl").read_text().splitlines()]
    assert [event["url"] for event in events if event["event"] == "unread"] == [missing]


def test_a_small_share_of_few_pages_says_how_to_get_more(
    tmp_path: Path, site: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten pages and a tenth of them per cycle: a line names the budget; with a number there is none."""
    Crawl.create(tmp_path / "crawl", SETTINGS.replace('budget = "50"', 'budget = "10%"'))
    crawl = str(tmp_path / "crawl")
    told(capsys, "add", "-C", crawl, *(f"http://a.test:{site.port}/{number}" for number in range(10)))
    assert "note: 9 pages wait for a first visit, and 10% of" in told(capsys, "run", "-C", crawl, "--cycles", "1").err
    run = told(capsys, "run", "-C", crawl, "--cycles", "1", "--now", "--budget", "5").err
    assert "wait for a first visit" not in run


def test_a_run_without_a_copy_says_why(crawl: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody listens: the screen says so of the first run, and of the next, in which the host is only asked again."""
    told(capsys, "add", "-C", crawl, "http://127.0.0.1:9999/")
    first = told(capsys, "run", "-C", crawl, "--cycles", "1").err
    second = told(capsys, "run", "-C", crawl, "--cycles", "1", "--now").err
    assert "127.0.0.1" in first.split("done")[1]
    for said in (first, second):
        assert "note: pages not visited now, by reason: 1 host-down" in said


def test_a_cycle_that_is_not_due_says_when_and_ctrl_c_ends_the_waiting(
    crawl: str, site: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    """`run` names the time and --now, and waits; Ctrl-C stops it in order, with exit code 0 and nothing visited."""
    told(capsys, "add", "-C", crawl, f"http://a.test:{site.port}/")
    told(capsys, "run", "-C", crawl, "--cycles", "1", "--quiet")
    before = len(site.asked)
    words = [sys.executable, "-m", "recrawl", "run", "-C", crawl, "--cycles", "1"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as waiting:
        assert waiting.stderr is not None
        line = waiting.stderr.readline()
        assert re.match(r"the next cycle is due \d{4}-\d\d-\d\d \d\d:\d\d \S+; `recrawl run --now`", line)
        time.sleep(0.5)  # it falls asleep
        waiting.send_signal(signal.SIGINT)
        rest = waiting.stderr.read()
    assert waiting.returncode == 0
    assert rest.startswith("stopped: ")
    assert len(site.asked) == before


@pytest.mark.parametrize("words", [["policies"], ["compare", "--policies", "age,cg", "web"], ["describe", "web"]])
def test_a_reader_that_goes_away_is_no_error_and_the_report_is_written(words: list[str], tmp_path: Path) -> None:
    """`recrawl ... --out DIR | head`: exit 0, nothing on standard error, and the files are there."""
    if "web" in words:
        assert main(["synth", "mixed", "--pages", "60", "--days", "20", "--out", str(tmp_path / "web")]) == 0
        words = [*words, "--out", "out"]
    done = forked.python("-m", "recrawl", *words, cwd=tmp_path, out=forked.NO_READER)
    assert (done.returncode, "Broken" in done.stderr, "Traceback" in done.stderr) == (0, False, False)
    if "web" in words:
        assert {path.suffix for path in (tmp_path / "out").iterdir()} == {".html", ".json", ".png", ".svg"}


def times_in(value: object, key: str = "") -> Iterator[object]:
    """The values of JSON-like data that are times by their names."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from times_in(each, name)
    elif isinstance(value, list):
        for each in value:
            yield from times_in(each, key)
    elif (key in ("at", "time", "until") or key.endswith("_at")) and value is not None:
        yield value


def test_json_csv_and_log_have_iso_8601(
    crawl: str, site: Loopback, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every verb that looks at a crawl writes its times as 2026-11-16T12:00:00.000Z; those that act have --json."""
    page = f"http://a.test:{site.port}/"
    assert json.loads(told(capsys, "add", "-C", crawl, page, f"{page}x", "--json").out) == {"added": 2, "pages": 2}
    found = []
    for _ in range(3):
        found.append(json.loads(told(capsys, "run", "-C", crawl, "--cycles", "1", "--now", "--quiet", "--json").out))
    verbs = (["status"], ["pages"], ["show", page], ["show", page, "--at", "2100-01-01"], ["diff", page])
    for verb, *more in (*verbs, ["next", "--dry-run", "--now"]):
        found.append(json.loads(told(capsys, verb, "-C", crawl, *more, "--json").out))
    events = told(capsys, "tail", "-C", crawl, "--since", "0", "--types", "all").out
    found.append([json.loads(line) for line in events.splitlines()])
    found.append([json.loads(line) for line in (Path(crawl) / "log.jsonl").read_text().splitlines()])
    assert [name for name, each in enumerate(found) if not list(times_in(each))] in ([], [8])  # next: leases only
    assert json.loads(told(capsys, "export", "-C", crawl, "csv", str(tmp_path / "csv"), "--json").out)["what"] == "csv"
    tables = [told(capsys, "pages", "-C", crawl, "--csv").out]
    tables += [path.read_text() for path in (tmp_path / "csv").glob("*.csv")]
    found += [list(csv.DictReader(io.StringIO(table))) for table in tables]
    odd = [time for time in times_in(found) if time != "" and not ISO.fullmatch(str(time))]
    assert odd == []
    assert json.loads(told(capsys, "pause", "-C", crawl, "a.test", "--json").out) == {"paused": ["a.test"]}
    assert json.loads(told(capsys, "resume", "-C", crawl, "a.test", "--json").out) == {"resumed": ["a.test"]}
    assert json.loads(told(capsys, "remove", "-C", crawl, page, "--json").out) == {"removed": 1}
    assert json.loads(told(capsys, "init", str(tmp_path / "new"), "--json").out)["crawl"] == str(tmp_path / "new")


def test_people_see_the_local_zone_by_name_and_may_write_it(
    crawl: str, site: Loopback, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In Berlin noon UTC is 13:00 CET in winter; a time without a zone is local, and one with Z is not."""
    monkeypatch.setenv("TZ", "CET-1")
    time.tzset()
    try:
        assert moment(at_of("2026-11-16T12:00Z")) == "2026-11-16 13:00 CET"
        assert time_at("2026-11-16T13:00") == time_at("2026-11-16T12:00Z") == at_of("2026-11-16T12:00")
        page = f"http://a.test:{site.port}/"
        told(capsys, "add", "-C", crawl, page)
        shown = [told(capsys, "run", "-C", crawl, "--cycles", "1", "--now").err for _ in range(2)]
        verbs = (["status"], ["pages"], ["show", page], ["show", page, "--at", "2100-01-01"], ["diff", page])
        for verb, *more in (*verbs, ["tail", "--table"]):
            shown.append(told(capsys, verb, "-C", crawl, *more).out)
        for text in shown:
            dates = re.findall(r"\d{4}-\d\d-\d\d.\d\d:\d\d(?::\d\d)?(.{0,4})", text)
            assert dates
            assert set(dates) == {" CET"}
    finally:
        monkeypatch.undo()
        time.tzset()
