"""Hostile cases 35 to 45: whole answers that mislead, by status or header. Each test is named by its number there.

Case 34 (HTTP/2 GOAWAY) does not apply: the client speaks HTTP/1.1 only and never offers h2.
"""

from __future__ import annotations

import asyncio

import pytest

from hostile.asking import HURRIED, ask, with_fetcher
from hostile.hostile_server import Asked, HostileServer, answer, in_turn, raw
from recrawl.fetch.fetcher import Fetcher
from recrawl.fetch.gate import parse_retry_after
from recrawl.fetch.outcome import Kind
from recrawl.fetch.settings import GateSettings
from recrawl.fetch.validators import Validators
from recrawl.see.page import see_page
from recrawl.visits import Outcome
from support.manual_clock import ManualClock

PAGE = answer("<title>a page</title><p>some words")


@pytest.mark.parametrize(
    "status", ["204 No Content", "205 Reset", "206 Partial Content", "300 Choices", "999 What", "101 Switch"]
)
def test_case_35_unexpected_statuses_are_no_version(status: str) -> None:
    """An answer that is not the whole page is no version of it."""
    result, _ = ask({"/": answer(b"" if status[:3] in ("204", "101") else b"part of it", status)})
    assert result.kind is Kind.NOT_A_VERSION
    assert result.outcome is Outcome.FAILED


def test_case_35_interim_answers_are_passed_over() -> None:
    """A 100 or 103 before the answer is not the answer."""
    interim = raw(
        "HTTP/1.1 100 Continue\n\nHTTP/1.1 103 Early Hints\nLink: </x>\n\nHTTP/1.1 200 OK\nContent-Length: 2\n\nhi"
    )
    assert ask({"/": interim})[0].body == b"hi"


def test_case_36_304_without_our_validator_is_refetched() -> None:
    """A 304 to a question we did not ask, or about another version, is answered by asking plainly."""
    not_modified = answer(b"", "304 Not Modified", etag='"other"')
    result, server = ask({"/": in_turn(not_modified, PAGE)})
    assert result.kind is Kind.OK
    assert len(server.paths()) == 2
    result, server = ask({"/": in_turn(not_modified, PAGE)}, validators=Validators(etag='"mine"'))
    assert result.kind is Kind.OK
    assert [("if-none-match" in asked.headers) for asked in server.asked[-2:]] == [True, False]
    assert ask({"/": not_modified})[0].kind is Kind.NOT_A_VERSION, "it insists"
    believed, _ = ask({"/": answer(b"", "304 Not Modified", etag='W/"mine"')}, validators=Validators(etag='"mine"'))
    assert (believed.kind, believed.outcome) == (Kind.NOT_MODIFIED, Outcome.UNCHANGED)


def test_case_37_new_etag_same_body_is_no_change() -> None:
    """Whatever the ETag says, the content decides."""
    seen = []
    for tag in ('"1"', '"2"'):
        result, _ = ask({"/": answer("<p>the same words as before", etag=tag)})
        seen.append(see_page(result.body, result.final_url, result.headers).digest)
    assert seen[0] == seen[1]


def test_case_38_constant_etag_is_audited_and_distrusted() -> None:
    """After ten "not modified" in a row the page is fetched whole; caught lying, its validators are not used again."""
    validators = Validators(etag='"constant"')
    liar = answer(b"", "304 Not Modified", etag='"constant"')
    changed = answer("<p>something new", etag='"constant"')
    asked_plainly = 0
    for _ in range(11):
        result, _ = ask({"/": in_turn(changed if validators.unchanged_in_a_row >= 10 else liar)}, validators=validators)
        asked_plainly += not result.conditional
        validators = validators.after(result, changed=result.kind is Kind.OK)
    assert asked_plainly == 1
    assert validators.distrusted
    assert not validators.headers(audit_every=10)


@pytest.mark.parametrize(
    ("stated", "kept"),
    [
        ("Fri, 01 Jan 2100 00:00:00 GMT", False),
        ("Thu, 01 Jan 1970 00:00:00 GMT", False),
        ("Sun, 06 Oct 2024 10:00:00 GMT", True),
        ("yesterday", False),
        ("Fri, 99 Foo 99999 99:99:99 XYZ", False),
    ],
)
def test_case_39_last_modified_is_a_feature_never_truth(stated: str, kept: bool) -> None:
    """A Last-Modified in the future, of 1970 or of no date changes nothing but is not sent back either."""
    result, _ = ask({"/": answer("<p>words", last_modified=stated)}, clock=ManualClock(now=20_100.0))
    assert result.kind is Kind.OK
    assert bool(Validators().after(result, changed=True).last_modified) == kept


def test_case_40_skewed_date_header_is_ignored() -> None:
    """Visits are dated by our own clock, whatever day the host thinks it is."""
    clock = ManualClock(now=20_000.5)
    result, _ = ask({"/": answer("<p>words", date="Fri, 01 Jan 2100 00:00:00 GMT")}, clock=clock)
    assert result.at == pytest.approx(20_000.5, abs=1e-6)


@pytest.mark.parametrize(
    ("stated", "wait_s"),
    [
        ("120", 120),
        ("0", 0),
        ("-5", 60),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400),
        ("99999999999", 86_400),
        ("soon", 60),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 60),
        ("", 60),
        ("9" * 400, 86_400),
    ],
)
@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
def test_case_41_retry_after_closes_the_hosts_gate_within_bounds(stated: str, wait_s: float, status: str) -> None:
    """Retry-After in seconds, as a date, negative, absurd or missing: the host is left alone for a sensible time."""
    result, _ = ask({"/": answer("later", status, retry_after=stated)}, clock=ManualClock())
    assert result.kind is Kind.RATE_LIMITED
    assert result.retry_in_s == pytest.approx(wait_s, abs=1)


def test_case_41_a_paused_host_is_not_asked() -> None:
    """While a host's gate is closed for longer than we wait, its pages come back as paused, unasked."""

    async def script(fetcher: Fetcher, server: HostileServer) -> None:
        assert (await fetcher.fetch(server.url())).kind is Kind.RATE_LIMITED
        asked = len(server.asked)
        result = await fetcher.fetch(server.url("/other"))
        assert result.kind is Kind.HOST_PAUSED
        assert result.retry_in_s > 3_000
        assert len(server.asked) == asked
        assert (await fetcher.fetch(server.url("/", "b.test"))).kind is Kind.OK, "other hosts are not held up"

    later = answer("later", "429 Too Many Requests", retry_after="3600")
    with_fetcher({"127.0.0.1/": later, "b.test/": PAGE}, script)
    assert parse_retry_after("1e3", 0.0) is None


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden", "451 Unavailable", "407 Proxy"])
def test_case_42_block_pages_are_no_change(status: str) -> None:
    """A page that says "you may not" says nothing about the page that was asked for."""
    result, _ = ask({"/": answer("<h1>Access denied</h1>", status)})
    assert result.kind is Kind.BLOCKED
    assert result.outcome is Outcome.FAILED
    assert result.body == b""


def test_case_43_bad_tls_fails_by_default() -> None:
    """A certificate that no authority signed, a wrong name, and a server that speaks no TLS are refused."""
    result, server = ask({"/": PAGE}, tls=True, tls_ca_file=None)
    assert result.kind in (Kind.TLS_FAILED, Kind.ROBOTS_UNREACHABLE)
    result, server = ask({"/": PAGE}, tls=True, tls_ca_file=None, obey_robots=False)
    assert result.kind is Kind.TLS_FAILED
    assert not server.asked
    assert ask({"/": PAGE}, tls=True, host="wrong.name.test", obey_robots=False)[0].kind is Kind.TLS_FAILED
    assert ask({"/": PAGE}, "https://127.0.0.1:PORT/", obey_robots=False, **HURRIED)[0].outcome is Outcome.FAILED
    assert ask({"/": PAGE}, tls=True)[0].kind is Kind.OK


def test_case_44_cookies_are_not_kept() -> None:
    """No cookie is ever sent back, however many are set."""
    bomb = raw(
        "HTTP/1.1 200 OK\n" + "".join(f"Set-Cookie: c{i}={'x' * 500}\n" for i in range(100)) + "Content-Length: 2\n\nhi"
    )

    async def script(fetcher: Fetcher, server: HostileServer) -> None:
        for _ in range(2):
            assert (await fetcher.fetch(server.url())).kind is Kind.OK
        assert all("cookie" not in asked.headers for asked in server.asked)

    with_fetcher({"/": bomb}, script)


def test_case_45_hostile_header_values_are_data() -> None:
    """Header values with markup, escapes, SQL or broken bytes are carried as they are and do nothing."""
    values = ["<script>alert(1)</script>", "'; DROP TABLE pages; --", "=cmd|' /C calc'!A0", "\x1b[31m", "\xff\xfe"]
    head = "HTTP/1.1 200 OK\n" + "".join(f"X-{i}: {value}\n" for i, value in enumerate(values))
    result, _ = ask({"/": raw(head + 'ETag: "\xff\x01"\nContent-Length: 2\n\nhi')})
    if result.kind is Kind.OK:  # or refused as a whole, which is as good
        assert [result.header(f"x-{i}") for i in range(3)] == values[:3]
        assert Validators().after(result, changed=True).etag == "", "not fit to be sent back"
    else:
        assert result.kind is Kind.BAD_HTTP


def test_case_45_a_request_cannot_be_split_by_what_it_carries() -> None:
    """A header value with a line break is never sent; query and path arrive as they were, behind the right host."""
    result, server = ask({"/": PAGE}, headers=(("X-Key", "a\r\nX-Forged: yes"),))
    assert result.kind is Kind.INVALID_URL
    assert not [asked for asked in server.asked if asked.path == "/"]
    result, server = ask({"a.test/x?q=1%0D%0AHost:%20b.test": PAGE}, "/x?q=1%0d%0aHost:%20b.test", host="a.test")
    assert result.kind is Kind.OK
    asked = server.asked[-1]
    assert asked.host.partition(":")[0] == "a.test"
    assert set(asked.headers) == {"host", "user-agent", "accept", "accept-encoding"}


def test_latency_makes_the_gate_slower() -> None:
    """A host that takes long to answer is asked less often."""

    async def slow(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.1)
        writer.write(PAGE)

    async def script(fetcher: Fetcher, server: HostileServer) -> None:
        await fetcher.fetch(server.url())
        assert fetcher.gate.delay_s("127.0.0.1") > 0.3

    gate = GateSettings(min_delay_s=0.0, latency_factor=5.0)
    with_fetcher({"/": slow}, script, gate=gate, obey_robots=False)
