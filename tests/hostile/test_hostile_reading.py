"""Reading what strangers wrote: it never raises, and its time grows in proportion to the page."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.see.feeds import read_feed
from recrawl.see.fingerprint import fingerprint, stable_text
from recrawl.see.markup.html import parse_refresh
from recrawl.see.page import SeenPage, see_page
from recrawl.see.rotating import CLOCK_LINE, LONGEST_CLOCK, ROTATING
from recrawl.see.sniff import Media, sniff

URL = "http://a.example/folder/page.html"
HTML = (("content-type", "text/html; charset=utf-8"),)
TEXT = (("content-type", "text/plain"),)
FEED = b"""<?xml version="1.0"?><rss><channel><item><title>A &amp; B</title><link>http://a.example/1</link>
<pubDate>Mon, 16 Nov 2026 10:00:00 GMT</pubDate></item></channel></rss>"""
PAGE = b"""<!doctype html><html><head><meta charset="utf-8"><title>A page &mdash; of words</title><link rel="canonical"
href="/p.html"><meta http-equiv="refresh" content="9; url=/q"><script>if (a < b) { c("</p>") }</script></head><body>
<nav><ul><li><a class="nav" href="/section/1.html">one</a></li></ul></nav><main><article><h1>Words &amp;
more</h1><!-- no --><p>Some words <a href="../p2.html?x=1&amp;y=2#z" rel=nofollow>there</a>, 17:45:02, 5 views.</p>
<svg><title>x</title></svg><table><tr><td>1<td>2</table></article></main><footer>&copy; 2026 <a href="https://b.example/">b</a></footer>"""
PARTS = [
    part
    for line in (
        "last ~updated~as of ~now~server time~ ~: ~on ~at ~monday, ~12 ~1st ~may ~sept. ~2026~2026-11-16",
        "16.11.26~t~10:15~17:45:02~.123~ utc~ +01:00~ p.m.~12,345~ views~ users online~views: ~took ",
        "generated in ~ 0.25 s~5 ms~3 minutes ago~17~ days ago~session~id~_~-~=~#~token: ~abc123",
        '550e8400-e29b-41d4-a716-446655440000~©~ (c) ~deadbeefdeadbeef12~copyright ~–~1763315100~timestamp~"',
        "20261116t174502z~\u00a0~東京~é~Mon Nov 16 17:45:02 UTC 2026~A~k~.~,~/~a-1-b-2-~aaaaaaaaaaaaaaaaaaaaaaaa~0",
    )
    for part in line.split("~")
]


def test_a_character_reference_of_5000_digits_is_one_strange_character() -> None:
    """`&#` with 5,000 digits, decimal or hexadecimal, in text, title or an address, decodes to U+FFFD."""
    for digits in ("1" * 5_000, "x" + "f" * 5_000):
        page = see_page(
            f"<title>&#{digits};</title><p>a &#{digits}; b <a href='/x?&#{digits};'>c</a>".encode(), URL, HTML
        )
        assert not page.unreadable
        assert "a \ufffd b" in page.text
        assert page.title == "\ufffd"
    assert see_page(f"<p>&#{'0' * 5_000}65; &#x{'0' * 5_000}41;".encode(), URL, HTML).text == "A A", "zeros are nothing"


def test_what_cannot_be_read_is_said_of_that_page_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should reading fail all the same, the page has a reason and a digest of its bytes; nothing is raised."""

    def fail(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr("recrawl.see.page.read_html", fail)
    page = see_page(b"<p>words", URL, HTML)
    assert page.unreadable == "RecursionError: too deep"
    assert page.digest != see_page(b"<p>others", URL, HTML).digest


def numbers(size: int) -> bytes:
    return ("[" + ",".join(str(i % 1_000) for i in range(size // 4)) + "]").encode()


def repeated(unit: str) -> Callable[[int], bytes]:
    return lambda size: (unit * (size // len(unit) + 1)).encode()[:size] + b" 1"


FAMILIES: dict[str, Callable[[int], bytes]] = {
    "minified JSON of numbers": numbers,
    **{
        name: repeated(unit)
        for name, unit in {
            "dashed letters": "a-",
            "dashed letters beyond ASCII": "é-",
            "months": "jan",
            "tokens without a digit": "token=",
            "took": "took ",
            "digits": "1",
            "clocks": "10:15 ",
            "dates": "1.1.",
            "spaces": "now  ",
            "views": "1,views ",
            "sessions": "session ",
            "references": "&#1;",
            "comments": "<!---->",
            "unclosed tags": "<div ",
            "nested": "<div>",
            "attributes": "<a b=c d=e ",
            "noscript": "<script></script><noscript>",
            "links": "<a href=../x#y>",
            "links with references": "<a href='?a&#35;&amp=1'>",
            "refreshes": "<meta http-equiv=refresh content='1 ;  '>",
            "drawings": "<svg><math>",
            "raw text": "<textarea></textare",
            "copyright": "(c) © copyright ",
        }.items()
    },
}


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("headers", [HTML, TEXT, ()], ids=["html", "text", "untyped"])
def test_time_is_linear(name: str, headers: tuple[tuple[str, str], ...]) -> None:
    """Eight times the bytes take at most about eight times the time, whatever the page is made of, and never long.

    Quadratic time would be 64 times. The least of several runs counts, and what is over in no time passes.
    """
    small, large = (FAMILIES[name](size) for size in (16_000, 128_000))
    see_page(small, URL, headers)
    base, spent = (min(_timed(body, headers) for _ in range(3)) for body in (small, large))
    assert spent < max(24 * base, 0.05), f"{base * 1e3:.1f} ms, then {spent * 1e3:.1f} ms"


def _timed(body: bytes, headers: tuple[tuple[str, str], ...]) -> float:
    began = time.process_time()
    see_page(body, URL, headers)
    return time.process_time() - began


def test_comments_before_markup_are_sniffed_at_once() -> None:
    """A body of comments without a type, whose sniffing once doubled in time with each of them, is read at once."""
    began = time.process_time()
    assert sniff(b"<!---->" * 200 + b"x", "").media is Media.TEXT
    assert sniff(b"<!-- a --> <!-- b --><html>", "").media is Media.HTML
    assert time.process_time() - began < 0.5


def test_a_refresh_of_spaces_is_read_at_once() -> None:
    """A meta refresh that is nothing but spaces costs nothing, and ordinary ones are read as before."""
    began = time.process_time()
    assert parse_refresh("5" + " " * 4_000, URL, URL) is None
    assert time.process_time() - began < 0.1
    assert parse_refresh("5; url=/there", URL, URL) == ("http://a.example/there", 5.0)


def mutate(body: bytes, draw: random.Random) -> bytes:
    """Cut, double, swap and overwrite pieces of a body, and sprinkle in what is special to markup."""
    special = [
        b"<",
        b">",
        b"&#",
        b"\0",
        b'"',
        b"</script",
        b"<!--",
        b"]]>",
        b"\xff\xfe",
        b"&#x110000;",
        b"9" * 5_000,
        b"%00",
    ]
    for _ in range(draw.randint(1, 8)):
        a, b = sorted(draw.randrange(len(body) + 1) for _ in range(2))
        piece = draw.choice((b"", body[a:b] * 2, body[a:b][::-1], draw.choice(special), draw.randbytes(8)))
        body = body[:a] + piece + body[b if draw.random() < 0.5 else a :]
    return body[:60_000]


@pytest.mark.parametrize("seed", range(40))
def test_mutations_are_read(seed: int) -> None:
    """Pages and feeds that were cut, doubled, swapped and overwritten at random are read without an error."""
    draw = random.Random(seed)
    for body in (PAGE, FEED, b"User-agent: *\nDisallow: /\n"):
        for headers in (HTML, TEXT, ()):
            page = see_page(mutate(body, draw), URL, headers)
            assert isinstance(page, SeenPage)
            assert not page.unreadable, page.unreadable
            assert isinstance(page.text, str)
        read_feed(mutate(body, draw), URL)


@settings(deadline=None)
@given(st.binary(max_size=400), st.sampled_from([HTML, TEXT, (), (("content-type", "text/html; charset=utf-16"),)]))
def test_any_bytes_are_read(body: bytes, headers: tuple[tuple[str, str], ...]) -> None:
    """Any bytes at all are a page of some sort."""
    assert not see_page(body, URL, headers).unreadable


def by_pattern(line: str) -> str:
    """What rotates cut out of a line by the patterns alone, tried at every place."""
    low = line.encode("utf-8", "replace").lower().decode()
    if len(low) < LONGEST_CLOCK and CLOCK_LINE.fullmatch(low):
        return ""
    kept, at = [], 0
    for found in ROTATING.finditer(low):
        kept.append(line[at : found.start()])
        at = found.end()
    return " ".join(" ".join([*kept, line[at:]]).split()) if kept else line


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(PARTS) | st.text(alphabet="ab1 :-é.", max_size=3), max_size=12))
def test_the_scan_misses_no_place_where_a_pattern_matches(parts: list[str]) -> None:
    """The compiled scan and the patterns tried at every place leave the same text."""
    line = "".join(parts).strip("".join(map(chr, range(33))))
    if re.search("[0-9]", line):
        assert stable_text(line) == by_pattern(line)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1763315100", "1763315160"),
        ("1763315100.123", "1763315160.456"),
        ("Mon Nov 16 17:45:02 UTC 2026", "Tue Nov 17 09:01:59 UTC 2026"),
        ("Mon Nov 16 17:45:02 2026", "Tue Nov 17 09:01:59 2026"),
        ("2026-11-16T17:45:02Z", "2026-11-17T09:01:59Z"),
        ("20261116T174502Z", "20261117T090159Z"),
        ('{"time": 1763315100}', '{"time": 1763315160}'),
        ('{"updated_at":1763315100123,"name":"x"}', '{"updated_at":1763315160456,"name":"x"}'),
        ("Server time: 17:45", "Server time: 09:01"),
        ("epoch 1763315100", "epoch 1763315160"),
    ],
)
def test_a_clock_or_epoch_number_alone_is_no_change(first: str, second: str) -> None:
    """A text that holds only a moving clock or a number of seconds has the same digest at every visit."""
    assert fingerprint(first.encode()) == fingerprint(second.encode())


def test_other_numbers_are_content() -> None:
    """A number of ten digits that nothing calls a time stays: it may be an article or a telephone."""
    assert stable_text("Call 1763315100 now") == "Call 1763315100 now"
    assert stable_text("ISBN 1566199093 (paper)") == "ISBN 1566199093 (paper)"
