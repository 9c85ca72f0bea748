"""Deliveries: in order, at least once, and nobody is held up by somebody else's sink."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from pathlib import Path

import pytest
from standardwebhooks import Webhook

from recrawl.cli import main
from recrawl.deliver import delivery
from recrawl.deliver.cursors import Cursors
from recrawl.deliver.delivery import deliver
from recrawl.deliver.page_files import page_path
from recrawl.errors import StoreError
from recrawl.live.facade import Crawl
from recrawl.live.feed import EventFeed
from recrawl.recording.recording import Recording
from recrawl.see.markdown import markdown_of
from recrawl.see.page import see_page
from recrawl.simulate.render import Rendering
from recrawl.simulate.synthetic.synthesis import synthesize
from recrawl.urls.url import host_of, split
from support.delivery_ordeal import ordeal
from support.feed_crawls import deliver_to, many
from support.live_crawls import Days, seeds, served, settings
from support.receiver import Receiver, unreliable

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
FAST = 'retry = ["0.05s", "0.05s", "0.05s", "0.05s", "0.05s", "0.05s", "0.05s", "0.05s", "0.05s", "0.05s", "0.05s"]'
CYCLES = 12


def send(folder: Path, *, again: bool = False) -> bool:
    said: list[str] = []
    return deliver(folder, follow=False, again=again, say=said.append, stop=threading.Event())


@pytest.fixture(scope="module")
def web() -> Recording:
    return synthesize("mixed", 30, 7.0 * CYCLES, seed=5, only=("sites", "pages", "changes", "links"))


@pytest.fixture
def quick_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "POLL_S", 0.05)


@pytest.mark.usefixtures("quick_polls")
def test_a_bad_receiver_gets_every_version_once_and_in_order(web: Recording, tmp_path: Path) -> None:
    """A third of the answers is 500, a tenth is silence, and the receiver dies twice: after twelve cycles of a living
    web every version that was visited has arrived once by its id, in order and signed; files are the living pages."""
    calendar = Days()
    with served(web, calendar) as server, Receiver(unreliable) as receiver:
        crawl = Crawl.create(tmp_path / "news", settings("bayes", "100%"), clock=calendar)
        (tmp_path / "news" / "hook.secret").write_text(SECRET)
        hook = f'name = "hook"\nto = "webhook:{receiver.url}"\nwith = ["diff"]\nsecret_file = "hook.secret"\n{FAST}'
        folder = deliver_to(crawl.directory, hook + '\ntimeout = "0.3s"', 'to = "files:tree"\ngit = true')
        crawl.add(*seeds(server))
        with following(folder), crawl:
            for cycle in range(1, CYCLES + 1):
                calendar.day = 7.0 * cycle
                crawl.run(cycles=1)
                if cycle in (4, 8):
                    receiver.kill()
                    time.sleep(0.2)
                    receiver.start()
        assert send(folder)
        expected = [f"news.{event['id']}" for event in EventFeed(folder)]
        assert len(expected) > 100
        assert receiver.ids == expected
        for _, headers, body in receiver.taken:
            assert Webhook(SECRET).verify(body, headers)
        assert_files_are_the_living_pages(web, folder, calendar.day, server.port)


def assert_files_are_the_living_pages(web: Recording, folder: Path, day: float, port: int) -> None:
    rendering = Rendering(web)
    expected = {}
    with Crawl.open(folder).reading() as store:
        known = [visit["url"] for visit in store.all_visits()]
    for url in set(known):
        page = rendering.page_at(host_of(url), split(url).path, day)
        if page is not None:
            body = rendering.html(page, day, port)
            expected[page_path(url, ".md")] = markdown_of(see_page(body, url), body)
    tree = folder / "tree"
    found = {path.relative_to(tree): path.read_text() for path in tree.rglob("*.md")}
    assert set(found) == set(expected)
    assert all(found[path].endswith(f"---\n\n{expected[path]}\n") for path in expected)
    log = subprocess.run(["git", "log", "--format=%s"], cwd=tree, capture_output=True, text=True, check=True).stdout
    assert log.split("\n")[:-1] == [f"cycle {cycle}" for cycle in range(CYCLES, 0, -1)]


def test_kill_9_doubles_nothing_but_what_was_in_flight(tmp_path: Path) -> None:
    """Killed ten times at random moments: a webhook gets again at most the event that was under way, a file none."""
    found = ordeal(tmp_path, kills=10, events=400, seed=1)
    assert found.wrong == []
    assert found.events == 400
    assert found.doubled <= 10


def test_a_dead_sink_blocks_only_itself(tmp_path: Path) -> None:
    """While one sink cannot be reached, the others get everything; the dead one waits, and says since when."""
    folder = deliver_to(
        many(tmp_path / "news", 50, 1),
        'name = "dead"\nto = "webhook:http://127.0.0.1:9/"',
        'name = "log"\nto = "jsonl:found.jsonl"',
    )
    assert not send(folder)
    assert len((folder / "found.jsonl").read_text().splitlines()) == 50
    status = Cursors(folder).status("dead")
    assert (status.last, status.tries >= 2) == (None, True)
    assert "refused" in (status.error or "")
    assert 200 < status.next_at - time.time() < 400, "the third try is five minutes later"


def test_retries_end_in_dead_letters_which_can_be_sent_again(tmp_path: Path) -> None:
    """An event that failed as often as the schedule says is put aside, the rest goes on, and --again sends it."""
    with Receiver(lambda number: (500, {}) if number <= 3 else (200, {})) as receiver:
        hook = f'name = "hook"\nto = "webhook:{receiver.url}"\nretry = ["0.01s", "0.01s"]'
        folder = deliver_to(many(tmp_path / "news", 4, 1), hook)
        assert not send(folder)
        assert receiver.ids == ["news.2", "news.3", "news.4"]
        assert [name for name, _ in Cursors(folder).dead("hook")] == ["1"]
        assert send(folder, again=True)
        assert receiver.ids == ["news.2", "news.3", "news.4", "news.1"]


def test_410_disables_until_told_otherwise(tmp_path: Path) -> None:
    """A receiver that answers 410 is asked no more, until --again."""
    with Receiver(lambda number: (410, {}) if number == 1 else (200, {})) as receiver:
        folder = deliver_to(many(tmp_path / "news", 3, 1), f'name = "hook"\nto = "webhook:{receiver.url}"')
        assert not send(folder)
        assert not send(folder)
        assert receiver.asked == 1
        assert send(folder, again=True)
        assert receiver.ids == ["news.1", "news.2", "news.3"]


def test_retry_after_is_obeyed(tmp_path: Path) -> None:
    """Whatever the schedule says, a receiver that asks for an hour is left alone that long; redirects are failures."""
    with Receiver(
        lambda number: (429, {"retry-after": "3600"}) if number == 1 else (302, {"location": "/"})
    ) as receiver:
        folder = deliver_to(many(tmp_path / "news", 3, 1), f'name = "hook"\nto = "webhook:{receiver.url}"\n{FAST}')
        assert not send(folder)
        assert receiver.asked == 1
        assert 3500 < Cursors(folder).status("hook").next_at - time.time() <= 3600
        assert not send(folder, again=True)
        assert receiver.taken == []


def test_run_delivers_in_a_process_of_its_own(web: Recording, tmp_path: Path) -> None:
    """`recrawl run --deliver` has delivered what it found when it ends, and leaves no process behind."""
    calendar = Days()
    with served(web, calendar) as server:
        crawl = Crawl.create(tmp_path / "news", settings("bayes", "100%"))
        folder = deliver_to(crawl.directory, 'to = "jsonl:found.jsonl"\ntypes = ["all"]')
        crawl.add(*seeds(server))
        assert main(["run", "-C", str(folder), "--cycles", "1", "--deliver", "--quiet"]) == 0
    found = [json.loads(line) for line in (folder / "found.jsonl").read_text().splitlines()]
    assert found == list(EventFeed(folder, types=["all"]))
    assert found[-1]["id"] == "cycle-1"
    with delivery._locked(folder):
        pass


def test_one_process_delivers(tmp_path: Path) -> None:
    """A second process is refused in one line, as long as the first one lives."""
    folder = deliver_to(many(tmp_path / "news", 3, 1), 'to = "jsonl:found.jsonl"')
    with delivery._locked(folder), pytest.raises(StoreError, match="another process delivers"):
        send(folder)
    assert send(folder)


def test_filters_and_batches(tmp_path: Path) -> None:
    """Only what is asked for is sent, in batches of the size asked for; what is left out does not come again."""
    with Receiver() as receiver:
        only = 'only = {hosts = ["s1.example", "*.nowhere.example"], contains = "1.html"}\nbatch = 3'
        folder = deliver_to(many(tmp_path / "news", 400, 1), f'name = "hook"\nto = "webhook:{receiver.url}"\n{only}')
        assert send(folder)
        urls = [event["url"] for batch in receiver.events for event in (batch if isinstance(batch, list) else [batch])]
        assert urls == [f"https://s1.example/{page}.html" for page in range(1, 400, 50) if page % 10 == 1]
        assert receiver.ids[0] == "news.2-102"
        assert Cursors(folder).status("hook").last == "400"


class following:  # noqa: N801
    """Deliver in a thread while the block runs, and end as after SIGTERM."""

    def __init__(self, folder: Path) -> None:
        self.stop = threading.Event()
        options = {"follow": True, "say": print, "stop": self.stop}
        self.thread = threading.Thread(target=deliver, args=(folder,), kwargs=options)

    def __enter__(self) -> None:
        self.thread.start()

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.thread.join(60)
        assert not self.thread.is_alive()
