"""Markdown of pages: the main content alone, by the library or without it."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.see import markdown
from recrawl.see.line_diff import compare_lines, unified
from recrawl.see.page import see_page

URL = "https://x.example/a/c"
MAIN = (
    "<h2>Head</h2><p>Some <b>words</b> with a <a href='../b?x=1&amp;y=2'>link</a>, and enough of them that this is the "
    "main content of the page, as anything with at least twenty-five words is.</p><ul><li>one</li><li>two</li></ul>"
    "<pre><code>def f():\n    return 1</code></pre><script>evil()</script>"
)
PAGE = f"<title>T</title><nav><a href=/>Home</a></nav><main>{MAIN}<nav>inner</nav></main><footer>Foot</footer>".encode()


@pytest.fixture(params=[True, False], ids=["library", "plain"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[bool]:
    markdown._converter.cache_clear()
    if not request.param:
        monkeypatch.setitem(__import__("sys").modules, "html_to_markdown", None)
    yield request.param
    markdown._converter.cache_clear()


def test_headings_lists_code_and_links_survive(library: bool) -> None:
    """The main content's headings, lists, code and links are Markdown; links are absolute, the rest is left out."""
    found = markdown.markdown_of(see_page(PAGE, URL), PAGE)
    for part in (
        "## Head",
        "**words**",
        "[link](https://x.example/b?x=1&y=2)",
        "- one\n- two",
        "def f():\n    return 1",
    ):
        assert part in found
    assert not any(word in found for word in ("Home", "inner", "Foot", "evil"))


def test_a_head_leaves_nothing_at_the_top(library: bool) -> None:
    """A small page without main content is converted whole: its title and meta elements are no part of the text."""
    body = b"<html><head><title>T</title><meta name=description content=d></head><body><h1>A</h1><p>x</p></body></html>"
    assert markdown.markdown_of(see_page(body, URL), body).split() == ["#", "A", "x"]


@pytest.mark.parametrize("piece", ["<div>", "<a href='", "<!--", "<script>", "<table><tr><td>", "<b>", "&#60;", "<"])
def test_hostile_markup_takes_no_time(library: bool, piece: str) -> None:
    """Whatever is repeated a hundred thousand times, converting it takes seconds at most."""
    body = PAGE + (piece * 100_000).encode()
    page = see_page(body, URL)
    began = time.process_time()
    markdown.markdown_of(page, body)
    assert time.process_time() - began < 10


def patch(old: list[str], lines: list[str]) -> list[str]:
    """Apply a unified diff."""
    out, at = list[str](), 0
    for line in lines:
        if line.startswith("@@"):
            start, _, count = line.split()[1][1:].partition(",")
            begin = int(start) - (count != "0")
            out += old[at:begin]
            at = begin
        elif line[0] == "+":
            out.append(line[1:])
        else:
            assert old[at] == line[1:]
            out += [line[1:]] if line[0] == " " else []
            at += 1
    return out + old[at:]


LINES = st.lists(st.sampled_from("abcdefgh"), max_size=40)


@given(LINES, LINES)
def test_a_diff_turns_one_text_into_the_other(old: list[str], new: list[str]) -> None:
    """Applied to the old lines, the diff gives the new ones."""
    assert patch(old, list(unified(old, new, compare_lines(old, new)))) == new


def test_a_diff_of_large_texts_is_quick() -> None:
    """Texts of many equal lines, which cost other methods time in proportion to their square or cube, take none."""
    old, new = ["a", "b"] * 50_000, ["b", "a", "a"] * 50_000
    began = time.process_time()
    compare_lines(old, new)
    assert time.process_time() - began < 5
