"""Named things: one registry for each of policies, scorers, measures and presets, and the small language of specs.

A spec is a name with optional arguments, as typed on a command line:

    cg      gad(over=cycles)      explore(cg, 0.1)      NDCG@5%      gp:best.json      my_policies.py:mine(0.3)
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from recrawl.errors import InputError, UnknownNameError
from recrawl.plugins import load_file, load_packages

T = TypeVar("T")


@dataclass(frozen=True)
class Entry(Generic[T]):
    """A registered maker with what a user should know of it."""

    name: str
    make: Callable[..., T]
    formula: str
    source: str
    clairvoyant: bool = False  # sees the truth: an upper bound, never a policy to run


class Registry(Generic[T]):
    """Find makers by name; an unknown name suggests the nearest one.

    With a `group`, other packages register through that entry point group; they are loaded when first needed.
    """

    def __init__(self, kind: str, group: str = "") -> None:
        self.kind = kind
        self._group = group
        self._entries: dict[str, Entry[T]] = {}

    def add(
        self, name: str, *, formula: str = "", source: str = "", clairvoyant: bool = False
    ) -> Callable[[Callable[..., T]], Callable[..., T]]:
        """Register the decorated maker under `name`; a built-in name cannot be taken by another package."""

        def keep(make: Callable[..., T]) -> Callable[..., T]:
            if name in self._entries and str(self._entries[name].make.__module__).startswith("recrawl."):
                raise InputError(f"the {self.kind} {name!r} is built in; choose another name")
            self._entries[name] = Entry(name, make, formula, source, clairvoyant)
            return make

        return keep

    def _load_packages(self) -> None:
        group, self._group = self._group, ""
        if group:
            load_packages(group)

    def __iter__(self) -> Iterator[Entry[T]]:
        self._load_packages()
        return iter(tuple(self._entries.values()))

    def __contains__(self, name: str) -> bool:
        if name not in self._entries:
            self._load_packages()
        return name in self._entries

    def __getitem__(self, name: str) -> Entry[T]:
        if name not in self:
            near = difflib.get_close_matches(name.lower(), {n.lower(): n for n in self._entries}, n=1, cutoff=0.4)
            names = {n.lower(): n for n in self._entries}
            hint = f"; did you mean {names[near[0]]!r}?" if near else ""
            raise UnknownNameError(f"unknown {self.kind} {name!r}{hint}")
        return self._entries[name]


@dataclass(frozen=True)
class Spec:
    """A parsed spec: a name, positional arguments (specs themselves) and keyword arguments."""

    name: str
    args: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()


def parse_spec(text: str) -> Spec:
    """Parse `name`, `name(arg, key=value)`, `gp:file` and `file.py:name(...)`, whose file is run for its names.

    Nested parentheses stay text for the maker to parse.
    """
    text = text.strip()
    head, colon, rest = text.partition(":")
    if colon and "(" not in head:
        if not head.endswith(".py"):
            return Spec(head, (rest,))
        load_file(head)
        text = rest
    name, bracket, rest = text.partition("(")
    if not bracket:
        return Spec(text)
    if not rest.endswith(")"):
        raise InputError(f"missing ')' in {text!r}")
    args: list[str] = []
    options: list[tuple[str, str]] = []
    for part in split_specs(rest[:-1]):
        key, equals, value = part.partition("=")
        if equals and key.strip().isidentifier():
            options.append((key.strip(), value.strip()))
        else:
            args.append(part)
    return Spec(name.strip(), tuple(args), tuple(options))


def split_specs(text: str) -> list[str]:
    """Split at the commas outside parentheses: "a,b(c,d)" is ["a", "b(c,d)"]."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth < 0:
            raise InputError(f"unmatched ')' in {text!r}")
        if char == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    if depth:
        raise InputError(f"missing ')' in {text!r}")
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]
