"""Pruned markup: the same words and links as the page, safe to parse."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from resiliparse.parse.html import HTMLTree, NodeType  # type: ignore[import-untyped]

from recrawl.see.html import parse_refresh, read_html
from recrawl.see.markup import MAX_ATTRIBUTES, MAX_DEPTH, Pruned, attribute, prune

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


def words_of(html: str | bytes) -> list[str]:
    """The words of a page as the parser sees them, formatting tags being no word boundary."""
    tree: Any = HTMLTree.parse_from_bytes(html if isinstance(html, bytes) else html.encode(), "utf-8")
    return str(tree.document.text).split()


@given(st.lists(TOKENS, max_size=40))
def test_pruning_keeps_the_words_and_links(tokens: list[str]) -> None:
    """Without raw text, the pruned page has the same words and the same link targets as the page."""
    html = "<body>" + "".join(tokens)
    pruned = prune(html.encode())
    assert words_of(pruned.html) == words_of(html)
    links = _tree(html.encode()).document.get_elements_by_tag_name("a")
    assert {href for href, _ in anchors_of(pruned)} == {link.getattr("href") for link in links}
    assert not pruned.capped


def anchors_of(pruned: Pruned) -> list[tuple[str, str]]:
    """The target and relation of every link."""
    source = pruned.source
    return [(attribute(source[row[0] : row[1]]), attribute(source[row[2] : row[3]])) for row in pruned.anchors]


def _tree(html: bytes) -> Any:
    return HTMLTree.parse_from_bytes(html, "utf-8")


@given(st.lists(st.one_of(TOKENS, HOSTILE), max_size=60))
def test_no_raw_text_or_comment_survives(tokens: list[str]) -> None:
    """Whatever the page, what is left for the parser has no script, style, comment or drawing in it."""
    pruned = prune("".join(tokens).encode())
    tree = _tree(pruned.html)
    for name in ("script", "style", "svg", "math", "textarea", "template", "plaintext", "b"):
        assert len(tree.document.get_elements_by_tag_name(name)) == 0
    assert all(node.type is not NodeType.COMMENT for node in tree.document)
    again = prune(pruned.html)
    assert words_of(again.html) == words_of(pruned.html)


@given(st.binary(max_size=300))
def test_any_bytes_can_be_pruned(body: bytes) -> None:
    """Pruning never fails, and never grows a page by more than a fixed amount."""
    text = body.decode("utf-8", "replace").encode()
    pruned = prune(text)
    assert len(pruned.html) <= len(text) + 32
    pruned.text.encode()


def test_plain_text_has_one_line_a_block() -> None:
    """The plain text collapses white space, breaks lines at blocks only, and leaves out raw text."""
    html = "<title>no</title><h1>One  <b>t</b>wo</h1><p>three\n four<br>five<script>six</script> <i>&eacute;</i>"
    pruned = prune(html.encode())
    assert pruned.text == "One two\nthree four\nfive é"
    assert pruned.words == 6
    assert (pruned.scripts, pruned.script_bytes) == (1, 3)


@given(st.lists(PIECES, max_size=15))
def test_attributes_are_read_as_the_parser_reads_them(pieces: list[str]) -> None:
    """Targets and relations of links are those the parser finds, however the attributes are written."""
    html = f"<body><a {''.join(pieces)}>some words</a>"
    links = _tree(html.encode()).document.get_elements_by_tag_name("a")
    expected = [(a.getattr("href"), a.getattr("rel") or "") for a in links if a.getattr("href")]
    assert anchors_of(prune(html.encode())) == expected


def test_caps() -> None:
    """Depth and attributes are capped and the page is marked; within the caps nothing is."""
    deep = prune(b"<div>" * (MAX_DEPTH + 5) + b"x")
    assert deep.html.count(b"<div>") == MAX_DEPTH
    assert deep.capped
    wide = prune(b"<p " + b" ".join(b"a%d" % i for i in range(MAX_ATTRIBUTES + 1)) + b">words")
    assert wide.capped
    assert wide.text == "words"
    assert not prune(b"<div>" * MAX_DEPTH + b"</div>" * MAX_DEPTH + b"<div>").capped


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
