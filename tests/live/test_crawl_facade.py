"""recrawl.Crawl: everything that the command line can do to a crawl, from Python."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from recrawl.errors import InputError, StoreError
from recrawl.evolve.evolution import EvolutionSettings
from recrawl.live.crawl_results import RunView
from recrawl.live.facade import Crawl
from recrawl.live.learning import measure_of
from recrawl.live.recorder import Noted
from recrawl.live.session import Session
from recrawl.simulate.replay import ReplayServer
from recrawl.simulate.synthetic.synthesis import synthesize
from support.live_crawls import Days, seeds, served, settings

CYCLES = 6


@pytest.fixture(scope="module")
def web() -> Iterator[tuple[ReplayServer, Days]]:
    """A small living web on loopback."""
    calendar = Days()
    recording = synthesize("mixed", 50, 7.0 * CYCLES, seed=3, only=("sites", "pages", "changes", "links"))
    with served(recording, calendar) as server:
        yield server, calendar


@pytest.fixture(scope="module")
def crawl(web: tuple[ReplayServer, Days], tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """A crawl of it after six cycles, run one by one."""
    server, calendar = web
    folder = tmp_path_factory.mktemp("crawls") / "news"
    with Crawl.create(folder, settings("learned"), clock=calendar) as crawl:
        assert crawl.add(*seeds(server)) == (len(seeds(server)), len(seeds(server)))
        for cycle in range(1, CYCLES + 1):
            calendar.day = 7.0 * cycle
            done = crawl.run(cycles=1)
            assert (done.cycles, done.stopped) == (1, False)
            assert done.next_due_at == calendar.day + 7.0
    return Crawl.open(folder, clock=calendar)


def test_a_crawl_run_in_one_go_is_the_same(web: tuple[ReplayServer, Days], tmp_path: Path) -> None:
    """Kept open between cycles or opened anew for each, a crawl visits the same pages in the same rounds and order."""
    server, calendar = web
    rows = []
    for name in ("kept", "opened"):
        calendar.day = 0.0
        crawl = Crawl.create(tmp_path / name, settings("learned"), clock=calendar)
        crawl.add(*seeds(server))
        with crawl if name == "kept" else nullcontext():
            for cycle in range(1, CYCLES + 1):
                calendar.day = 7.0 * cycle
                crawl.run(cycles=1)
        with crawl.reading() as store:
            found = {(v["cycle"], v["url"]): v["outcome"] for v in store.all_visits()}
            rounds = [(cycle, store.urls(pages)) for cycle in range(1, CYCLES + 1) for _, pages in store.rounds(cycle)]
        assert sum(len(urls) for _, urls in rounds) == len(found)
        rows.append([(cycle, url, found[cycle, url]) for cycle, urls in rounds for url in urls])
    assert len(rows[0]) > CYCLES
    assert rows[0] == rows[1]


def test_status_and_pages(crawl: Crawl) -> None:
    """Status counts visits by what they found; pages can be filtered and sorted."""
    status = crawl.status()
    assert status["visits"] == sum(status[name] for name in ("unchanged", "changed", "first", "gone", "failed"))
    assert status["cycle"]["number"] == CYCLES
    changed = crawl.pages(changed=True)
    assert changed
    assert all(page["changes"] for page in changed)
    assert len(crawl.pages(limit=3)) == 3


def test_the_policy_that_steers_explains_a_page(crawl: Crawl) -> None:
    """`why` is the policy's own explanation where it has one, otherwise the page's rank and score; so does `show`."""
    url = crawl.pages(changed=True, limit=1)[0]["url"]
    page = crawl.page(url)
    assert "likely to have changed" in page.why
    assert "its own past" in page.why, "causes are shown"
    assert len(page.visits) >= 2
    assert "by bayes" in crawl.page(url, policy="bayes").why
    with pytest.raises(InputError, match="no page"):
        crawl.page("http://nowhere.example/")


def test_a_learnt_formula_is_named_relative_to_the_crawl(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `learn` keeps can be used from any folder: the crawl's own files are named from the crawl's folder."""
    small = EvolutionSettings("all", 20, 2, 1, 5)
    monkeypatch.chdir(crawl.directory.path.parent)
    choice = Crawl.open("news").learn("age", evolve=small)
    assert set(choice.values) >= {"age", "learned(objective=freshness)"}
    kept = crawl.directory.path / "models" / "policy.json"
    kept.write_text(json.dumps({**json.loads(kept.read_text()), "policy": "gp:models/evolved.json"}))
    monkeypatch.chdir("news")
    assert Crawl.open().steering("auto")[0] == "gp:models/evolved.json"
    monkeypatch.chdir("/")
    assert Crawl.open(crawl.directory.path).steering("auto")[0] == f"gp:{crawl.directory.path}/models/evolved.json"
    assert crawl.status()["learnt"] == "gp:models/evolved.json"
    kept.unlink()


@pytest.mark.parametrize(
    ("policy", "measure"),
    [
        ("learned(objective=freshness)", "Freshness"),
        ("learned", "ChangesFound"),
        ("learned(objective=links+0.5*changes)", "NewLinks"),
        ("bayes", "Freshness"),
    ],
)
def test_learning_is_judged_by_the_objective_of_the_policy(policy: str, measure: str) -> None:
    """A crawl that is steered for freshness is not switched for finding more changes; the default's is freshness."""
    assert measure_of(policy) == measure


def test_learn_says_what_it_judged_by(crawl: Crawl) -> None:
    """Without a measure, the choice is by that of the crawl's own objective."""
    assert crawl.learn("age").measure == "ChangesFound"  # of `learned`, by which it is steered
    (crawl.directory.path / "models" / "policy.json").unlink()


def test_a_crawls_folder_runs_no_code(crawl: Crawl, tmp_path: Path) -> None:
    """Neither the settings nor what was learnt can name a Python file: looking at a crawl runs nothing in it."""
    (tmp_path / "evil.py").write_text("raise SystemExit(9)")
    kept = crawl.directory.path / "models" / "policy.json"
    kept.write_text(json.dumps({"format": 1, "policy": f"{tmp_path}/evil.py:x"}))
    with pytest.raises(StoreError, match="names code"):
        crawl.status()
    kept.unlink()
    other = Crawl.create(tmp_path / "other", settings(f"{tmp_path}/evil.py:x"))
    with pytest.raises(InputError, match="name no code"):
        other.steering()
    with pytest.raises(InputError, match="entry point"):
        crawl.learn(f"age,{tmp_path}/evil.py:x")


def test_replay_and_export(crawl: Crawl, tmp_path: Path) -> None:
    """The history is compared like any recording, and can be written for other tools."""
    result = crawl.replay("age,expert-2d,oracle", "ChangesFound")
    assert result.rows()[-1]["policy"] == "oracle"
    assert not any(note.startswith("expert-2d") for note in result.notes), "words are in a crawl's history"
    assert "pages" in crawl.export("recording", tmp_path / "recording")
    assert crawl.export("csv", tmp_path / "csv").endswith(" links")
    assert "records" in crawl.export("warc", tmp_path / "warc")
    with pytest.raises(InputError, match="cannot export 'pdf'"):
        crawl.export("pdf", tmp_path / "pdf")


def test_what_cannot_be_added(tmp_path: Path) -> None:
    """A URL that cannot be crawled is named, and nothing is added."""
    crawl = Crawl.create(tmp_path / "news")
    with pytest.raises(InputError, match="nothing was added"):
        crawl.add("http://example.org/", "mailto:someone@example.org")
    with pytest.raises(InputError, match="no URL"):
        crawl.add()
    assert crawl.status()["pages"] == 0


class Ending(RunView):
    """Ends a run in the middle of its cycle: asks it to stop, or raises."""

    def __init__(self, fault: Exception | None) -> None:
        super().__init__()
        self.fault = fault
        self.visits = 0

    def begin(self, session: Session) -> None:
        """Remember the run."""
        super().begin(session)
        self.session = session

    def visit(self, noted: Noted) -> None:
        """End the run after a few visits."""
        super().visit(noted)
        self.visits += 1
        if self.visits == 3 and self.fault is not None:
            raise self.fault
        if self.visits == 3:
            self.session.stop()


@pytest.mark.parametrize("fault", [None, RuntimeError("an observer's own")])
def test_a_crawl_that_is_kept_open_goes_on_after_a_run_that_was_ended(
    web: tuple[ReplayServer, Days], tmp_path: Path, fault: Exception | None
) -> None:
    """Within `with Crawl`, a run after one that was stopped or raised finishes the cycle, and visits no page twice."""
    server, calendar = web
    calendar.day = 0.0
    with Crawl.create(tmp_path / "news", settings("age", delay_s=0.01), clock=calendar) as crawl:
        crawl.add(*seeds(server))
        with nullcontext() if fault is None else pytest.raises(RuntimeError):
            assert crawl.run(cycles=1, view=Ending(fault)).stopped
        done = crawl.run(cycles=1)
        assert (done.cycles, done.stopped) == (1, False)
        with crawl.reading() as store:
            visited = [visit["url"] for visit in store.all_visits()]
    assert len(visited) == len(set(visited)) > 3


def test_those_who_look_whether_a_crawl_runs_are_not_in_its_way(tmp_path: Path) -> None:
    """`status` and the dashboard neither keep a run from beginning, nor see each other as a run, nor leave a file."""
    directory = Crawl.create(tmp_path / "news").directory
    assert not directory.is_locked()
    assert not (directory.path / ".lock").exists()
    with directory.locked():
        assert directory.is_locked()
    ended, seen = threading.Event(), list[bool]()

    def look() -> None:
        while not ended.wait(0.001):
            seen.append(directory.is_locked())

    lookers = [threading.Thread(target=look) for _ in range(2)]
    for looker in lookers:
        looker.start()
    while not seen:  # on a busy machine the first look may come late
        ended.wait(0.001)
    for _ in range(100):
        with directory.locked():
            pass
    ended.set()
    for looker in lookers:
        looker.join()
    assert seen


def test_numbers_that_no_crawl_has_are_refused(crawl: Crawl) -> None:
    """A limit or a number of versions that the store cannot count to is one line that says what can be taken."""
    with pytest.raises(InputError, match="take 0 for all"):
        crawl.pages(limit=1 << 70)
    with pytest.raises(InputError, match="keep at least 1"):
        crawl.prune(versions=-1)
