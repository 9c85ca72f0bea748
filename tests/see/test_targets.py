"""Where links lead: the short way of plain targets ends where the parser's way ends."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recrawl.hashing import FNV_START
from recrawl.see.hashed_bytes import hash_of
from recrawl.see.markup.html import read_html
from recrawl.see.markup.references import attribute
from recrawl.urls.traps import without_session
from recrawl.urls.url import Base, host_of, normalise

PLAIN = "../|./|..|.|/|//|a|b.html|x-y_z~1|#part|#|?q=1"
ODD = "&lt|&amp;|%2e|:|é| |;jsessionid=A1|?utm_source=x|http://b.example/|C:|\\|@|&#35;|&#x2f;|mailto:|%zz|\t"
PIECES = st.sampled_from(PLAIN.split("|") + ODD.split("|"))
BASES = st.sampled_from(
    [
        "http://a.example/",
        "http://a.example/x",
        "https://a.example:8443/x/y/z.html?q=/a/b",
        "http://a.example/%20/b;c/d",
    ]
)


@settings(deadline=None, max_examples=400)
@given(st.lists(PIECES, min_size=1, max_size=6).map("".join), BASES)
@example("../../../../b.html#c", "http://a.example/x/y")
@example("http://b.example/a//b", "http://a.example/")
@example("https://b.example/a/./b", "http://a.example/")
@example("http://a.example:80/x", "http://a.example/")
@example("b.html", "http://a.example/" + "y" * 2_070 + "/")
def test_plain_targets_are_joined_as_the_parser_joins_them(target: str, base: str) -> None:
    """A link leads where the parser says, whether it was looked at by the parser or joined to its folder."""
    found = read_html(f'<a href="{target}">x</a>', base).link_columns.urls
    expected = None if target.startswith(("#", "mailto:")) else normalise(attribute(target.encode()), Base(base))
    assert found == ([without_session(expected)] if expected else [])


def test_every_address_comes_once_with_its_first_anchor() -> None:
    """Links that differ in their fragments only are one link, and the first of them gives the anchor."""
    page = read_html(
        "<a href=b#1>one</a> <a href=b>two</a> <a href='./b#2'>three</a> <a href=#x>none</a>", "http://a.example/"
    )
    assert [(link.url, link.anchor) for link in page.links] == [("http://a.example/b", "one")]


def test_colliding_hashes_cost_little_and_change_nothing() -> None:
    """Thousands of distinct targets are all found, in the page's order."""
    html = "".join(f"<a href=p{i}.html#{i}>x</a><a href=p{i}.html>y</a>" for i in range(4_000))
    urls = read_html(html, "http://a.example/f/").link_columns.urls
    assert urls == [f"http://a.example/f/p{i}.html" for i in range(4_000)]


def test_targets_made_to_collide_come_once_each() -> None:
    """Thirty that share a slot of the table, each of them twice: once as it is, and once from the root."""

    def slot(name: str) -> int:
        return int(hash_of(np.frombuffer(name.encode(), dtype=np.uint8), 0, len(name), FNV_START)) >> 20 & 255

    names = [name for i in range(20_000) if slot(name := f"p{i}.html") == 5][:30]
    assert len(names) == 30
    for again in (names, [f"/f/{name}" for name in names]):
        html = "".join(f"<a href={name}>{name}</a>" for name in [*names, *again, *again])
        page = read_html(html, "http://a.example/f/").link_columns
        assert page.urls == [f"http://a.example/f/{name}" for name in names]
        assert page.anchors == names
        assert page.inside == [True] * 30


LABELS = st.text("ab1-xn", min_size=0, max_size=5) | st.sampled_from(
    ["xn--a", "0x1f", "a" * 63, "a" * 64, "A", "é", "_"]
)
HOSTS = st.lists(LABELS, min_size=1, max_size=4).map(".".join)


@settings(deadline=None, max_examples=400)
@given(
    st.sampled_from(["http", "https", "HTTP", "ftp", "httpx"]),
    HOSTS,
    st.sampled_from(["", "/", "/x.html", ":80/", "/.", "//"]),
)
@example("http", "a.1", "/")
@example("http", "127.1", "/")
@example("http", "b.xn--a-ecp.ru", "/")
@example("https", ".".join(["a" * 63] * 4), "/")
def test_whole_addresses_are_those_that_the_parser_gives(scheme: str, host: str, path: str) -> None:
    """A link with a host of its own leads where the parser says, and is inside only if that is the page's host."""
    target = f"{scheme}://{host}{path}"
    page = read_html(f'<a href="{target}">x</a><a href="http://a.b/y">y</a>', "https://a.b:8443/z").link_columns
    expected = normalise(target)
    assert page.urls == [*([without_session(expected)] if expected else []), "http://a.b/y"]
    assert page.inside == [host_of(url) == "a.b" for url in page.urls]


def test_links_of_a_base_elsewhere_are_not_inside() -> None:
    """What is inside is what has the page's own host, whatever base its links are resolved against."""
    html = (
        "<base href=http://b.example/f/><a href=x>x</a><a href=http://a.example/y>y</a><a href='//a.example/%zz'>z</a>"
    )
    page = read_html(html, "http://a.example/").link_columns
    assert dict(zip(page.urls, page.inside, strict=True)) == {
        "http://b.example/f/x": False,
        "http://a.example/y": True,
        "http://a.example/%25zz": True,
    }
