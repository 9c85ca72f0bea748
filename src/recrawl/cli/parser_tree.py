"""The whole command line as a tree of parsers, from which the man page and the shell completions are written."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class CommandNode:
    """A command by its words, such as `experiment gp4c`, with its one-line help and its parser."""

    words: tuple[str, ...]
    help: str
    parser: argparse.ArgumentParser

    @property
    def name(self) -> str:
        """The words, without the program's own name."""
        return " ".join(self.words)

    def below(self) -> list[CommandNode]:
        """Return the commands that this one's next word may name."""
        return [
            CommandNode((*self.words, name), helps.get(name, ""), parser)
            for action in self.parser._actions
            if isinstance(action, argparse._SubParsersAction)
            for helps in [{choice.dest: choice.help or "" for choice in action._choices_actions}]
            for name, parser in action.choices.items()
        ]

    def options(self) -> list[argparse.Action]:
        """Return the options that are not hidden."""
        return [a for a in self.parser._actions if a.option_strings and a.help != argparse.SUPPRESS]

    def arguments(self) -> list[argparse.Action]:
        """Return what stands for itself, without an option's name."""
        below = argparse._SubParsersAction
        return [a for a in self.parser._actions if not a.option_strings and not isinstance(a, below)]


def whole_tree() -> list[CommandNode]:
    """Return all commands, the program itself first; imports every verb's module."""
    from recrawl.cli import build_parser

    return list(_walk(CommandNode((), "", build_parser(whole=True))))


def _walk(node: CommandNode) -> Iterator[CommandNode]:
    yield node
    for each in node.below():
        yield from _walk(each)
