"""The verbs of a live crawl, as a user types them, over a served recording."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import warcio.archiveiterator

from recrawl.cli import main
from recrawl.live.directory import CrawlDirectory
from recrawl.live.session import Session
from recrawl.live.store import Store
from recrawl.plan import Plan
from recrawl.recording.recording import Recording
from recrawl.visits import Outcome
from support.live_crawls import Days, begun, seeds, served, settings
from support.small_recordings import random_tables

WEEKS = 6


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CrawlDirectory]:
    """A crawl of six weeks over a web that changes, is born and dies."""
    calendar = Days()
    folder = tmp_path_factory.mktemp("verbs")
    with served(Recording.from_arrays(random_tables(60, 60.0, 2, births=True)), calendar) as server:
        directory = begun(folder / "crawl", seeds(server), settings())
        with Session(directory, "bayes", Plan(7.0, 20, warmup=1), clock=calendar) as session:
            for week in range(1, WEEKS + 1):
                calendar.day = 7.0 * week
                session.run_cycle()
        yield directory


def told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


def test_status_counts_what_the_store_holds(crawl: CrawlDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    """Visits by outcome add up, and the cycle is the last one."""
    found = json.loads(told(capsys, "status", "-C", str(crawl.path), "--json"))
    assert found["visits"] == sum(found[outcome.name.lower()] for outcome in Outcome) > 100
    assert (found["cycle"]["number"], found["cycle"]["done"], found["running"]) == (WEEKS, True, False)
    assert f"cycle {WEEKS}" in told(capsys, "status", "-C", str(crawl.path))


def test_pages_filters_and_sorts(crawl: CrawlDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    """The page that changed most comes first, and --changed leaves out those that never did."""
    rows = json.loads(told(capsys, "pages", "-C", str(crawl.path), "--changed", "--limit", "0", "--json"))
    counts = [row["changes"] for row in rows]
    assert counts == sorted(counts, reverse=True)
    assert min(counts) >= 1
    assert all(
        "s1." in row["url"]
        for row in json.loads(told(capsys, "pages", "-C", str(crawl.path), "--contains", "s1.", "--json"))
    )


def test_show_tells_a_pages_story_and_what_comes_next(
    crawl: CrawlDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    """Timeline, last diff, and the rank by which the policy will or will not choose it."""
    top = json.loads(told(capsys, "pages", "-C", str(crawl.path), "--limit", "1", "--json"))[0]
    story = json.loads(told(capsys, "show", "-C", str(crawl.path), top["url"], "--json"))
    assert len(story["visits"]) == top["visits"]
    assert sum(visit["outcome"] == "changed" for visit in story["visits"]) == top["changes"]
    assert any(line.startswith("+") for line in story["diff"])
    assert 1 <= story["next"]["rank"] <= story["next"]["pages"]
    assert "next visit" in told(capsys, "show", "-C", str(crawl.path), top["url"])


def test_show_and_status_work_while_a_crawl_is_held(crawl: CrawlDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    """Readers do not need the lock, also within a writer's transaction."""
    store = Store.open(crawl.state)
    url = store.urls([0])[0]
    with crawl.locked(), store.transaction():
        store.db.execute("update pages set title = 'half done' where page = 0")
        assert json.loads(told(capsys, "status", "-C", str(crawl.path), "--json"))["running"]
        assert "half done" not in told(capsys, "show", "-C", str(crawl.path), url)
        store.db.execute("update pages set title = '' where page = 0")
    store.close()


def test_a_history_exports_as_a_recording_that_says_the_same(
    crawl: CrawlDirectory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pages, changes and days of the recording are the crawl's own, through Recording.open."""
    told(capsys, "export", "-C", str(crawl.path), "recording", str(tmp_path / "history"))
    recording = Recording.open(tmp_path / "history")
    found = json.loads(told(capsys, "status", "-C", str(crawl.path), "--json"))
    assert len(recording.change_day) == found["changed"]
    assert len(recording) == found["fetched"]
    assert recording.end == 7.0 * (WEEKS - 1)
    assert set(recording.change_day.tolist()) <= {7.0 * week for week in range(1, WEEKS)}
    assert recording.page("words").min() > 200  # six paragraphs of forty words
    assert recording.change("words").min() > 200


def test_exported_bodies_are_whole(crawl: CrawlDirectory, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every version is a record that another reader verifies."""
    told(capsys, "export", "-C", str(crawl.path), "warc", str(tmp_path / "bodies"))
    found = json.loads(told(capsys, "status", "-C", str(crawl.path), "--json"))
    with (tmp_path / "bodies" / "crawl-00001.warc.gz").open("rb") as file:
        records = list(warcio.archiveiterator.ArchiveIterator(file, check_digests="raise"))
    assert len(records) == found["first"] + found["changed"]
    assert main(["export", "-C", str(crawl.path), "warc", str(tmp_path / "bodies")]) == 2  # not without --force


def test_replay_compares_policies_on_the_crawls_own_history(
    crawl: CrawlDirectory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No policy finds more than the oracle."""
    words = ["replay", "-C", str(crawl.path), "--policies", "age,bayes,oracle", "--measures", "ChangesFound", "--json"]
    results = json.loads(told(capsys, *words))
    assert "oracle" in json.dumps(results)


def test_learn_notes_a_policy_that_run_then_takes(crawl: CrawlDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    """models/policy.json holds the best of the candidates, and auto means it."""
    choice = json.loads(told(capsys, "learn", "-C", str(crawl.path), "--policies", "age,bayes", "--json"))
    assert choice["policy"] == max(choice["values"], key=choice["values"].get)
    assert json.loads((crawl.path / "models" / "policy.json").read_text())["policy"] == choice["policy"]
    url = json.loads(told(capsys, "pages", "-C", str(crawl.path), "--limit", "1", "--json"))[0]["url"]
    shown = json.loads(told(capsys, "show", "-C", str(crawl.path), url, "--policy", "auto", "--json"))
    assert shown["next"]["policy"] == choice["policy"]


def test_learn_breeds_a_formula_that_run_can_follow(crawl: CrawlDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    """--evolve writes models/evolved.json from this crawl's own history, and it is a policy like any other."""
    words = ["--policies", "age", "--evolve", "--generations", "2", "--population", "12", "--json"]
    choice = json.loads(told(capsys, "learn", "-C", str(crawl.path), *words))
    formula = f"gp:{crawl.path / 'models' / 'evolved.json'}"
    assert set(choice["values"]) == {"age", "gp:models/evolved.json"}
    url = json.loads(told(capsys, "pages", "-C", str(crawl.path), "--limit", "1", "--json"))[0]["url"]
    shown = json.loads(told(capsys, "show", "-C", str(crawl.path), url, "--policy", formula, "--json"))
    assert shown["next"]["policy"] == formula
    assert shown["next"]["rank"] >= 1


def test_init_add_and_run_from_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A new crawl is made, pages are added from arguments and a sitemap, and two cycles run with a log."""
    calendar = Days()
    with served(Recording.from_arrays(random_tables(12, 60.0, 3)), calendar) as server:
        folder = str(tmp_path / "crawl")
        told(capsys, "init", folder)
        (tmp_path / "crawl" / "recrawl.toml").write_text(settings())
        host = server.rendering.hosts[0]
        told(capsys, "add", "-C", folder, seeds(server)[0])
        told(capsys, "add", "-C", folder, "--sitemap", f"http://{host}:{server.port}/sitemap.xml")
        told(capsys, "run", "-C", folder, "--cycles", "2", "--every", "0.000001", "--budget", "3")
    events = [json.loads(line)["event"] for line in (tmp_path / "crawl" / "log.jsonl").read_text().splitlines()]
    assert events.count("cycle") == 2
    assert events[0] == "open"
    assert events[-1] == "stop"
    assert main(["init", folder]) == 2  # never over a crawl that is there
