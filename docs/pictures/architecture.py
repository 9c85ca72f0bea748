"""Draw docs/pictures/architecture.svg: the data flow of a cycle. Run: python docs/pictures/architecture.py."""

from __future__ import annotations

import sys
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

INK, WORLD, LOOP, USE = "#263238", "#e0f2f1", "#fff8e1", "#e8eaf6"
STYLE = {"svg.hashsalt": "recrawl", "svg.fonttype": "none"}  # the same bytes each time, text as text
FOOT = "recrawl/__init__.py (the public names) and cli/ (the verbs) call these parts and hold no logic of their own."


def box(axes: Axes, corner: tuple[float, float], size: tuple[float, float], title: str, text: str, fill: str) -> None:
    """A part of the system: its name, where it lies, and what it does."""
    (x, y), (w, h) = corner, size
    dashed = "--" if fill == "none" else "-"
    shape = "round,pad=0,rounding_size=0.15"
    axes.add_patch(FancyBboxPatch(corner, w, h, boxstyle=shape, fc=fill, ec=INK, lw=1.1, ls=dashed))
    axes.text(x + w / 2, y + h - 0.18, title, ha="center", va="top", size=11, weight="bold", color=INK)
    axes.text(x + w / 2, y + h - 0.62, text, ha="center", va="top", size=8.4, color=INK, linespacing=1.45)


def arrow(axes: Axes, a: tuple[float, float], b: tuple[float, float], label: str, at: tuple[float, float]) -> None:
    """A numbered step of the data flow."""
    axes.add_patch(FancyArrowPatch(a, b, arrowstyle="-|>", mutation_scale=14, lw=1.4, color=INK))
    axes.text(*at, label, size=8.8, color=INK, ha="center", va="center", linespacing=1.35)


def draw(axes: Axes) -> None:
    """Draw the worlds on the left, the loop in the middle, what reads its visits on the right."""
    box(axes, (0.1, 0.9), (3.9, 6.6), "a World: begin, visit", "", "none")
    box(
        axes,
        (0.35, 4.9),
        (3.4, 1.9),
        "RecordedWorld",
        "simulate/\nanswers from the exact change\ntimes of a recording",
        WORLD,
    )
    box(
        axes,
        (0.35, 1.3),
        (3.4, 2.1),
        "LiveWorld",
        "live/, fetch/, see/, urls/\nasks politely, reads pages,\nrecords to SQLite and WARC",
        WORLD,
    )
    box(axes, (6.0, 0.9), (4.6, 6.6), "run_cycle (cycle.py)", "", "none")
    box(
        axes,
        (6.3, 4.9),
        (4.0, 1.9),
        "Policy",
        "policies/\nlearned, cg, age, gp:FILE, your own;\nsees Memory and Visits, nothing else",
        LOOP,
    )
    box(
        axes,
        (6.3, 1.3),
        (4.0, 2.1),
        "Memory",
        "memory.py, copies.py\nwhat visits have shown:\none column per fact, one row per page",
        LOOP,
    )
    box(
        axes,
        (12.2, 4.9),
        (3.5, 1.9),
        "evaluate/, report/",
        "measures per cycle, policies\ncompared, results.json,\nreport.html",
        USE,
    )
    box(
        axes,
        (12.2, 1.3),
        (3.5, 2.1),
        "evolve/, papers/",
        "formulas bred on recordings,\nthe papers' experiments;\nlive/ exports recordings",
        USE,
    )
    arrow(axes, (6.3, 6.25), (4.0, 6.25), "3 choose:\npages to visit", (5.0, 6.68))
    arrow(axes, (4.0, 5.4), (6.3, 5.4), "4 visit: Visits,\n5 learn", (5.0, 4.98))
    arrow(axes, (4.0, 2.9), (6.3, 2.9), "6 record\nthe Visits", (5.0, 3.32))
    arrow(axes, (4.0, 1.8), (6.3, 1.8), "1 begin: pages\nannounced", (5.0, 1.38))
    arrow(axes, (8.3, 3.4), (8.3, 4.9), "", (8.3, 4.2))
    axes.text(8.45, 4.15, "read by 2 begin,\n3 choose, 5 learn", size=8.8, color=INK, ha="left", va="center")
    arrow(axes, (10.6, 5.85), (12.2, 5.85), "7 rounds\nof Visits", (11.4, 6.28))
    arrow(axes, (10.6, 2.35), (12.2, 2.35), "recordings", (11.4, 2.6))
    axes.text(8.3, 1.1, "3 to 6 repeat until the budget is spent", ha="center", va="center", size=8.6, style="italic")
    axes.text(7.9, 0.35, FOOT, ha="center", va="center", size=9, color=INK)


def main(path: Path) -> None:
    """Write the picture, as SVG or PNG by the ending of the path."""
    with rc_context(STYLE):
        figure = Figure(figsize=(11.5, 5.8))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set(xlim=(0, 15.8), ylim=(0, 7.7))
        axes.axis("off")
        draw(axes)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=110)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".svg"))
