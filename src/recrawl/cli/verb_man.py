"""recrawl man: the manual page."""

from __future__ import annotations

import argparse
import re

from recrawl import __version__
from recrawl.cli.parser_tree import CommandNode, whole_tree

EXAMPLES = """examples:
  recrawl man | man -l -                                   read it
  recrawl man > ~/.local/share/man/man1/recrawl.1          then: man recrawl
"""
CODES = (("0", "done"), ("1", "failed"), ("2", "the input is wrong; one line says what"), ("130", "interrupted"))


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options: there are none."""
    parser.description = "Print the manual page of all verbs and options, for man(1)."


def run(args: argparse.Namespace) -> None:
    """Print the page."""
    print(manual_page(), end="")


def manual_page() -> str:
    """Return the manual page (roff), made from the options as they are."""
    program, *commands = whole_tree()
    lines = [f'.TH RECRAWL 1 "" "recrawl {__version__}" "User Commands"', ".SH NAME"]
    lines += [f"recrawl {escaped('-')} a crawler that learns the web{escaped(chr(39))}s rhythm", ".SH SYNOPSIS"]
    lines += [".B recrawl", r"\fIVERB\fR [\fIoption\fR ...]", ".SH DESCRIPTION"]
    lines += ["Decides which pages to visit next, visits them politely, and says what changed.", ".SH VERBS"]
    for node in commands:
        lines += _command(node)
    lines += [".SH EXAMPLES", *_block(program.parser.epilog or ""), ".SH EXIT STATUS"]
    for code, meaning in CODES:
        lines += [".TP", code, meaning]
    return "\n".join(lines) + "\n"


def _command(node: CommandNode) -> list[str]:
    said = node.parser.description or f"{node.help[:1].upper()}{node.help[1:]}."
    lines = [f".SS {escaped(f'recrawl {node.name}')}", escaped(" ".join(said.split()))]
    for action in (*node.arguments(), *node.options()):
        shown = _named(action)
        lines += [".TP", shown, *([escaped(_help(node, action))] if action.help else [])]
    if node.parser.epilog:
        lines += [".PP", *_block(node.parser.epilog)]
    return lines


def _named(action: argparse.Action) -> str:
    """Return an option or argument with what it takes: bold names, italic values."""
    value = action.metavar or (f"{{{','.join(map(str, action.choices))}}}" if action.choices else action.dest.upper())
    value = rf"\fI{escaped(value if isinstance(value, str) else ' '.join(value))}\fR"
    if not action.option_strings:
        return value
    names = ", ".join(rf"\fB{escaped(name)}\fR" for name in action.option_strings)
    return names if action.nargs == 0 else f"{names} {value}"


def _help(node: CommandNode, action: argparse.Action) -> str:
    return " ".join(node.parser._get_formatter()._expand_help(action).split())


def _block(text: str) -> list[str]:
    """Return lines as they are."""
    return [".nf", *(escaped(line) for line in text.strip("\n").split("\n")), ".fi"]


def escaped(text: str) -> str:
    """Return a text of which roff takes nothing for a command."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq").replace("`", r"\(ga")
    return re.sub(r"^\.", r"\&.", text)
