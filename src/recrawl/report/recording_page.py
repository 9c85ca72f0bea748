"""A summary as one self-contained page: no scripts, nothing loaded from anywhere."""

from __future__ import annotations

import re
from importlib.resources import files

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from recrawl.recording.summary import Summary, bins, percent
from recrawl.report.recording_picture import draw

FILES = ("summary.json", "overview.png", "overview.svg", "describe.html")


def summary_files(summary: Summary) -> dict[str, bytes]:
    """Return every file by name: the numbers, the picture and the page."""
    png, svg = draw(summary)
    return dict(zip(FILES, (summary.to_json().encode(), png, svg, page(summary, svg).encode()), strict=True))


def page(summary: Summary, svg: bytes) -> str:
    """Render the page."""
    source = (files("recrawl.report") / "recording_page.html.j2").read_text(encoding="utf-8")
    template = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return template.from_string(source).render(
        summary=summary,
        percent=percent,
        bins=bins,
        # matplotlib wrote this picture from numbers and our own words; names of kinds are escaped by it
        picture=Markup(re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index(b"<svg") :].decode(), flags=re.DOTALL)),
    )
