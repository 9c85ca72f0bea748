"""Pages of results: cards, tables and figures in one self-contained file, with the look of the comparison's report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from recrawl.report.comparison_page import inline


@dataclass(frozen=True)
class Table:
    """Rows of text; cells of `best` (row, column) are marked; `prose` has sentences, not numbers, in its cells."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    best: frozenset[tuple[int, int]] = frozenset()
    prose: bool = False


@dataclass(frozen=True)
class Picture:
    """A figure as SVG."""

    name: str
    svg: bytes
    caption: str

    @property
    def drawn(self) -> Markup:
        """The figure as part of a page."""
        return inline(self.svg.decode(), self.name)


@dataclass(frozen=True)
class Section:
    """A heading with tables, figures, text and code under it."""

    title: str
    text: str = ""
    tables: Sequence[Table] = ()
    pictures: Sequence[Picture] = ()
    code: str = ""


@dataclass(frozen=True)
class Page:
    """A whole report; a card is (label, number, a word about it)."""

    title: str
    intro: Sequence[str]
    sections: Sequence[Section]
    cards: Sequence[tuple[str, str, str]] = field(default_factory=tuple)
    command: str = ""

    def html(self) -> str:
        """Render the page."""
        folder = files("recrawl.report")
        source = (folder / "result_page.html.j2").read_text(encoding="utf-8")
        report = (folder / "comparison_page.html.j2").read_text(encoding="utf-8")
        style = re.search(r"<style>.*?</style>", report, flags=re.DOTALL)
        template = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
        return template.from_string(source).render(page=self, style=Markup(style.group() if style else ""))
