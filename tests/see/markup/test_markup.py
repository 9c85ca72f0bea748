"""Markup is read as a browser's parser reads it, in linear time. The reference is lexbor, by way of resiliparse."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from resiliparse.parse.html import HTMLTree

from recrawl.see.markup.html import parse_refresh, read_html
from recrawl.see.markup.references import attribute
from recrawl.see.markup.scan import META, scan
from recrawl.see.page_text import all_text, main_content
from recrawl.urls.url import Base, normalise

TOKENS = st.sampled_from(
    [
        "<div>",
        "</div>",
        "<p>",
        "</p>",
        "<b>",
        "</b>",
        "<a href=/x>",
        "</a>",
        "<span class='q'>",
        "</span>",
        "<ul>",
        "<li>",
        "</ul>",
        "<table>",
        "<tr>",
        "<td>",
        "</td>",
        "</table>",
        "<br>",
        "<img alt='>'>",
        "word ",
        "other ",
        "&amp; ",
        "< ",
        "<!-- no -->",
        "<!---->",
        "<!-->",
        "<!doctype html>",
        "<?pi?>",
        "</>",
        "<h1>",
        "</h2>",
        "é ",
        "<x-y>",
        "</x-y>",
        "1<2 ",
    ]
)
HOSTILE = st.sampled_from(
    [
        "<script>",
        "</script>",
        "<style>",
        "<title>",
        "</title>",
        "<svg>",
        "</svg>",
        "<textarea>",
        "<",
        ">",
        '"',
        "'",
        "<!--",
        "-->",
        "<a href='",
        "=",
        "/",
        "<plaintext>",
        "<![CDATA[",
        "]]>",
        "\x00",
        "<div",
        "</",
        "<svg/>",
        "<math><mi>",
        "<template>",
        "x",
    ]
)


PIECES = st.sampled_from(["href", "HREF", "rel", "=", " ", "'", '"', "/", "a", "&amp;", "&copy=1", "x", "\n", "é"])


def tree_of(html: str) -> Any:
    """The page as the reference parser sees it."""
    return HTMLTree.parse_from_bytes(html.encode(), "utf-8")


def links_of(html: str) -> list[tuple[str, str]]:
    """The target and relation of every link."""
    scanned = scan(html.encode())
    source = scanned.source
    return [(attribute(source[row[0] : row[1]]), attribute(source[row[2] : row[3]])) for row in scanned.anchors]


def letters(text: str) -> str:
    """Text without white space: where that goes is a matter of taste."""
    return "".join(text.split())


@given(st.lists(TOKENS, max_size=40))
def test_words_and_links_are_those_the_parser_finds(tokens: list[str]) -> None:
    """All text and all link targets are the parser's; text that it moves out of tables is in its own place."""
    html = "<body>" + "".join(tokens)
    tree = tree_of(html)
    found = letters(all_text(read_html(html, "http://a.example/").scanned.raw_text))
    expected = letters(tree.body.text)
    assert sorted(found) == sorted(expected)
    assert found == expected or "<t" in html
    assert {href for href, _ in links_of(html)} == {
        a.getattr("href") for a in tree.document.get_elements_by_tag_name("a")
    }


@given(st.lists(st.one_of(TOKENS, HOSTILE), max_size=60))
def test_titles_are_those_the_parser_finds(tokens: list[str]) -> None:
    """However broken the page, the title is the parser's, and reading ends with no exception."""
    html = "<head><title>a &lt;b&gt; < c</title>" + "".join(tokens)
    page = read_html(html, "http://a.example/")
    assert page.title.split() == (tree_of(html).title or "").split()
    assert all(link.url.startswith("http") for link in page.links)
    all_text(page.scanned.raw_text).encode()
    main_content(page.scanned)[0].encode()


@given(st.binary(max_size=300))
def test_any_bytes_can_be_read(body: bytes) -> None:
    """Reading never fails, and never finds more text than there is."""
    text = body.decode("utf-8", "replace").encode()
    assert len(scan(text).raw_text) <= len(text) + 1


@given(st.lists(PIECES, max_size=15))
def test_attributes_are_read_as_the_parser_reads_them(pieces: list[str]) -> None:
    """Targets and relations of links are those the parser finds, however the attributes are written."""
    html = f"<body><a {''.join(pieces)}>some words</a>"
    links = tree_of(html).document.get_elements_by_tag_name("a")
    assert links_of(html) == [(a.getattr("href"), a.getattr("rel") or "") for a in links if a.getattr("href")]


REFERENCES = st.sampled_from(["../", "a", "B-1", "_.", "/", ".", "..", "x.html", "?q=1", "&r=~2", "sid=1", ":"])


@given(st.lists(REFERENCES, max_size=8))
def test_links_lead_where_a_browser_goes(pieces: list[str]) -> None:
    """Every relative link, the plain ones included that are resolved by a short cut, leads where the parser says."""
    reference, url = "".join(pieces), "http://a.example/one/two/page?x"
    expected = normalise(reference, Base(url)) if reference else None
    links = read_html(f'<a href="{reference}">x</a>', url).links
    assert [link.url for link in links] == ([expected] if expected else [])


def test_plain_text_has_one_line_a_block() -> None:
    """The plain text collapses white space, breaks lines at blocks only, and leaves out raw text."""
    html = (
        "<title>no</title><h1>One  <b>t</b>wo</h1><p>three\n four<br>five<script>six</script> <i>&eacute;</i> 1<2 < 3"
    )
    page = read_html(html, "http://a.example/")
    assert all_text(page.scanned.raw_text) == "One two\nthree four\nfive é 1<2 < 3"
    assert page.scanned.words == 9
    assert (page.scanned.scripts, page.scanned.script_bytes) == (1, 3)


WORDS = "words of the article that are what this page is about and that take some room " * 3


@pytest.mark.parametrize(
    "boilerplate",
    [
        "<nav>{}</nav>",
        "<header>{}</header>",
        "<footer>{}</footer>",
        "<aside><div>{}</div></aside>",
        '<div class="site-nav">{}</div>',
        "<div id=mainMenu><ul><li>{}</ul></div>",
        '<div role="navigation">{}</div>',
        '<section class="x cookie_consent">{}</section>',
        "<div hidden>{}</div>",
        '<div aria-hidden="true">{}</div>',
        '<ins class="adsbygoogle">{}</ins>',
        "<select><option>{}</select>",
        "<noscript>{}</noscript>",
        "<script>{}</script>",
    ],
)
def test_boilerplate_is_not_main_content(boilerplate: str) -> None:
    """Navigation, headers, footers, asides, ads and what is hidden are left out, wherever they are."""
    other = boilerplate.format("Something <b>else</b>")
    page = read_html(f"{other}<div><p>{WORDS}</p>{other}<p>And more.</p></div>{other}", "http://a.example/")
    assert main_content(page.scanned)[0].split() == [*WORDS.split(), "And", "more."]


def test_main_is_the_main_content() -> None:
    """Where there is a <main>, what is outside it is not; headers inside an article are content."""
    html = f"<p>Before</p><main class=menu><article><header><h1>Title</h1></header>{WORDS}</article></main><p>After</p>"
    assert main_content(read_html(html, "http://a.example/").scanned)[0].split() == ["Title", *WORDS.split()]


def test_pages_without_main_content_are_all_content() -> None:
    """A page that is all navigation, or whose navigation is never closed, is taken as a whole."""
    html = f"<nav>{WORDS}<p>More"
    page = read_html(html, "http://a.example/")
    assert main_content(page.scanned)[0] == all_text(page.scanned.raw_text)


def test_deep_pages_are_read_to_the_end() -> None:
    """Elements beyond the depth that is followed are read like the others, and the page is marked."""
    page = read_html("<div>" * 2_000 + "deep" + "</div>" * 2_000 + "after", "http://a.example/")
    assert page.scanned.capped
    assert all_text(page.scanned.raw_text) == "deep\nafter"
    assert not read_html("<div>" * 500 + "</div>" * 500, "http://a.example/").scanned.capped


def test_head_tags_are_read_wherever_they_are() -> None:
    """Attributes of meta, link and base tags are found in any order, quoting and case."""
    html = "<META CONTENT='a &amp; b' Name=description><link href=x rel=stylesheet><base target=_top href=/y/>"
    assert scan(html.encode()).head_tags() == [
        (META, "description", "", "a & b"),
        (1, "stylesheet", "", "x"),
        (2, "", "", "/y/"),
    ]


def test_a_page_is_read_into_its_parts() -> None:
    """Title, heading, base, links with anchors, canonical address, feeds and directives are all found."""
    html = """<!doctype html><html><head><title> A &lt;good&gt;  title </title><base href="/b/">
    <link rel="canonical" href="c"><link rel=alternate type="application/rss+xml" href="/feed">
    <meta name=robots content="noindex"><meta http-equiv=refresh content="30; url=later"></head>
    <body><h1>Head <em>line</em></h1><a href="one">First <b>one</b></a><a href="#top">no</a><a href="mailto:x@y">no</a>
    <a href="http://other.example/two" rel="nofollow">Second</a><a href="one">again</a><svg><a href="/no"></a></svg>"""
    page = read_html(html, "http://a.example/x")
    assert (page.title, page.heading) == ("A <good> title", "Head line")
    assert page.base == "http://a.example/b/"
    assert [(link.url, link.host, link.anchor, link.nofollow) for link in page.links] == [
        ("http://a.example/b/one", "a.example", "First one", False),
        ("http://other.example/two", "other.example", "Second", True),
    ]
    assert page.canonical == "http://a.example/b/c"
    assert page.feeds == ("http://a.example/feed",)
    assert ("robots", "noindex") in page.metas
    assert page.refresh is not None
    assert page.refresh == ("http://a.example/b/later", 30.0)
    assert parse_refresh("soon", page.base, page.base) is None
