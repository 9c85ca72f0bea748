"""Hostile cases 55 to 66: content and traps. Each test is named by its number in the list of hostile inputs.

Cases 67 to 72 concern the crawler's own surfaces (file names, reports, exports, store, models, service) and are tested
where those are built.
"""

from __future__ import annotations

import ast
import gzip
import re
import time
from pathlib import Path

import pytest

from hostile.asking import with_fetcher
from hostile.hostile_server import HostileServer, Play, answer
from recrawl.fetch.fetcher import Fetcher
from recrawl.fetch.sitemaps import read_sitemap
from recrawl.see.decode import decode
from recrawl.see.feeds import MAX_ENTRIES, MAX_FEED_BYTES, read_feed
from recrawl.see.markup.links import MAX_LINKS
from recrawl.see.page import SeenPage, see_page
from recrawl.see.sniff import Media, sniff
from recrawl.urls.traps import DiscoveryBudget, template_of, trap_of, without_session

URL = "http://a.example/folder/page.html"
HTML = (("content-type", "text/html; charset=utf-8"),)
WORDS = "The quick brown fox jumps over the lazy dog while the crawler reads on and on. " * 8


def see(body: str | bytes, url: str = URL) -> SeenPage:
    """See a page of HTML."""
    return see_page(body.encode() if isinstance(body, str) else body, url, HTML)


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 200_000 + "deep" + "</div>" * 200_000,
        "<div><!--</div>-->" * 100_000 + "deep",
        "<div><table></div></table>" * 50_000 + "deep",
        "<ul><li>" * 100_000 + "deep",
        "".join(f"<p><b id={i}>" for i in range(50_000)) + "deep",
        "<div><font color=red>x</div>\n" * 20_000 + "deep",
        "<a href=x><div>\n" * 50_000 + "deep",
        "<p " + " ".join(f"a{i}" for i in range(100_000)) + ">deep",
        "<p>x" * 500_000,
        "<svg><style><div>" * 50_000 + "deep",
        "<title><script></title>" + "<div>" * 100_000 + "deep",
        "<table><tr><td>" * 50_000 + "deep",
        "<select>" + "<option>x" * 100_000,
        "<" * 500_000,
        "<!--" * 100_000,
        "<script><!--<script></script></div>--></script>" * 20_000 + "<p>deep",
        '<a href="' + "x" * 500_000,
    ],
    ids=lambda body: body[:24],
)
def test_case_55_malformed_and_deeply_nested_html_takes_bounded_time(body: str) -> None:
    """Markup made to exhaust a parser is read in bounded time: depth, tags and work are capped."""
    see("<p>warm up the compiled code")
    began = time.process_time()
    page = see(body)
    assert time.process_time() - began < 3.0
    assert page.media is Media.HTML


def test_case_55_text_and_links_beyond_the_depth_cap_are_kept() -> None:
    """The depth cap leaves out tags, not words: text and links below it are still seen."""
    page = see("<div>" * 5_000 + 'deep <a href="/in">inside</a> words' + "</div>" * 5_000 + "<p>after")
    assert page.capped
    assert "deep inside words" in page.text
    assert page.text.endswith("after")
    assert [link.url for link in page.links] == ["http://a.example/in"]


def test_case_56_charset_is_found_in_the_standards_order() -> None:
    """Byte-order mark before header, header before meta, meta before guessing."""
    text = "<meta charset=koi8-r><p>Grüße"
    assert decode(b"\xef\xbb\xbf" + text.encode(), "text/html; charset=latin1").found_by == "bom"
    assert decode(text.encode("latin-1"), "text/html; charset=ISO-8859-1") == (text, "cp1252", "header")
    assert decode("<meta charset=koi8-r><p>привет".encode("koi8-r")).text.endswith("привет")
    assert decode(b"<meta http-equiv=content-type content='text/html; charset=Shift_JIS'>").charset == "cp932"
    assert decode("<p>Grüße aus München".encode()).found_by == "utf-8"
    assert decode(b"<!-- <meta charset=koi8-r> -->plain").charset == "utf-8"
    assert decode("<p>x".encode("utf-16")).text == "<p>x"
    assert decode(b"<meta charset=utf-16><p>x").charset == "utf-8"
    assert decode(b"<p>x", "text/html; charset=no-such-thing").charset == "utf-8"


@pytest.mark.parametrize(
    "body",
    [
        b"\xff\xfe\x00\xd8",
        b"a\xed\xa0\x80b",
        b"<p>&#xD800;&#0;&#x110000;\0\0",
        b"\x80\x81\xff" * 100,
        b"\xef\xbb\xbf\xff",
    ],
)
def test_case_56_broken_text_is_replaced_never_raised(body: bytes) -> None:
    """Lone surrogates, NULs and broken sequences become replacement characters; all text can be encoded again."""
    page = see_page(b"<p>" + body if not body.startswith(b"\xff\xfe") else body, URL, HTML)
    for said in (page.text, page.main_text):
        assert said.encode().decode() == said  # no lone surrogate
        assert "\0" not in said


@pytest.mark.parametrize(
    ("body", "declared", "media"),
    [
        (b"%PDF-1.7 ...", "text/html", Media.BINARY),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "text/html", Media.BINARY),
        (b"PK\x03\x04\x14\x00", "text/plain", Media.BINARY),
        (bytes(range(256)) * 8, "text/html", Media.BINARY),
        (b"<!DOCTYPE html><title>x</title>", "application/octet-stream", Media.HTML),
        (b"  <html><body>", "", Media.HTML),
        (b"<html><body>", "image/png", Media.HTML),
        (b"<html><body>", "text/plain", Media.TEXT),
        (b"just words", "image/jpeg", Media.TEXT),
        (b"<?xml version='1.0'?><rss/>", "text/plain", Media.XML),
        (b'{"a": 1}', "application/json", Media.TEXT),
        (b"", "text/html", Media.EMPTY),
        (b" \n ", "text/html", Media.EMPTY),
        ("<p>wide".encode("utf-16"), "text/html", Media.HTML),
    ],
)
def test_case_57_content_type_lies_are_seen_through(body: bytes, declared: str, media: Media) -> None:
    """What the bytes are decides; binary content is never parsed as text."""
    assert sniff(body, declared).media is media
    page = see_page(body, URL, [("content-type", declared)])
    assert page.media is media
    if media is Media.BINARY:
        assert (page.text, page.links) == ("", ())


def test_case_58_calendars_facets_and_sessions_share_a_template_budget() -> None:
    """Pages that differ only in dates, numbers, ids or query values share one budget."""
    calendar = [f"http://a.example/calendar/{2000 + i // 12}/{i % 12 + 1}?view=day&tz={i}" for i in range(600)]
    assert len({template_of(url) for url in calendar}) == 1
    facets = [f"http://a.example/shop?color={c}&size={s}&page={p}" for c in "rgb" for s in "sml" for p in range(30)]
    assert len({template_of(url) for url in facets}) == 1
    budget = DiscoveryBudget(per_template=100)
    assert sum(budget.admit(url) for url in calendar) == 100
    assert budget.refused["pages of the template"] == 500
    assert all(budget.admit(f"http://a.example/article/{name}") for name in ("one", "two", "three"))
    assert trap_of("http://a.example/calendar/2093/05", year=2026) is not None
    assert trap_of("http://a.example/calendar/2026/05", year=2026) is None


def test_case_58_session_ids_make_no_new_pages() -> None:
    """Links with a session id lead to the page without it."""
    for url in (
        "http://a.example/x;jsessionid=0A1B2C",
        "http://a.example/x?PHPSESSID=abc123",
        "http://a.example/(S(abcdefghij0123456789))/x",
        "http://a.example/x?sid=0123456789abcdef0123456789abcdef",
    ):
        assert without_session(url) == "http://a.example/x"
    assert without_session("http://a.example/x?sid=3&a=1") == "http://a.example/x?sid=3&a=1"
    body = "".join(f'<a href="/list?PHPSESSID={i:032x}&page=2">next</a>' for i in range(50))
    assert [link.url for link in see(body).links] == ["http://a.example/list?page=2"]


@pytest.mark.parametrize(
    ("path", "trapped"),
    [
        ("/a/a/", False),
        ("/a/a/a/", True),
        ("/a/b/a/b/", False),
        ("/a/b/a/b/a/b/", True),
        ("/x/" * 21, True),
        ("/1/2/3/4/5/6/7/8/9/10/", False),
        ("/a/x/a/y/a/z/a/", True),
        ("/2020/01/01/", False),
    ],
)
def test_case_59_repeating_segments_are_refused(path: str, trapped: bool) -> None:
    """A path whose segments repeat more than twice, or with more than twenty of them, is a trap."""
    assert (trap_of(f"http://a.example{path}") is not None) == trapped


def test_case_60_million_link_page_is_capped() -> None:
    """Of a page with a million links the first few thousand are read, and the page is marked."""
    page = see("".join(f"<a href=/{i}>" for i in range(500_000)))
    assert len(page.links) == MAX_LINKS
    assert page.capped


def test_case_61_link_farms_share_their_domains_budget() -> None:
    """Hosts made up by wildcard DNS share the budget of the domain that somebody registered."""
    budget = DiscoveryBudget(per_domain=500, hosts_per_domain=50)
    admitted = sum(budget.admit(f"http://h{i}.farm.co.uk/p{j}") for i in range(100) for j in range(20))
    assert admitted == 500
    assert budget.admit("http://other.co.uk/")
    many = DiscoveryBudget(hosts_per_domain=50)
    assert sum(many.admit(f"http://h{i}.farm.example/") for i in range(100)) == 50


@pytest.mark.parametrize(
    ("body", "soft"),
    [
        ("<title>404 Not Found</title><h1>Oops</h1>", True),
        ("<title>My site</title><h1>Page not found</h1><p>Try the search.", True),
        ("<title>Seite nicht gefunden - Firma</title><p>Leider.", True),
        ("<title>Example</title><h1>The page you requested does not exist</h1>", True),
        (f"<title>How to design a 404 page</title><h1>How to design a 404 page</h1><p>{WORDS * 5}", False),
        ("<title>Error handling in Rust</title><h1>Error handling</h1><p>Some words", False),
        ("<title>Lost and found office</title><h1>Lost and found</h1>", False),
        ("<title>Route 66</title><h1>Highway 404 traffic</h1>" + WORDS * 5, False),
    ],
)
def test_case_62_soft_404_is_recognised(body: str, soft: bool) -> None:
    """A short page with status 200 whose title or heading says "not found" is an error page."""
    assert see(body).soft_error == soft


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<p>Generated at 2026-05-01 10:00:00 UTC</p>", "<p>Generated at 2026-05-02 11:22:33 UTC</p>"),
        ('<input type=hidden name=csrf value="a1b2c3">', '<input type=hidden name=csrf value="d4e5f6">'),
        ('<div class="ad-slot">Buy shoes now</div>', '<div class="ad-slot">Fly to Rome for 9 euros</div>'),
        ("<p>1,234 views</p>", "<p>1,301 views</p>"),
        ("<p>Posted 3 minutes ago by Ann</p>", "<p>Posted 5 hours ago by Ann</p>"),
        ("<p>session id: 9f8e7d6c5b4a39281706</p>", "<p>session id: 0011223344556677ffee</p>"),
        ("<p>Page rendered in 0.123 seconds</p>", "<p>Page rendered in 0.456 seconds</p>"),
        ("<script>var t=1</script>", "<script>var t=2</script>"),
        ("<!-- build 1 -->", "<!-- build 2 -->"),
        ("<footer>© 2025 Firm</footer>", "<footer>© 2026 Firm</footer>"),
        ("<p>Friday, 1 May 2026</p>", "<p>Saturday, 2 May 2026</p>"),
        ("<p>17 users online</p>", "<p>23 users online</p>"),
        ("<p>token=0123456789abcdef01</p>", "<p>token=fedcba987654321001</p>"),
    ],
)
def test_case_63_rotating_boilerplate_is_no_change(before: str, after: str) -> None:
    """Clocks, counters, tokens and ads that differ between two visits do not make a page changed."""
    frame = "<title>t</title><main><article><h1>News</h1><p>{}</p>{}</article></main>"
    first, second = (see(frame.format(WORDS, part)) for part in (before, after))
    assert first.digest == second.digest
    changed = see(frame.format(WORDS + "And a new sentence.", after))
    assert changed.digest != first.digest


def test_case_64_canonical_and_hreflang_are_hints_only() -> None:
    """A canonical link, even in a loop, changes neither the page's identity nor leads anywhere by itself."""
    there = see('<link rel=canonical href="/b"><link rel=alternate hreflang=de href="/de">', "http://a.example/a")
    back = see('<link rel=canonical href="/a">', "http://a.example/b")
    assert (there.url, there.canonical) == ("http://a.example/a", "http://a.example/b")
    assert (back.url, back.canonical) == ("http://a.example/b", "http://a.example/a")
    assert there.links == ()
    assert see('<link rel=canonical href="javascript:x">').canonical is None


@pytest.mark.parametrize(
    ("body", "shell"),
    [
        ('<div id="root"></div><script src="/app.js"></script>', True),
        (
            "<noscript>You need to enable JavaScript to run this.</noscript><div id=x></div><script src=a></script>",
            True,
        ),
        ("<body><script>" + "x=1;" * 100 + "</script></body>", True),
        (f'<div id="root"><p>{WORDS}</div><script src="/app.js"></script>', False),
        ("<p>A short page without scripts", False),
        ("<p>A short page with some words in it<script>count()</script>", False),
    ],
)
def test_case_65_script_shells_are_marked(body: str, shell: bool) -> None:
    """A page that only scripts can fill is marked as needing rendering."""
    assert see(body).needs_rendering == shell


def _sitemap(urls: list[str]) -> bytes:
    return ("<urlset>" + "".join(f"<url><loc>{url}</loc></url>" for url in urls) + "</urlset>").encode()


def test_case_66_sitemap_bombs_are_capped() -> None:
    """Beyond 50,000 entries or 50 MB nothing is read, and what came before is kept."""
    feed = read_feed(_sitemap([f"http://a.example/{i}" for i in range(MAX_ENTRIES + 10)]), "http://a.example/s.xml")
    assert len(feed.entries) == MAX_ENTRIES
    assert feed.capped
    bomb = gzip.compress(_sitemap(["http://a.example/1"]) + b" " * (MAX_FEED_BYTES + 1), 1)
    feed = read_feed(bomb, "http://a.example/s.xml.gz")
    assert feed.capped
    assert [entry.url for entry in feed.entries] == ["http://a.example/1"]
    deep = b"<urlset>" + b"<a>" * 100_000
    assert read_feed(deep, "http://a.example/s.xml").error == "nested too deeply"


@pytest.mark.parametrize(
    "prolog",
    [
        '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>',
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x [<!ENTITY % a SYSTEM "http://127.0.0.1/"> %a;]>',
    ],
)
def test_case_66_entities_are_refused(prolog: str) -> None:
    """A sitemap that declares entities is not read: no expansion, no file, no request."""
    feed = read_feed(
        f"{prolog}<urlset><url><loc>http://a.example/&a;</loc></url></urlset>".encode(), "http://a.example/"
    )
    assert feed.entries == []
    assert feed.error == "declares entities"


def test_case_66_recursive_indexes_end_at_depth_two() -> None:
    """An index that names itself and other indexes is followed for two levels, each file once."""

    async def script(fetcher: Fetcher, server: HostileServer) -> None:
        index = "<sitemapindex>{}</sitemapindex>"
        names = "".join(f"<sitemap><loc>{server.url(path)}</loc></sitemap>" for path in ("/i", "/j", "/s"))
        plays["/i"] = answer(index.format(names), content_type="text/xml")
        plays["/j"] = answer(index.format(names + names), content_type="text/xml")
        plays["/s"] = answer(_sitemap([server.url("/1"), server.url("/2")]), content_type="text/xml")
        entries = await read_sitemap(fetcher, server.url("/i"))
        assert [entry.url[-2:] for entry in entries] == ["/1", "/2"]
        assert sorted(server.paths()) == ["/i", "/j", "/s"]

    plays: dict[str, Play] = {}
    with_fetcher(plays, script)


def test_every_case_that_applies_has_a_test() -> None:
    """Cases 1 to 66 each have a test that carries their number, but for HTTP/2, which the client does not speak."""
    names = set()
    for path in Path(__file__).parent.glob("test_hostile_*.py"):
        functions = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]
        names |= {found[1] for node in functions if (found := re.match(r"test_case_(\d\d)_", node.name))}
    assert {f"{case:02}" for case in range(1, 67)} - names == {"34"}
