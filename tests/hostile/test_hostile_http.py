"""Hostile cases 18 to 22 and 29 to 33: redirects and broken answers, each test named by its number in the list."""

from __future__ import annotations

import asyncio
import gzip
from dataclasses import replace

import pytest

from hostile.asking import LENIENT, ask, with_fetcher
from hostile.hostile_server import CERTIFICATE, Asked, HostileServer, Play, answer, in_turn, raw, redirect, reset
from recrawl.fetch.fetcher import Fetcher, Request
from recrawl.fetch.outcome import FetchResult, Kind
from recrawl.visits import Outcome
from support.manual_clock import ManualClock

PAGE = answer("<title>a page</title><p>some words")
TEXT = b"<title>a page</title>" + b"<p>some words that repeat and repeat</p>" * 200


def test_case_18_redirect_loop_stops() -> None:
    """A redirect loop ends at once, an endless chain after ten redirects; both are outcomes."""
    result, server = ask({"/a": redirect("/b"), "/b": redirect("/a")}, "/a")
    assert result.kind is Kind.TOO_MANY_REDIRECTS
    assert server.paths() == ["/a", "/b"]
    chain: dict[str, Play] = {f"/{i}": redirect(f"/{i + 1}") for i in range(20)}
    result, server = ask(chain, "/0")
    assert result.kind is Kind.TOO_MANY_REDIRECTS
    assert server.paths() == [f"/{i}" for i in range(11)]
    short: dict[str, Play] = {f"/{i}": redirect(f"/{i + 1}") for i in range(10)}
    short["/10"] = PAGE
    result, _ = ask(short, "/0")
    assert (result.kind, len(result.hops)) == (Kind.OK, 10)


def test_case_19_cross_host_redirect_meets_the_targets_scope_and_robots() -> None:
    """On another host, that host's robots.txt and the crawl's scope decide, and credentials stay behind."""
    plays: dict[str, Play] = {
        "a.test/": redirect("http://b.test:PORT/secret"),
        "b.test/robots.txt": answer("User-agent: *\nDisallow: /secret"),
        "b.test/secret": PAGE,
        "b.test/open": PAGE,
    }

    async def script(fetcher: Fetcher, server: HostileServer) -> None:
        for path in ("secret", "open"):
            plays["a.test/"] = redirect(server.url(f"/{path}", "b.test"))
            request = Request(server.url("/", "a.test"), headers=(("Authorization", "Basic c2VjcmV0"),))
            result = await fetcher.fetch(request)
            assert result.kind is (Kind.OK if path == "open" else Kind.ROBOTS_DISALLOWED)
        fetcher.scope = lambda href: "a.test" in href
        result = await fetcher.fetch(server.url("/", "a.test"))
        assert result.kind is Kind.OUT_OF_SCOPE
        for asked in server.asked:
            assert ("authorization" in asked.headers) <= (asked.host.startswith("a.test") and asked.path == "/")
        assert "authorization" in next(asked.headers for asked in server.asked if asked.path == "/")

    with_fetcher(plays, script)


def test_case_20_https_to_http_drops_credentials_and_is_marked() -> None:
    """A redirect from https to http is followed without credentials, and the result says so."""

    async def run() -> tuple[FetchResult, HostileServer]:
        settings = replace(LENIENT, tls_ca_file=CERTIFICATE)
        plays: dict[str, Play] = {}
        async with (
            HostileServer({"/": PAGE}) as plain,
            HostileServer(plays, tls=True) as safe,
            Fetcher(settings) as fetcher,
        ):
            plays["/"] = redirect(plain.url())
            result = await fetcher.fetch(Request(safe.url(), headers=(("Authorization", "Basic c2VjcmV0"),)))
            assert "authorization" in safe.asked[-1].headers
            return result, plain

    result, plain = asyncio.run(run())
    assert result.kind is Kind.OK, result.reason
    assert result.downgraded
    assert all("authorization" not in asked.headers for asked in plain.asked)


@pytest.mark.parametrize("location", ["", "   ", "http://", "http://[::1", "//", "http://a:99999/", "\x00"])
def test_case_21_missing_or_malformed_location_is_an_outcome(location: str) -> None:
    """A redirect to nowhere is an outcome of its own."""
    header = f"Location: {location}" if location.strip() else "X-No: location"
    play = raw(f"HTTP/1.1 301 Moved\n{header}\nContent-Length: 0\n\n")
    assert ask({"/": play})[0].kind in (Kind.BAD_REDIRECT, Kind.BAD_HTTP)


def test_case_22_endless_meta_refresh_counts_as_redirect() -> None:
    """Meta refreshes are followed like redirects, so an endless row of them ends like one."""
    chain: dict[str, Play] = {
        f"/{i}": answer(f'<meta http-equiv="refresh" content="0; url=/{i + 1}">') for i in range(30)
    }
    result, server = ask(chain, "/0")
    assert result.kind is Kind.TOO_MANY_REDIRECTS
    assert len(server.paths()) == 11
    once: dict[str, Play] = {"/": answer("<meta http-equiv=refresh content=\"0;URL='/there'\">"), "/there": PAGE}
    result, _ = ask(once)
    assert result.kind is Kind.OK
    assert [(hop.status, result.final_url.endswith("/there")) for hop in result.hops] == [(0, True)]
    assert ask({"/": answer('<meta http-equiv=refresh content="0; url=/">words')})[0].kind is Kind.OK, "a reload"


@pytest.mark.parametrize("body", [TEXT[:100], gzip.compress(TEXT, mtime=0)[:-20]])
def test_case_29_short_bodies_are_incomplete_never_changed(body: bytes) -> None:
    """A body shorter than its Content-Length, or cut inside its encoding, is no version of the page."""
    encoding = "Content-Encoding: gzip\n" if body[:2] == b"\x1f\x8b" else "Content-Length: 8000\n"
    result, _ = ask({"/": raw(f"HTTP/1.1 200 OK\n{encoding}\n", body)})
    assert result.kind is Kind.INCOMPLETE
    assert result.outcome is Outcome.FAILED


def test_case_29_leftovers_are_not_taken_for_the_next_answer() -> None:
    """What a host sends beyond its Content-Length, even a whole forged answer, is not the next page's."""
    forged = answer("<title>forged</title>")

    async def overfull(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(PAGE)
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.write(forged)
        await writer.drain()

    async def script(fetcher: Fetcher, server: HostileServer) -> None:
        await fetcher.fetch(server.url("/a"))
        await asyncio.sleep(0.1)
        result = await fetcher.fetch(server.url("/b"))
        assert result.kind is Kind.OK
        assert b"the true one" in result.body

    with_fetcher({"/a": overfull, "/b": answer("<title>the true one</title>")}, script)


@pytest.mark.parametrize(
    "head",
    [
        "Content-Length: 3\nTransfer-Encoding: chunked",
        "Content-Length: 3\nContent-Length: 4",
        "Content-Length: 3\nContent-Length: 3",
        "Content-Length: 3, 3",
        "Content-Length: -3",
        "Content-Length: 3x",
    ],
)
def test_case_30_ambiguous_lengths_are_refused(head: str) -> None:
    """An answer that states its length in two ways, or in no number, is refused."""
    assert ask({"/": raw(f"HTTP/1.1 200 OK\n{head}\n\n", b"3\r\nabc\r\n0\r\n\r\n")})[0].kind is Kind.AMBIGUOUS_LENGTH


def _endless_headers(head: bytes, more: bytes) -> Play:
    async def act(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            writer.write(more)
            await writer.drain()

    return act


@pytest.mark.parametrize(
    ("head", "more"),
    [
        (b"HTTP/1.1 200 OK\r\n", b"X-Filler: " + b"y" * 1_000 + b"\r\n"),
        (b"HTTP/1.1 200 OK\r\nX-Filler: ", b"y" * 10_000),
        (b"HTTP/1.1 200 ", b"y" * 10_000),
    ],
)
def test_case_31_endless_headers_are_capped(head: bytes, more: bytes) -> None:
    """Headers without end, as many fields, one field or a status line, are cut at the cap."""
    assert ask({"/": _endless_headers(head, more)})[0].kind is Kind.HEADERS_TOO_LARGE


def test_case_31_large_headers_in_all_are_capped() -> None:
    """Many headers that are each within bounds are still bounded together."""
    fields = "".join(f"X-{i}: {'y' * 5_000}\n" for i in range(100))
    assert ask({"/": raw(f"HTTP/1.1 200 OK\n{fields}Content-Length: 0\n\n")})[0].kind is Kind.HEADERS_TOO_LARGE


@pytest.mark.parametrize(
    "head", ["<html>no status line\n\n", "hello", "HTTP/2 200\n\n", "HTTP/1.1 abc OK\n\n", "\x16\x03\x01"]
)
def test_case_32_no_status_line_is_an_outcome(head: str) -> None:
    """Something that is not HTTP is an outcome."""
    assert ask({"/": raw(head)})[0].kind is Kind.BAD_HTTP


def test_case_32_folded_and_broken_headers_are_outcomes() -> None:
    """A folded header is read as one; a header with a NUL or without a name is refused."""
    folded, _ = ask({"/": raw("HTTP/1.1 200 OK\nX-A: b\n  c\nContent-Length: 3\n\n", b"abc")})
    assert folded.kind in (Kind.OK, Kind.BAD_HTTP)
    for line in ("X-A: a\0b", ": nameless", "no colon"):
        assert ask({"/": raw(f"HTTP/1.1 200 OK\n{line}\nContent-Length: 3\n\n", b"abc")})[0].kind is Kind.BAD_HTTP


async def _reset_in_the_middle(asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc")
    await writer.drain()
    await asyncio.sleep(0.02)
    writer.transport.abort()


@pytest.mark.parametrize(
    "broken",
    [
        reset,
        _reset_in_the_middle,
        raw("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n", b"3\r\nabc\r\nzz\r\n"),
        raw("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n", b"30\r\nabc"),
    ],
)
def test_case_33_resets_and_broken_chunks_are_retried_with_backoff(broken: Play) -> None:
    """After a reset or a broken chunk the page is asked for again, later each time, and not for ever."""
    clock = ManualClock()
    plays: dict[str, Play] = {"/": in_turn(broken, broken, PAGE)}
    result, server = ask(plays, retries=2, retry_backoff_s=1.0, clock=clock, obey_robots=False)
    assert result.kind is Kind.OK
    assert result.attempts == 3
    assert clock.slept_s == [1.0, 2.0]
    result, server = ask({"/": broken}, retries=2, obey_robots=False)
    assert result.kind in (Kind.RESET, Kind.INCOMPLETE)
    assert len(server.paths()) == 3


def test_case_33_a_kept_connection_that_was_closed_is_no_failure() -> None:
    """A server that closes a kept connection between two pages costs a new connection, not a failure."""
    closing = raw("HTTP/1.1 200 OK\nContent-Length: 2\n\nhi")

    async def script(fetcher: Fetcher, server: HostileServer) -> None:
        for _ in range(3):
            assert (await fetcher.fetch(server.url())).kind is Kind.OK
        assert all(state.failures == 0 for state in fetcher.gate.export_changed())

    with_fetcher({"/": closing}, script)
