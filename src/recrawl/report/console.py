"""Tables of results on a terminal, or as plain lines in a pipe."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table as TerminalTable
from rich.text import Text

from recrawl.plain_text import shown as plain

if TYPE_CHECKING:
    from recrawl.report.table import Table

WIDE = 10_000  # a pipe has no width


class PipeConsole(Console):
    """A console whose reader may go away (`| head`): that ends the command, and is no error."""

    def on_broken_pipe(self) -> None:
        """Leave it to the command line, which ends with 0."""
        raise BrokenPipeError


def new_console() -> Console:
    """Return a console that cuts nothing off where the output is not a terminal."""
    console = PipeConsole(highlight=False)
    if not console.is_terminal:
        console.width = WIDE
    return console


def print_lines(console: Console, lines: Iterable[str], style: str = "") -> None:
    """Print lines as they are, however long."""
    for line in lines:
        console.print(Text(line, style=style), soft_wrap=True)


def print_tables(intro: Iterable[str], notes: Iterable[str], tables: Iterable[Table]) -> None:
    """Print what was done, what was left out, and the tables with their notes, best values in bold."""
    console = new_console()
    print_lines(console, [*intro, *(f"note: {note}" for note in notes)])
    for table in tables:
        console.print()
        console.print(terminal_table(table))
        print_lines(console, [table.note] if table.note else [], "dim")


def terminal_table(table: Table) -> TerminalTable:
    """Return a table for a terminal: numbers to the right, the best in bold, nothing but sentences wrapped."""
    texts = table.texts
    shown = TerminalTable(box=None, header_style="bold", pad_edge=False)
    for i, head in enumerate(table.heads):
        left = i == 0 or table.prose or i in texts
        shown.add_column(Text(head), justify="left" if left else "right", no_wrap=not (table.prose or i in texts))
    for r, row in enumerate(table.rows):
        cells = (Text(plain(cell), style="bold" if (r, c) in table.best else "") for c, cell in enumerate(row))
        shown.add_row(*cells, style="dim italic" if r in table.bounds else "bold" if r in table.sums else "")
    return shown
