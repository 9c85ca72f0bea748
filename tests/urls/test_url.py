"""URLs: one normal form, reached in one step, that names the same place."""

from __future__ import annotations

import can_ada
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InputError
from recrawl.urls.scope import Scope
from recrawl.urls.traps import DiscoveryBudget, template_of, trap_of, without_session
from recrawl.urls.url import MAX_URL_CHARS, Base, host_of, normalise, parse, registrable_domain, shown, split, why_not

HOSTS = st.sampled_from(
    ["example.org", "EXAMPLE.org.", "user@a.example", "bücher.example", "[::1]", "127.1", "a.b.co.uk"]
)
PARTS = st.text(alphabet="aZ0-._~/%2e%5ZéЖ?&=#+ \\;:@'\"<>|^`{}[]\t", max_size=40)
URLS = st.builds(
    lambda scheme, host, port, rest: f"{scheme}://{host}{port}/{rest}",
    st.sampled_from(["http", "https", "HTTP"]),
    HOSTS,
    st.sampled_from(["", ":80", ":443", ":8080"]),
    PARTS,
)


@given(URLS)
def test_normalising_twice_is_normalising_once(text: str) -> None:
    """The normal form of a normal form is itself, whatever escapes, dots and odd characters it was made from."""
    once = normalise(text)
    if once is not None:
        assert normalise(once) == once


@given(st.text(max_size=200))
def test_normalising_never_raises(text: str) -> None:
    """Any text at all is either a URL in normal form or None, and then there is a reason."""
    for candidate in (text, "http://" + text, "http://a.example/" + text):
        once = normalise(candidate)
        assert (once is None) == bool(why_not(candidate))
        if once is not None:
            assert once.isascii()
            assert len(once) <= MAX_URL_CHARS
            assert "#" not in once
            assert normalise(once) == once
        assert shown(candidate).replace("…", "").isascii()


@given(URLS)
def test_the_parts_make_up_the_whole(text: str) -> None:
    """Splitting a normal form by its slashes finds the same parts as the parser that made it."""
    url = parse(text)
    if url is None:
        return
    parsed = can_ada.parse(url.href)
    assert (f"{url.scheme}:", url.host, url.path) == (parsed.protocol, parsed.hostname, parsed.pathname)
    assert url.query == parsed.search.removeprefix("?")
    assert url.port == int(parsed.port or {"http": 80, "https": 443}[url.scheme])
    assert host_of(url.href) == url.host
    assert url.href == f"{url.origin}{url.path}{'?' if url.query else ''}{url.query}"
    assert url.href == split(url.href).href


@given(URLS)
def test_derived_urls_are_in_normal_form(text: str) -> None:
    """Leaving out a session id gives a normal form, and templates and traps can be told of any page."""
    href = normalise(text)
    if href is not None:
        assert normalise(without_session(href)) == without_session(href)
        assert template_of(href)
        trap_of(href, year=2026)


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("other.html", "http://a.example/x/other.html"),
        ("/root?q=1#part", "http://a.example/root?q=1"),
        ("//b.example/y", "http://b.example/y"),
        ("../../../up", "http://a.example/up"),
        ("?page=2", "http://a.example/x/y?page=2"),
        ("", "http://a.example/x/y"),
        ("https://c.example", "https://c.example/"),
        ("mailto:x@y.example", None),
        ("javascript:void(0)", None),
        ("http://", None),
    ],
)
def test_references_are_resolved_as_browsers_do(reference: str, expected: str | None) -> None:
    """A link on a page leads where a browser would go."""
    assert normalise(reference, Base("http://a.example/x/y")) == expected


def test_query_question_marks_are_kept() -> None:
    """Only an empty query is left out: a question mark at the end of a query belongs to it."""
    assert normalise("http://a.example/?") == "http://a.example/"
    assert normalise("http://a.example/?q=why?") == "http://a.example/?q=why?"
    assert normalise("http://a.example/??") == "http://a.example/??"


def test_registrable_domains() -> None:
    """The registrable domain is what somebody registered; hosts without one stand for themselves."""
    found = {
        host: registrable_domain(host)
        for host in ("a.b.example.com", "x.co.uk", "you.github.io", "localhost", "10.0.0.1")
    }
    assert found == {
        "a.b.example.com": "example.com",
        "x.co.uk": "x.co.uk",
        "you.github.io": "you.github.io",
        "localhost": "localhost",
        "10.0.0.1": "10.0.0.1",
    }


def test_scope_admits_by_host_prefix_and_pattern() -> None:
    """A page is in scope if any rule admits it and no exclusion refuses it."""
    scope = Scope(hosts=("a.example", "*.b.example"), prefixes=("http://c.example/docs",), excludes=("*/private/*",))
    inside = ["http://a.example/", "http://b.example/", "http://x.b.example/y", "http://c.example/docs/1"]
    outside = ["http://x.a.example/", "http://evilb.example/", "http://c.example/", "http://a.example/private/1"]
    assert all(scope(href) for href in inside)
    assert not any(scope(href) for href in outside)
    assert Scope()("http://anything.example/")
    assert Scope(patterns=("*/news/*",))("http://d.example/news/1")
    with pytest.raises(InputError, match="beginning of a URL"):
        Scope(prefixes=("docs/",))


@pytest.mark.parametrize(
    ("given", "normal"),
    [
        ("http://a.example/p?utm_source=x&utm_medium=y", "http://a.example/p"),
        ("http://a.example/p?id=1&fbclid=abc&page=2", "http://a.example/p?id=1&page=2"),
        ("http://a.example/p?GCLID=1", "http://a.example/p"),
        ("http://a.example/p?%75tm_source=x", "http://a.example/p"),
        ("http://a.example/p?utmost=1&id=gclid", "http://a.example/p?utmost=1&id=gclid"),
        ("http://a.example/p?a=1&", "http://a.example/p?a=1&"),
    ],
)
def test_tracking_parameters_are_no_part_of_a_page(given: str, normal: str) -> None:
    """Parameters that say where a visitor came from leave the normal form; all others stay as they are."""
    assert normalise(given) == normal
    assert normalise(normal) == normal


def test_a_trap_of_words_is_bounded_by_visits() -> None:
    """A host whose every page links to endless new words has no more pages waiting than its room; visits make room."""
    budget = DiscoveryBudget(waiting_per_host=100)
    admitted = sum(budget.admit(f"http://trap.example/{'ab'[i % 2]}/w{chr(97 + i % 26) * (i + 1)}") for i in range(500))
    assert admitted == 100
    assert budget.refused["pages of the host that wait for a visit"] == 400
    assert budget.admit("http://honest.example/page")
    budget.note_first_visit("trap.example")
    assert budget.admit("http://trap.example/more")
    assert not budget.admit("http://trap.example/andmore")
