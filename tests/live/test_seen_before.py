"""An answer that is the same to the byte as the last one of its page is judged as if it were read again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from recrawl.fetch.outcome import FetchResult, Kind
from recrawl.fetch.validators import NO_VALIDATORS
from recrawl.live.answer_reader import AnswerReader
from recrawl.live.judge import judge
from recrawl.live.page_reader import PageReader
from recrawl.live.seen_before import SeenBefore
from recrawl.live.store_visits import Copy, VisitRecord
from recrawl.visits import Outcome

URL = "http://a.example/p"
HEADERS = (("content-type", "text/html"), ("server", "plain"))
BODY = b"<title>A page</title><link rel=canonical href=/other><p>With words and <a href=/one>a link</a>"
SHELL = b"<title>x</title><div id=root></div><script src=x></script><script>y()</script><noscript>enable javascript"


def answer(body: bytes = BODY, headers: tuple[tuple[str, str], ...] = HEADERS, to: str = URL) -> FetchResult:
    return FetchResult(URL, Kind.OK, 2.0, to, status=200, headers=headers, body=body)


def read(answers: AnswerReader, copy: Copy, result: FetchResult) -> VisitRecord:
    return asyncio.run(answers.read(copy, result, NO_VALIDATORS)).record


def copy_after(record: VisitRecord) -> Copy:
    return Copy(7, URL, "{}", record.digest, record.links_digest, 0)


@pytest.fixture
def answers(tmp_path: Path) -> AnswerReader:
    return AnswerReader(PageReader(), tmp_path)


@pytest.mark.parametrize(
    "again",
    [
        answer(),
        answer(BODY + b" and more"),
        answer(BODY.replace(b"/one", b"/two")),
        answer(headers=(*HEADERS, ("x-robots-tag", "nofollow"))),
        answer(headers=(("content-type", "text/plain"),)),
        answer(to="http://a.example/login"),
        answer(b""),
        FetchResult(URL, Kind.RESET),
    ],
    ids=["same", "text", "link", "robots", "type", "redirect", "empty", "no answer"],
)
def test_the_second_visit_is_recorded_as_if_it_were_the_only_one(answers: AnswerReader, again: FetchResult) -> None:
    """Whatever comes the second time, the record is that of a reader that remembers nothing."""
    first = read(answers, Copy(7, URL, "{}", None, None, 0), answer())
    copy = copy_after(first)
    one, other = read(answers, copy, again), judge(copy, again, NO_VALIDATORS)[0]
    assert one._replace(contents=None) == other._replace(contents=None)
    assert repr(one.contents) == repr(other.contents)


def test_the_same_answer_is_not_read_again(answers: AnswerReader) -> None:
    """Only the same answer, and only while our copy is the page's that it was."""
    copy = copy_after(read(answers, Copy(7, URL, "{}", None, None, 0), answer()))
    assert answers.before.recall(copy, answer()) is not None
    assert answers.before.recall(copy._replace(digest=b"other"), answer()) is None
    assert answers.before.recall(copy._replace(links_digest=b"other"), answer()) is None
    assert answers.before.recall(copy._replace(page=8), answer()) is None


def test_pages_that_say_nothing_are_read_each_time(answers: AnswerReader) -> None:
    """A shell for scripts that stays the same says nothing about its page, at every visit."""
    copy = copy_after(read(answers, Copy(7, URL, "{}", None, None, 0), answer(SHELL)))
    for _ in range(2):
        assert read(answers, copy, answer(SHELL)).outcome == Outcome.FAILED


def test_only_so_many_pages_are_remembered(answers: AnswerReader) -> None:
    """The pages that came first stay, and are brought up to date."""
    answers.before = SeenBefore(1)
    copy = copy_after(read(answers, Copy(7, URL, "{}", None, None, 0), answer()))
    other = copy_after(read(answers, Copy(8, URL, "{}", None, None, 0), answer()))._replace(page=8)
    assert answers.before.recall(copy, answer()) is not None
    assert answers.before.recall(other, answer()) is None
    changed = answer(BODY + b" and more")
    copy = copy_after(read(answers, copy, changed))
    assert answers.before.recall(copy, changed) is not None
