"""Which pages belong to a crawl: by host, by prefix, by pattern."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property

from recrawl.errors import InputError
from recrawl.urls.traps import trap_of
from recrawl.urls.url import host_of, normalise


@dataclass(frozen=True)
class Scope:
    """A page is in scope if a rule admits it and no exclusion refuses it; without rules, every page is.

    `hosts` are names (`example.org`) or whole domains (`*.example.org`, which holds example.org too), `prefixes` are
    the beginnings of URLs, `patterns` and `excludes` are shell patterns over the whole URL (`*/news/*`), `deny` are
    regular expressions. Traps are never in scope; with `year`, calendar pages far from it are traps, too.
    """

    hosts: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    deny: tuple[re.Pattern[str], ...] = ()
    year: int | None = None

    def __post_init__(self) -> None:
        for prefix in self.prefixes:
            if normalise(prefix) is None:
                raise InputError(f"scope: {prefix!r} is not the beginning of a URL")
        object.__setattr__(self, "prefixes", tuple(normalise(prefix) or "" for prefix in self.prefixes))
        object.__setattr__(self, "hosts", tuple(host.lower().removesuffix(".") for host in self.hosts))

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(rule.removeprefix("*.") for rule in self.hosts)

    @cached_property
    def _domains(self) -> tuple[str, ...]:
        return tuple(rule[1:] for rule in self.hosts if rule.startswith("*."))

    @property
    def has_rules(self) -> bool:
        """Whether any rule limits which pages belong to the crawl."""
        return bool(self.hosts or self.prefixes or self.patterns)

    def __call__(self, href: str) -> bool:
        """Whether a URL in normal form is in scope."""
        if self.has_rules and not self._admitted(href):
            return False
        if self.excludes and any(_matches(pattern, href) for pattern in self.excludes):
            return False
        if self.deny and any(pattern.search(href) for pattern in self.deny):
            return False
        return trap_of(href, self.year) is None

    def _admitted(self, href: str) -> bool:
        host = host_of(href)
        return (
            host in self._names
            or (bool(self._domains) and host.endswith(self._domains))
            or (bool(self.prefixes) and href.startswith(self.prefixes))
            or any(_matches(pattern, href) for pattern in self.patterns)
        )


_COMPILED: dict[str, re.Pattern[str]] = {}


def _matches(pattern: str, href: str) -> bool:
    if pattern not in _COMPILED:
        _COMPILED[pattern] = re.compile(translate(pattern))
    return _COMPILED[pattern].fullmatch(href) is not None
