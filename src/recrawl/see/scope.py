"""Which pages belong to a crawl: by host, by prefix, by pattern."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import translate

from recrawl.errors import InputError
from recrawl.see.url import host_of, normalise, registrable_domain


@dataclass(frozen=True)
class Scope:
    """A page is in scope if a rule admits it and no exclusion refuses it; without rules, every page is.

    `hosts` are names (`example.org`) or whole domains (`*.example.org`, which holds example.org too), `prefixes` are
    the beginnings of URLs, `patterns` and `excludes` are shell patterns over the whole URL (`*/news/*`).
    """

    hosts: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for prefix in self.prefixes:
            if normalise(prefix) is None:
                raise InputError(f"scope: {prefix!r} is not the beginning of a URL")
        object.__setattr__(self, "prefixes", tuple(normalise(prefix) or "" for prefix in self.prefixes))
        object.__setattr__(self, "hosts", tuple(host.lower().removesuffix(".") for host in self.hosts))

    def __call__(self, href: str) -> bool:
        """Whether a URL in normal form is in scope."""
        if any(_matches(pattern, href) for pattern in self.excludes):
            return False
        if not (self.hosts or self.prefixes or self.patterns):
            return True
        return (
            (bool(self.prefixes) and href.startswith(self.prefixes))
            or self._host_admitted(host_of(href))
            or any(_matches(pattern, href) for pattern in self.patterns)
        )

    def _host_admitted(self, host: str) -> bool:
        return any(
            host == rule or (rule.startswith("*.") and (host == rule[2:] or host.endswith(rule[1:])))
            for rule in self.hosts
        )


def scope_of_seeds(seeds: list[str]) -> Scope:
    """Return the scope that a list of seeds implies: the registrable domains they lie on."""
    domains = sorted({registrable_domain(host_of(href)) for href in seeds})
    return Scope(hosts=tuple(f"*.{domain}" for domain in domains))


_COMPILED: dict[str, re.Pattern[str]] = {}


def _matches(pattern: str, href: str) -> bool:
    if pattern not in _COMPILED:
        _COMPILED[pattern] = re.compile(translate(pattern))
    return _COMPILED[pattern].fullmatch(href) is not None
