"""The feed: what a crawl found, as events in order from a cursor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from recrawl.errors import InputError
from recrawl.live.facade import Crawl
from recrawl.live.feed import TYPES, EventFeed
from recrawl.live.feed_content import CAP_BYTES
from recrawl.live.store_feed import CHANGED, FAILED, FIRST, GONE
from recrawl.visits import Outcome
from support.feed_crawls import filled, many

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "event.schema.json").read_text())
A, B, C = "https://a.example/", "https://a.example/b", "https://b.example/c?x=1"
WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
CONTENTS = ("diff", "added", "removed", "text", "markdown", "links_added", "change")


def page(*lines: str, head: str = "") -> bytes:
    return f"<html><head><title>T</title>{head}</head><body>{''.join(f'<p>{x}</p>' for x in lines)}</body>".encode()


OLD, NEW = page(WORDS, "stays", "goes away"), page(WORDS, "stays", "comes in <a href=/new>here</a>")
CYCLES = [
    [(A, Outcome.FIRST, OLD), (B, Outcome.FIRST, page(WORDS)), (C, Outcome.GONE, b"")],
    [(A, Outcome.CHANGED, NEW), (B, Outcome.UNCHANGED, page(WORDS))],
    [(A, Outcome.FAILED, b""), (B, Outcome.GONE, b"")],
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return filled(tmp_path / "news", CYCLES).path


def read(folder: Path, *args: Any, **options: Any) -> list[dict[str, Any]]:
    return list(EventFeed(folder, *args, **options))


def test_outcomes_have_the_numbers_that_the_feed_knows() -> None:
    """The feed names outcomes by number, since their enumeration would import numpy."""
    assert (CHANGED, FIRST, GONE, FAILED) == (Outcome.CHANGED, Outcome.FIRST, Outcome.GONE, Outcome.FAILED)


def test_events_come_in_order_and_fit_their_schema(folder: Path) -> None:
    """Every visit that found something is an event, every finished cycle one after its visits; a page that was never
    there is a failure and not a deletion."""
    events = read(folder, types=["all"], include=CONTENTS)
    assert [(event["id"], event["type"]) for event in events] == [
        *((1, "page.new"), (2, "page.new"), (3, "page.failed"), ("cycle-1", "cycle.done"), (4, "page.changed")),
        *(("cycle-2", "cycle.done"), (6, "page.failed"), (7, "page.gone"), ("cycle-3", "cycle.done")),
    ]
    for event in [*events, *read(folder, types=["all"])]:
        jsonschema.validate(event, SCHEMA)
    assert events[2]["failure"] == {"kind": "gone", "reason": "gone: 410"}
    assert events[6]["failure"]["kind"] == "connect-timeout"
    assert events[7]["previous"] == {"id": 2, "time": "2024-10-05T00:00:00Z"}
    assert events[5]["visits"] == {"unchanged": 1, "changed": 1, "new": 0, "gone": 0, "failed": 0}


def test_contents_say_what_came_and_what_went(folder: Path) -> None:
    """The diff, the lines that came apart from those that went, and the words counted by hand."""
    event = read(folder, types=["changed"], include=CONTENTS)[0]
    assert event["diff"] == f"@@ -1,3 +1,3 @@\n {WORDS}\n stays\n-goes away\n+comes in here"
    assert (event["added"], event["removed"]) == ("comes in here", "goes away")
    assert event["change"] == {
        "words_added": 3, "words_removed": 2, "significant": False, "new_links": {"internal": 1, "external": 2},
    }  # fmt: skip
    assert event["links_added"] == ["https://a.example/new"]
    assert "[here](https://a.example/new)" in event["markdown"]
    assert (event["content_type"], event["why"], "cut" in event) == ("text/html", None, False)
    first = read(folder, types=["new"], include=("diff", "added"))[0]
    assert first["added"] == f"{WORDS}\nstays\ngoes away"
    assert first["diff"].startswith("@@ -0,0 +1,3 @@\n+one")


def test_what_was_not_asked_for_is_null(folder: Path) -> None:
    """Without contents no body is read, and what only bodies can tell is null."""
    event = read(folder, types=["changed"])[0]
    assert event["change"] == {
        "words_added": None, "words_removed": None, "significant": None, "new_links": {"internal": 1, "external": 2},
    }  # fmt: skip
    assert not set(CONTENTS) - {"change"} & set(event)


def test_any_event_is_a_cursor(folder: Path) -> None:
    """After any event's id, or the cursor at it, come exactly the events after it."""
    events = read(folder, types=["all"])
    for i, event in enumerate(events):
        assert read(folder, str(event["id"]), types=["all"]) == events[i + 1 :]
        feed = EventFeed(folder, types=["all"])
        assert list(islice(feed, i + 1))[-1] == event
        assert read(folder, feed.cursor, types=["all"]) == events[i + 1 :]


def test_since_a_time_or_a_span(folder: Path) -> None:
    """A time or a span before now gives what was found since; the clock is the crawl's."""
    later = read(folder, "2024-10-06", types=["all"])
    assert [event["id"] for event in later] == [4, "cycle-2", 6, 7, "cycle-3"]
    assert read(folder, "25h", now=lambda: 20_003.0)[0]["id"] == 4
    assert next(Crawl.open(folder).feed(since="2024-10-07T00:00Z", types=["gone"]))["url"] == B
    assert [event["id"] for event in Crawl.open(folder).feed(since=2)] == [4, 7]


def test_a_feed_goes_on(tmp_path: Path) -> None:
    """A feed that was read to its end gives what came since; only finished cycles, if told so."""
    folder = filled(tmp_path / "news", CYCLES[:1]).path
    feed, complete = EventFeed(folder), EventFeed(folder, complete=True)
    assert (len(list(feed)), len(list(complete)), len(list(feed))) == (2, 2, 0)
    from recrawl.live.store import Store
    from recrawl.live.store_visits import VisitRecord

    store = Store.open(folder / "state.sqlite")
    with store.transaction():
        store.open_cycle(2, 20_002.0, 1, "bayes")
        store.add_visits(2, [VisitRecord(0, 20_002.0, int(Outcome.CHANGED), 200, digest=b"x")], [(0, 0)])
    assert [event["id"] for event in feed] == [4]
    assert list(complete) == []
    with store.transaction():
        store.finish_cycle(2)
    assert [event["id"] for event in complete] == [4]
    store.close()


def test_what_is_missing_says_why(tmp_path: Path) -> None:
    """A page that forbids archiving has no text and says so; so does a body that is no longer there."""
    secret = page(WORDS, head="<meta name=robots content=noarchive>")
    folder = filled(tmp_path / "news", [[(A, Outcome.FIRST, secret), (B, Outcome.FIRST, OLD)]]).path
    for file in (folder / "warc").iterdir():
        file.unlink()
    events = read(folder, include=("text", "diff"))
    assert [(event["text"], event["diff"], event["why"]) for event in events] == [
        (None, None, "noarchive"), (None, None, "missing"),
    ]  # fmt: skip


def test_hostile_text_is_capped_and_escaped(tmp_path: Path) -> None:
    """Ten megabytes of diff are cut and say so; control characters and lone surrogates stay within one line of JSON."""
    nasty = page(WORDS, "\x1b[2J &#xD800; &#13;&#10; \u2028 =1+1")
    names = (i.to_bytes(3).hex().translate(str.maketrans("0123456789", "ghijklmnop")) for i in range(10_000))
    huge = page(WORDS, *(f"{name} {'x' * 990}" for name in names))  # of ten megabytes
    cycles = [[(A, Outcome.FIRST, OLD), (B, Outcome.FIRST, nasty)], [(A, Outcome.CHANGED, huge)]]
    folder = filled(tmp_path / "news", cycles).path
    feed = iter(EventFeed(folder, include=CONTENTS))
    first, second = next(feed), next(feed)
    began = time.process_time()
    third = next(feed)
    assert time.process_time() - began < 20
    assert third["cut"] is True
    assert all(
        CAP_BYTES - 3 <= len(third[name].encode()) <= CAP_BYTES for name in ("diff", "added", "text", "markdown")
    )
    assert "cut" not in first
    line = json.dumps(second)
    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line)["text"].encode()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"since": "yesterday"}, "'yesterday' is not an event's id"),
        ({"types": ["old"]}, "unknown type of event 'old'"),
        ({"include": ["html"]}, "unknown content 'html'"),
    ],
)
def test_bad_questions_are_one_line(folder: Path, options: dict[str, Any], message: str) -> None:
    """What cannot be asked is said in one line."""
    with pytest.raises(InputError, match=message) as error:
        read(folder, **options)
    assert "\n" not in str(error.value)


def tail(*words: str) -> list[str]:
    return [sys.executable, "-m", "recrawl", "tail", *words]


def test_tail_prints_json_lines(folder: Path) -> None:
    """`recrawl tail` prints an event per line, as a table if told so, and bad input is exit code 2."""
    done = subprocess.run(tail("-C", str(folder), "--since", "0"), capture_output=True, text=True, check=True)
    assert [json.loads(line) for line in done.stdout.splitlines()] == read(folder)
    done = subprocess.run(
        tail("-C", str(folder), "--types", "all", "--with", "diff", "--table"),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TZ": "UTC"},
    )
    assert "2024-10-06 00:00:00 UTC  changed  200  https://a.example/  T\n    @@ -1,3 +1,3 @@" in done.stdout
    done = subprocess.run(tail("-C", str(folder / "no")), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_tail_f_ends_with_its_reader(folder: Path) -> None:
    """`recrawl tail -f | head -1` ends both."""
    first = subprocess.Popen(tail("-C", str(folder), "-f", "--since", "0"), stdout=subprocess.PIPE)
    assert first.stdout is not None
    second = subprocess.run(["head", "-1"], stdin=first.stdout, capture_output=True, timeout=60, check=True)
    first.stdout.close()
    assert json.loads(second.stdout)["id"] == 1
    assert first.wait(timeout=30) == 0


def test_reading_starts_at_once(tmp_path: Path) -> None:
    """A feed without contents imports no numpy, numba or scipy, and does not read the visits before its cursor."""
    folder = many(tmp_path / "news", 2_000, 10).path
    code = (
        "import sys; from recrawl.cli import main\n"
        f"main(['tail', '-C', {str(folder)!r}]); main(['tail', '-C', {str(folder)!r}, '--since', '19990'])\n"
        "slow = {'numpy', 'numba', 'scipy', 'asyncio', 'aiohttp', 'pyarrow'}\n"
        "print(*sorted(slow & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "\n"
    assert len(done.stdout.splitlines()) >= 10
    assert set(json.loads(done.stdout.splitlines()[0])["type"].split()) <= set(TYPES)
