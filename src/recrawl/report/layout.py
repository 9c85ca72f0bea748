"""One layout for every report: cards, tables, figures and text in one self-contained page that loads nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup, escape

from recrawl.report.style import Drawing, inline
from recrawl.report.table import Table

__all__ = ["Card", "Page", "Picture", "Section", "Table"]
_BREAKS = re.compile(r"(?<=\w)(?=\()|(?<=[,=/])(?=\S)|(?<=\*\*)")


@dataclass(frozen=True)
class Picture:
    """A figure with its caption."""

    name: str
    drawing: Drawing
    caption: str = ""

    @property
    def wide(self) -> Markup:
        """The figure as part of a page."""
        return inline(self.drawing.svg, self.name)

    @property
    def narrow(self) -> Markup:
        """The figure as part of a page on a narrow screen."""
        return inline(self.drawing.narrow, f"{self.name}-narrow")


@dataclass(frozen=True)
class Section:
    """A heading with text, tables, figures, finished HTML and code under it."""

    title: str
    text: str = ""
    tables: Sequence[Table] = ()
    pictures: Sequence[Picture] = ()
    code: str = ""
    html: Markup | None = None


Card = tuple[str, str, str]  # label, number, a word about it


@dataclass(frozen=True)
class Page:
    """A whole report."""

    title: str
    intro: Sequence[str]
    sections: Sequence[Section]
    cards: Sequence[Card] = ()
    command: str = ""

    def html(self) -> str:
        """Render the page."""
        return _template().render(page=self)


@cache
def _template() -> Template:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"soft": soft, "cell": cell}
    return environment.from_string((files("recrawl.report") / "page.html.j2").read_text(encoding="utf-8"))


def soft(text: str) -> Markup:
    """Escape a name or formula, and let lines break at its brackets, commas and powers rather than within words."""
    return Markup("<wbr>").join(escape(part) for part in _BREAKS.split(str(text)))


def cell(text: str) -> Markup:
    """Escape a cell, with the half-width of an interval in small type."""
    mean, sign, half = str(text).partition("±")
    return soft(mean) + (Markup("<small>±{}</small>").format(half) if sign else Markup(""))
