"""recrawl.toml: what a crawl is allowed to do, and how it is steered."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recrawl.errors import InputError
from recrawl.fetch.settings import FetchSettings, GateSettings
from recrawl.live.checked_settings import SettingsFile
from recrawl.spans import budget_of, days_of
from recrawl.urls.scope import Scope

STEERING = {"policy", "every", "budget", "discovery", "seed", "warmup", "site_cap", "signals"}


@dataclass(frozen=True)
class SiteSettings:
    """What holds for some hosts alone."""

    hosts: tuple[str, ...] = ()  # names, or whole domains (*.example.org)
    cap: int = 0  # most visits to each of them in a cycle; 0: no cap
    importance: float = 1.0  # what a visit is worth beside one elsewhere
    delay_s: float = 0.0  # between two requests, where that is longer than what holds anyway
    headers: tuple[tuple[str, str], ...] = ()  # sent to the page's own origin alone
    auth_file: Path | None = None  # a file with user:password, for basic authentication; never sent elsewhere

    def holds_for(self, host: str) -> bool:
        """Whether these settings are for this host."""
        return any(host == name or (name.startswith("*.") and f".{host}".endswith(name[1:])) for name in self.hosts)


@dataclass(frozen=True)
class CrawlConfig:
    """The settings of one crawl."""

    policy: str = "auto"
    every: str = "1d"
    budget: str = "10%"
    discovery: float = 0.5  # most of a cycle's budget for first visits, while there are known pages to visit
    seed: int = 0
    warmup: int = 0  # first cycles, in which every known page is visited
    site_cap: int = 0
    signals: bool = True  # read sitemaps and feeds, and visit early what sites say has changed
    scope: Scope = field(default_factory=Scope)
    fetch: FetchSettings = field(default_factory=FetchSettings)
    sites: tuple[SiteSettings, ...] = ()

    def site(self, host: str) -> SiteSettings:
        """Return what holds for a host: the first [[site]] that names it."""
        return next((site for site in self.sites if site.holds_for(host)), SiteSettings())


def load(path: Path) -> CrawlConfig:
    """Read and check a recrawl.toml."""
    file = SettingsFile.read(path)
    file.only("", file.told, {"crawl", "scope", "fetch", "site", "deliver"})  # deliver is read by recrawl.deliver
    crawl, scope = _steering(file), _scope(file)
    fetch = file.section(file.told, "fetch")
    gate = file.section(fetch, "fetch.gate")
    fetch.pop("gate", None)
    try:
        gates = GateSettings(**file.values("fetch.gate.", gate, GateSettings, _names(GateSettings)))
        settings = FetchSettings(**file.values("fetch.", fetch, FetchSettings, _names(FetchSettings)), gate=gates)
        return CrawlConfig(**crawl, scope=scope, fetch=settings, sites=_sites(file))
    except InputError as wrong:
        raise wrong if str(wrong).startswith(str(path)) else InputError(f"{path}: {wrong}") from None


def _names(kind: Any) -> set[str]:
    return {each.name for each in dataclasses.fields(kind)} - {"gate"}


def _steering(file: SettingsFile) -> dict[str, Any]:
    told = file.section(file.told, "crawl")
    if isinstance(told.get("budget"), (int, float)) and not isinstance(told["budget"], bool):
        told["budget"] = str(told["budget"])
    crawl = file.values("crawl.", told, CrawlConfig, STEERING)
    for name, read in (("every", days_of), ("budget", budget_of)):
        try:
            read(crawl.get(name, "1d" if name == "every" else "10%"))
        except InputError as wrong:
            raise file.wrong(f"crawl.{name}", f"cannot be read: {wrong}") from None
    if not 0 < crawl.get("discovery", 1.0) <= 1:
        raise file.wrong("crawl.discovery", f"must be above 0 and at most 1, not {crawl['discovery']:g}")
    return crawl


def _scope(file: SettingsFile) -> Scope:
    told = file.section(file.told, "scope")
    file.only("scope.", told, {"hosts", "prefixes", "patterns", "excludes", "deny"})
    names = ("prefixes", "patterns", "excludes")
    prefixes, patterns, excludes = (file.texts(f"scope.{name}", told.get(name, [])) for name in names)
    hosts, deny = file.hosts("scope.hosts", told.get("hosts", [])), file.patterns("scope.deny", told.get("deny", []))
    try:
        return Scope(hosts, prefixes, patterns, excludes, deny)
    except InputError as wrong:
        raise file.wrong("scope.prefixes", str(wrong).removeprefix("scope: ")) from None


def _sites(file: SettingsFile) -> tuple[SiteSettings, ...]:
    told = file.told.get("site", [])
    if not isinstance(told, list) or not all(isinstance(table, dict) for table in told):
        raise file.wrong("site", 'must be sections of their own: [[site]] and hosts = ["example.org"] below it')
    return tuple(_site(file, dict(table)) for table in told)


def _site(file: SettingsFile, table: dict[str, Any]) -> SiteSettings:
    headers = file.section(table, "site.headers")
    table.pop("headers", None)
    hosts = file.hosts("site.hosts", table.pop("hosts", []))
    if not hosts:
        raise file.wrong("site", 'needs the hosts that it is for: hosts = ["example.org"]')
    for name, value in headers.items():
        plain = isinstance(value, str) and (name + value).isascii() and (name + value).isprintable()
        if not plain or not name.replace("-", "").isalnum():
            raise file.wrong(f"site.headers.{name}", "must be a header name with a text of plain ASCII")
    found = file.values("site.", table, SiteSettings, {"cap", "importance", "delay_s", "auth_file"})
    if found.get("importance", 1.0) <= 0:
        raise file.wrong("site.importance", "must be above 0")
    site = SiteSettings(hosts=hosts, headers=tuple(headers.items()), **found)
    return dataclasses.replace(site, headers=(*site.headers, *_credentials(file, site.auth_file)))


def _credentials(file: SettingsFile, path: Path | None) -> tuple[tuple[str, str], ...]:
    """Return the header of basic authentication (RFC 7617) from a file with user:password."""
    if path is None:
        return ()
    try:
        secret = (file.path.parent / path).read_text().strip()
    except (OSError, UnicodeDecodeError) as wrong:
        raise file.wrong("site.auth_file", f"cannot be read: {getattr(wrong, 'strerror', None) or wrong}") from None
    if ":" not in secret or "\n" in secret:
        raise file.wrong("site.auth_file", "must hold one line, user:password")
    return (("Authorization", f"Basic {base64.b64encode(secret.encode()).decode()}"),)


def with_hosts(config: CrawlConfig, hosts: Iterable[str], year: int) -> Scope:
    """Return the scope: the hosts of the first pages where it names none; calendars far from `year` are traps."""
    if config.scope.has_rules:
        return dataclasses.replace(config.scope, year=year)
    return dataclasses.replace(config.scope, hosts=tuple(hosts), year=year)
