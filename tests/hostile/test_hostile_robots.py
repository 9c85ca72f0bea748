"""Hostile cases 46 to 54: robots.txt by RFC 9309 and directives. Each test is named by its number in the list."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from hostile.asking import HURRIED, ask, with_fetcher
from hostile.hostile_server import Asked, HostileServer, Play, answer, in_turn, redirect, reset, silence
from recrawl.fetch.fetcher import Fetcher
from recrawl.fetch.outcome import Kind
from recrawl.fetch.robots import RobotsRecord
from recrawl.fetch.sitemaps import of_site
from recrawl.see.directives import Directives, from_header
from recrawl.see.feeds import FeedEntry
from recrawl.see.page import see_page
from recrawl.urls.scope import Scope
from support.manual_clock import ManualClock

PAGE = answer("<title>a page</title><p>some words")
CLOSED = answer("User-agent: *\nDisallow: /", content_type="text/plain")


def ask_with(robots: Play, path: str = "/page", **settings: Any) -> Kind:
    """Fetch a page of a host with this robots.txt."""
    plays: dict[str, Play] = {"/robots.txt": robots, "/page": PAGE, "/private/page": PAGE}
    return ask(plays, path, **settings)[0].kind


async def _endless_robots(asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /private\n")
    while True:
        writer.write(b"# filler\n" * 5_000)
        await writer.drain()


def test_case_46_only_the_first_512_kib_count() -> None:
    """Of a robots.txt without end the first 512 KiB are the rules; a rule beyond them is none."""
    assert ask_with(_endless_robots) is Kind.OK
    assert ask_with(_endless_robots, "/private/page") is Kind.ROBOTS_DISALLOWED
    late = answer("User-agent: *\nDisallow: /private\n" + "# filler\n" * 60_000 + "Disallow: /page\n")
    assert ask_with(late) is Kind.OK


@pytest.mark.parametrize(
    "robots", [answer("", "500 Oops"), answer("", "503 Busy"), answer("", "429 Slow"), silence, reset]
)
def test_case_47_unreachable_robots_disallow_everything(robots: Play) -> None:
    """Where robots.txt fails on the host's side, nothing of the host is asked for."""
    plays: dict[str, Play] = {"/robots.txt": robots, "/page": PAGE}
    result, server = ask(plays, "/page", max_wait_s=1e9, clock=ManualClock(), **HURRIED)
    assert result.kind is Kind.ROBOTS_UNREACHABLE
    assert server.paths() == []


def test_case_47_dns_failure_is_a_failure_not_an_absence() -> None:
    """A host whose name does not resolve is neither gone nor free of rules."""
    result, _ = ask({}, "http://nowhere.example/", names={})
    assert result.kind is Kind.DNS_FAILED
    assert result.outcome is not None
    assert result.outcome.name == "FAILED"


def test_case_47_an_old_copy_speaks_for_thirty_days() -> None:
    """While robots.txt cannot be reached, the last copy rules for up to thirty days, then everything is closed."""
    clock = ManualClock()
    rules = answer("User-agent: *\nDisallow: /private")
    plays: dict[str, Play] = {
        "/robots.txt": in_turn(rules, answer("", "500 Oops")),
        "/page": PAGE,
        "/private/page": PAGE,
    }

    async def script(fetcher: Fetcher, server: HostileServer) -> None:
        assert (await fetcher.fetch(server.url("/page"))).kind is Kind.OK
        clock.advance(2 * 86_400)
        assert (await fetcher.fetch(server.url("/page"))).kind is Kind.OK
        assert (await fetcher.fetch(server.url("/private/page"))).kind is Kind.ROBOTS_DISALLOWED
        assert [asked.path for asked in server.asked].count("/robots.txt") == 2, "asked again, in vain"
        clock.advance(29 * 86_400)
        assert (await fetcher.fetch(server.url("/page"))).kind is Kind.ROBOTS_UNREACHABLE

    with_fetcher(plays, script, clock=clock)


def test_case_47_rules_survive_a_restart() -> None:
    """What was learnt of a robots.txt can be stored and taken over, so a restart asks nothing twice."""
    record = RobotsRecord("http://127.0.0.1:PORT", "rules", 20_000.0, 20_000.0, "User-agent: *\nDisallow: /private")

    async def script(fetcher: Fetcher, server: HostileServer) -> None:
        origin = server.url("")
        fetcher.robots.restore([RobotsRecord(origin, "rules", record.asked_at, record.rules_at, record.text)])
        assert (await fetcher.fetch(server.url("/private/page"))).kind is Kind.ROBOTS_DISALLOWED
        assert (await fetcher.fetch(server.url("/page"))).kind is Kind.OK
        assert [asked.path for asked in server.asked] == ["/page"]
        assert fetcher.robots.export_changed() == []

    with_fetcher({"/page": PAGE}, script, clock=ManualClock(20_000.5))


@pytest.mark.parametrize(
    "status", ["400 Bad", "401 Unauthorized", "403 Forbidden", "404 Not Found", "410 Gone", "418 Teapot"]
)
def test_case_48_4xx_means_no_rules(status: str) -> None:
    """A host that has no robots.txt for us allows everything."""
    assert ask_with(answer("", status)) is Kind.OK


def test_case_49_more_than_five_redirects_is_unavailable() -> None:
    """Five redirects of robots.txt are followed, also to another host; at the sixth there are no rules."""
    plays: dict[str, Play] = {"/robots.txt": redirect("/r1"), "/page": PAGE}
    plays |= {f"/r{i}": redirect(f"/r{i + 1}") for i in range(1, 5)} | {"/r5": CLOSED}
    assert ask(plays, "/page")[0].kind is Kind.ROBOTS_DISALLOWED
    plays |= {"/r5": redirect("/r6"), "/r6": CLOSED}
    result, server = ask(plays, "/page")
    assert result.kind is Kind.OK
    assert "/r6" not in server.paths()


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        (b"<html><body><h1>Welcome</h1></body></html>", True),
        (b"\xef\xbb\xbfUser-agent: *\nDisallow: /page", False),
        (b"User-agent: *\0\nDisallow: /pa\0ge", False),
        (b"\xff\xfe\x00garbage\n\nUser-agent: *\r\rDisallow: /page", False),
        (b"user-AGENT : *\n disallow : /page # closed", False),
        (b"User-agent: *\nDisallow: /page\nUser-agent: recrawl\nAllow: /", True),
        (b"User-agent: recrawl\nDisallow: /page\n\nUser-agent: *\nAllow: /", False),
        (b"User-agent: *\nDisallow: /\nAllow: /page", True),
        (b"User-agent: *\nDisallow: /*ge$", False),
        (b"User-agent: *\nDisallow: /%70age", False),
        (b"", True),
    ],
)
def test_case_50_whatever_parses_is_obeyed(text: bytes, allowed: bool) -> None:
    """HTML, byte-order marks, NULs and odd line ends: what can be read as rules is obeyed, the rest is nothing."""
    assert ask_with(answer(text)) is (Kind.OK if allowed else Kind.ROBOTS_DISALLOWED)


def test_case_51_wildcards_are_matched_in_linear_time() -> None:
    """Thousands of patterns full of wildcards against a long URL take no noticeable time."""
    pattern = "/" + "*a" * 200 + "*b$"
    rules = answer("User-agent: *\n" + f"Disallow: {pattern}\n" * 1_000)
    began = time.process_time()
    result, _ = ask({"/robots.txt": rules, "/" + "a" * 1_900: PAGE}, "/" + "a" * 1_900, deadline_s=30.0)
    assert result.kind is Kind.OK
    assert time.process_time() - began < 3.0


def test_case_52_absurd_crawl_delay_skips_the_host_and_says_so() -> None:
    """A host that asks for a year between two pages is not crawled, and the result says why."""
    plays: dict[str, Play] = {"/robots.txt": answer("User-agent: *\nCrawl-delay: 1e9"), "/page": PAGE}
    result, server = ask(plays, "/page")
    assert result.kind is Kind.CRAWL_DELAY_ABSURD
    assert "1e+09 s between requests" in result.reason
    assert server.paths() == []


def test_case_52_sensible_crawl_delay_is_kept() -> None:
    """Between any two requests to a host, robots.txt itself included, lies at least its Crawl-delay."""
    clock = ManualClock()
    plays: dict[str, Play] = {"/robots.txt": answer("User-agent: *\nCrawl-delay: 7"), "/page": PAGE}

    async def script(fetcher: Fetcher, server: HostileServer) -> None:
        for _ in range(3):
            assert (await fetcher.fetch(server.url("/page"))).kind is Kind.OK
        assert sum(clock.slept_s) == pytest.approx(21)

    with_fetcher(plays, script, clock=clock, max_wait_s=10.0)


def test_a_crawl_delay_beyond_the_longest_wait_is_waited_for() -> None:
    """A host that asks for 200 s between requests, which the settings allow, is visited slowly, not never."""
    clock = ManualClock()
    plays: dict[str, Play] = {"/robots.txt": answer("User-agent: *\nCrawl-delay: 200"), "/page": PAGE}

    async def script(fetcher: Fetcher, server: HostileServer) -> None:
        for _ in range(3):
            assert (await fetcher.fetch(server.url("/page"))).kind is Kind.OK
        assert sum(clock.slept_s) == pytest.approx(600)

    with_fetcher(plays, script, clock=clock, max_wait_s=120.0)


def test_a_crawl_delay_that_is_taken_back_no_longer_holds() -> None:
    """The newest robots.txt counts: without a Crawl-delay in it, the configured delay is all that is waited for."""
    clock = ManualClock()
    texts = (answer("User-agent: *\nCrawl-delay: 50"), answer("User-agent: *\nDisallow:"))
    plays: dict[str, Play] = {"/robots.txt": in_turn(*texts), "/page": PAGE}

    async def script(fetcher: Fetcher, server: HostileServer) -> None:
        url = server.url("/page")
        assert (await fetcher.fetch(url)).kind is Kind.OK
        assert fetcher.gate.delay_s("127.0.0.1") == 50.0
        await clock.sleep(2 * 86_400.0)
        assert (await fetcher.fetch(url)).kind is Kind.OK
        assert fetcher.gate.delay_s("127.0.0.1") == 0.0

    with_fetcher(plays, script, clock=clock)


def test_manners_are_kept_before_the_next_request() -> None:
    """What robots.txt asks for is with the store before the page is asked for: a crash in between forgets nothing."""
    clock = ManualClock()
    plays: dict[str, Play] = {"/robots.txt": answer("User-agent: *\nCrawl-delay: 20"), "/page": PAGE}
    kept: list[tuple[list[float], list[str], list[str]]] = []

    async def script(fetcher: Fetcher, server: HostileServer) -> None:
        def keep() -> None:
            delays = [state.delay_s for state in fetcher.gate.export_changed()]
            kept.append((delays, [record.state for record in fetcher.robots.export_changed()], server.paths()))

        fetcher.keep_manners = keep
        assert (await fetcher.fetch(server.url("/page"))).kind is Kind.OK

    with_fetcher(plays, script, clock=clock)
    assert kept == [([20.0], ["rules"], [])]


def test_a_sitemap_speaks_for_its_own_site_alone() -> None:
    """Pages of other sites that a sitemap names are left out, unless the user's own scope admits them."""
    entries = [FeedEntry(f"http://{host}/x") for host in ("a.example", "bank.example", "intranet.example")]
    assert [e.url for e in of_site(entries, "http://a.example/sitemap.xml", Scope())] == ["http://a.example/x"]
    bank = Scope(hosts=("bank.example",))
    assert [e.url for e in of_site(entries, "http://a.example/sitemap.xml", bank)] == ["http://bank.example/x"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["noindex, nofollow"], Directives(noindex=True, nofollow=True)),
        (["none"], Directives(noindex=True, nofollow=True)),
        (["otherbot: noindex, nofollow"], Directives()),
        (["recrawl: nofollow", "otherbot: noindex"], Directives(nofollow=True)),
        (["RECRAWL: NoArchive"], Directives(noarchive=True)),
        (["unavailable_after: 25 Jun 2010 15:00:00 PST, nofollow"], Directives(nofollow=True)),
        (["max-snippet:-1", "all"], Directives()),
        (["\x00\xff:::,,"], Directives()),
    ],
)
def test_case_53_x_robots_tag_is_read_for_us(values: list[str], expected: Directives) -> None:
    """X-Robots-Tag for everyone and for us by name is obeyed, that for others is not ours."""
    assert from_header(values, "recrawl") == expected


def test_case_53_nofollow_links_are_seen_but_not_followed() -> None:
    """Links that the page or their author marks nofollow are known, yet not to be followed."""
    body = b'<a href="/a">a</a><a rel="external NoFollow" href="/b">b</a><a rel="ugc" href="/c">c</a>'
    page = see_page(body, "http://a.example/", [("content-type", "text/html")])
    assert [link.url[-1] for link in page.links] == ["a", "b", "c"]
    assert [link.url[-1] for link in page.links_to_follow] == ["a"]
    for name in (b"robots", b"ReCrawl"):
        closed = see_page(b'<meta name="' + name + b'" content="NoFollow">' + body, "http://a.example/")
        assert closed.links_to_follow == ()
    tagged = see_page(body, "http://a.example/", [("content-type", "text/html"), ("x-robots-tag", "nofollow")])
    assert tagged.links_to_follow == ()
    assert see_page(b'<meta name="otherbot" content="nofollow">' + body, "http://a.example/").links_to_follow


def test_case_54_noarchive_keeps_features_but_no_body() -> None:
    """A page that asks not to be archived is still seen, but its body may not be kept."""
    page = see_page(b'<meta name="robots" content="noarchive"><p>words', "http://a.example/")
    assert not page.may_keep_body
    assert page.digest
    assert see_page(b"<p>words", "http://a.example/").may_keep_body
