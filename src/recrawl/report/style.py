"""One look for every figure: colours, sheets of panels, honest axes, and figures as files and as part of a page.

Figures are deterministic: no date, fixed salts for the ids. Text and grid have two fixed colours that a page replaces
by its own, so the same figure suits a light and a dark page. Every figure is drawn twice: with its panels side by side,
and for phones with one panel below the other.
"""

from __future__ import annotations

import io
import math
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

INK = "#1f2a36"
GRID = "#dfe4ea"
MUTED = "#8b97a3"
COLOURS = ("#2f7fc8", "#e0762f", "#2f9e6e", "#c94f62", "#8a68c0", "#1f97a8", "#ad8627")
WIDE_IN, NARROW_IN = 11.0, 4.0
DPI = 150
NARROW_TEXT = 46  # characters in a line of a narrow figure
_STYLE: Any = {
    "backend": "agg",
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GRID,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.parse_math": False,  # a policy's name is a name, even with a dollar in it
    "svg.fonttype": "none",
    "svg.hashsalt": "recrawl",
}


@dataclass
class Sheet:
    """What a figure is drawn on: wide, or narrow with all panels below each other."""

    narrow: bool = False
    _value_axes: list[tuple[Any, str]] = field(default_factory=list)

    def panels(
        self, count: int = 1, columns: int = 2, height: float = 3.4, width: float = WIDE_IN, **options: Any
    ) -> tuple[Figure, list[Any]]:
        """Return a figure and its axes; `height` is that of one row of panels, in inches."""
        columns = 1 if self.narrow else min(count, columns)
        rows = math.ceil(count / columns)
        layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08, wspace=0.02, hspace=0.04)
        size = (NARROW_IN if self.narrow else width, max(rows * height, 2.2))
        figure = Figure(figsize=size, layout=layout, dpi=DPI)
        axes = figure.subplots(rows, columns, squeeze=False, **options).flatten().tolist()
        for axis in axes[count:]:
            axis.set_visible(False)
        return figure, axes[:count]

    def values(self, axis: Any, which: str = "y") -> None:
        """Draw a grid for the axis that shows values, which begins at 0 or is marked as cut."""
        axis.grid(axis=which)
        self._value_axes.append((axis, which))

    def legend(self, figure: Figure, axis: Any, columns: int = 8) -> None:
        """Put one legend for all panels below them."""
        handles, labels = axis.get_legend_handles_labels()
        columns = min(len(labels), 2 if self.narrow else columns)
        figure.legend(handles, labels, loc="outside lower center", ncols=max(columns, 1))

    def finish(self, figure: Figure) -> None:
        """Settle the value axes and break long lines of text on a narrow sheet."""
        for axis, which in self._value_axes:
            settle(axis, which)
        for text in figure.findobj(Text) if self.narrow else ():
            if isinstance(text, Text) and len(text.get_text()) > NARROW_TEXT:
                text.set_text(textwrap.fill(text.get_text(), NARROW_TEXT))


class Drawing(NamedTuple):
    """A figure in three forms: PNG, SVG, and an SVG for narrow screens."""

    png: bytes
    svg: bytes
    narrow: bytes

    def files(self, name: str) -> dict[str, bytes]:
        """The files to save."""
        return {f"{name}.png": self.png, f"{name}.svg": self.svg}


class Plot(NamedTuple):
    """How to draw a figure of some results, and what stands below it."""

    draw: Callable[[Sheet, Any], Figure]
    caption: str


def picture(draw: Callable[..., Figure], *results: Any) -> Drawing:
    """Draw a figure in the style of all figures, whatever the user's own settings are."""
    with mpl.rc_context({**mpl.rcParamsDefault, **_STYLE}):
        wide, narrow = (_drawn(Sheet(narrow=narrow), draw, results) for narrow in (False, True))
        return Drawing(_bytes(wide, "png"), _bytes(wide, "svg"), _bytes(narrow, "svg"))


def _drawn(sheet: Sheet, draw: Callable[..., Figure], results: tuple[Any, ...]) -> Figure:
    """Make a figure and place its panels and legends, once: matplotlib would do so twice for each file."""
    figure = draw(sheet, *results)
    sheet.finish(figure)
    layout = figure.get_layout_engine()
    if layout is not None:
        layout.execute(figure)
        figure.set_layout_engine(None)
    return figure


def _bytes(figure: Figure, kind: str) -> bytes:
    out = io.BytesIO()
    metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": None}
    figure.savefig(out, format=kind, dpi=DPI, metadata=metadata)
    return out.getvalue()


def settle(axis: Any, which: str = "y") -> None:
    """Let a linear axis begin at 0, or label where it begins if all values lie far from 0."""
    if getattr(axis, f"get_{which}scale")() != "linear":
        return
    low, high = getattr(axis, f"get_{which}lim")()
    least = axis.dataLim.y0 if which == "y" else axis.dataLim.x0
    if low < 0 <= least or 0 < low < 0.5 * high:
        getattr(axis, f"set_{which}lim")(0.0, high)
    elif low > 0 and which == "x":
        axis.set_xlabel(f"{axis.get_xlabel()} (from {low:.3g})")
    elif low > 0:
        axis.annotate(
            f"axis begins at {low:.3g}", (0, 0), xycoords="axes fraction", xytext=(3, 2), textcoords="offset points",
            fontsize=6.5, color=MUTED, style="italic",
        )  # fmt: skip


def log_scale(axis: Any, which: str) -> None:
    """Make axes logarithmic (`x`, `y` or `xy`), with plain numbers at the ticks."""
    for name in which:
        getattr(axis, f"set_{name}scale")("log")
        low, high = getattr(axis, f"get_{name}lim")()
        if low > 0 and high < 50 * low:  # powers of ten alone would leave one tick or none
            getattr(axis, f"{name}axis").set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        getattr(axis, f"{name}axis").set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        getattr(axis, f"{name}axis").set_minor_formatter(NullFormatter())


def grouped(axis: Any, groups: list[str], bars: dict[str, list[float]], colours: Any, **options: Any) -> list[Any]:
    """Draw groups of bars side by side; `bars` has a name and one height per group."""
    width = 0.84 / len(bars)
    drawn = []
    for i, ((name, heights), colour) in enumerate(zip(bars.items(), colours, strict=False)):
        x = [group + (i + 0.5) * width - 0.42 for group in range(len(groups))]
        more = {key: value[name] for key, value in options.items()}
        drawn.append(axis.bar(x, heights, width * 0.94, color=colour, label=name, **more))
    axis.set_xticks(range(len(groups)), groups)
    axis.tick_params(length=0)
    return drawn


def inline(svg: bytes, name: str) -> Markup:
    """Make an SVG part of a page: its ids its own, its ink and grid those of the page."""
    text = svg.decode()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", text)
    width = re.search(r'<svg[^>]*? width="([\d.]+)pt"', text)
    most = f"max-width: {1.4 * float(width[1]):.0f}px" if width else ""  # letters of one size in all figures
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    text = re.sub(r"fill: #ffffff(?=[;\"])", "fill: none", text)
    text = text.replace(INK, "currentColor").replace(GRID, "var(--grid)")
    return Markup(text.replace("<svg", f'<svg role="img" aria-label="{name}" style="{most}"', 1))
