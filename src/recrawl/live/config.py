"""recrawl.toml: what a crawl is allowed to do, and how it is steered."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recrawl.errors import InputError
from recrawl.fetch.settings import FetchSettings, GateSettings
from recrawl.urls.scope import Scope

DEFAULT = """# A recrawl crawl. Every setting not given here has its default.

[crawl]
policy = "auto"           # any of `recrawl policies`; auto: what `recrawl learn` found best, or a good default
every = "1d"              # the length of a cycle
budget = "10%"            # visits a cycle: a share of the known pages, or a number
signals = true            # read sitemaps and feeds (at most a tenth of the budget) and look early where sites say so
seed = 0

[scope]
hosts = []                # hosts to crawl, or whole domains ("*.example.org"); those of the pages added where empty
prefixes = []             # or parts of hosts: "https://example.org/docs/"
patterns = []             # or shell patterns of URLs: "*/news/*"
excludes = []             # shell patterns of URLs never to visit
deny = []                 # regular expressions of URLs never to visit

[fetch]
contact = ""              # a URL or mail address for webmasters: part of the User-Agent
allow_networks = []       # private networks that may be crawled all the same, such as "127.0.0.0/8"

[fetch.gate]
min_delay_s = 1.0         # between two requests to a host
"""


@dataclass(frozen=True)
class CrawlConfig:
    """The settings of one crawl."""

    policy: str = "auto"
    every: str = "1d"
    budget: str = "10%"
    seed: int = 0
    warmup: int = 0  # first cycles, in which every known page is visited
    site_cap: int = 0
    signals: bool = True  # read sitemaps and feeds, and visit early what sites say has changed
    scope: Scope = field(default_factory=Scope)
    fetch: FetchSettings = field(default_factory=FetchSettings)


def load(path: Path) -> CrawlConfig:
    """Read and check a recrawl.toml."""
    try:
        told = tomllib.loads(path.read_text())
    except OSError as wrong:
        raise InputError(f"{path}: {wrong.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as wrong:
        raise InputError(f"{path}: {wrong}") from None
    _known(path, "", told, {"crawl", "scope", "fetch", "deliver"})  # deliver is read by recrawl.deliver
    crawl, scope, fetch = told.get("crawl", {}), told.get("scope", {}), dict(told.get("fetch", {}))
    _known(path, "crawl.", crawl, {"policy", "every", "budget", "seed", "warmup", "site_cap", "signals"})
    _known(path, "scope.", scope, {"hosts", "prefixes", "patterns", "excludes", "deny"})
    try:
        gate = GateSettings(**fetch.pop("gate", {}))
        settings = FetchSettings(**{name: _frozen(value) for name, value in fetch.items()}, gate=gate)
        deny = tuple(re.compile(pattern) for pattern in scope.get("deny", ()))
    except (TypeError, re.error) as wrong:
        said = str(wrong).replace("FetchSettings.__init__() ", "").replace("GateSettings.__init__() ", "")
        raise InputError(f"{path}: {said}") from None
    except InputError as wrong:
        raise InputError(f"{path}: {wrong}") from None
    kinds = {"policy": str, "every": str, "budget": (str, int), "signals": bool}
    _typed(path, crawl, kinds | dict.fromkeys(("seed", "warmup", "site_cap"), int))
    rules = {name: tuple(scope.get(name, ())) for name in ("hosts", "prefixes", "patterns", "excludes")}
    try:
        inside = Scope(rules["hosts"], rules["prefixes"], rules["patterns"], rules["excludes"], deny)
    except InputError as wrong:
        raise InputError(f"{path}: {wrong}") from None
    return CrawlConfig(**crawl | {"budget": str(crawl.get("budget", "10%"))}, scope=inside, fetch=settings)


def _typed(path: Path, told: dict[str, Any], kinds: dict[str, Any]) -> None:
    for name, value in told.items():
        if not isinstance(value, kinds[name]) or isinstance(value, bool) != (kinds[name] is bool):
            raise InputError(f"{path}: crawl.{name} cannot be {value!r}")


def with_hosts(config: CrawlConfig, hosts: Iterable[str], year: int) -> Scope:
    """Return the scope: the hosts of the first pages where it names none; calendars far from `year` are traps."""
    if config.scope.has_rules:
        return dataclasses.replace(config.scope, year=year)
    return dataclasses.replace(config.scope, hosts=tuple(hosts), year=year)


def _known(path: Path, prefix: str, told: dict[str, Any], names: set[str]) -> None:
    for name in told.keys() - names:
        raise InputError(f"{path}: unknown setting {prefix}{name}; known are {', '.join(sorted(names))}")


def _frozen(value: Any) -> Any:
    """TOML's lists are our tuples."""
    return tuple(_frozen(each) for each in value) if isinstance(value, list) else value
