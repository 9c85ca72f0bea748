"""recrawl.toml: what a crawl is allowed to do, and how it is steered."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recrawl.errors import InputError
from recrawl.fetch.settings import FetchSettings, GateSettings
from recrawl.live.checked_settings import SettingsFile
from recrawl.live.remote_bodies import BodiesSettings, check_target
from recrawl.live.site_settings import (
    SiteSettings,
    check_authorities,
    check_certificate,
    read_headers,
    read_secret,
    read_sites,
)
from recrawl.live.store_place import StoreSettings, store_settings
from recrawl.spans import budget_of, bytes_of, days_of
from recrawl.urls.scope import Scope
from recrawl.urls.traps import TrapSettings

SECTIONS = {"crawl", "scope", "fetch", "site", "keep", "traps", "store", "bodies", "deliver"}
STEERING = {"policy", "every", "budget", "discovery", "seed", "warmup", "site_cap", "signals"}


@dataclass(frozen=True)
class KeepSettings:
    """How many bodies are kept; the newest of each page always is."""

    versions: int = 0  # of each page, the newest; 0: all
    max_bytes: int = 0  # in all, compressed; the oldest go first; 0: no limit


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
    signals: bool = True  # read sitemaps and feeds, and visit announced changes early
    scope: Scope = field(default_factory=Scope)
    fetch: FetchSettings = field(default_factory=FetchSettings)
    sites: tuple[SiteSettings, ...] = ()
    keep: KeepSettings = field(default_factory=KeepSettings)
    traps: TrapSettings = field(default_factory=TrapSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    bodies: BodiesSettings = field(default_factory=BodiesSettings)

    def site(self, host: str) -> SiteSettings:
        """Return the settings of a host: the first [[site]] that names it."""
        return next((site for site in self.sites if site.holds_for(host)), SiteSettings())


def load(path: Path, text: str | None = None) -> CrawlConfig:
    """Read and check a recrawl.toml; or its `text`, as if it were there."""
    file = SettingsFile.read(path) if text is None else SettingsFile.of_text(path, text)
    file.only("", file.tables, SECTIONS)
    crawl, scope = _steering(file), _scope(file)
    fetch = file.section(file.tables, "fetch")
    gate, headers = file.section(fetch, "fetch.gate"), read_headers(file, fetch, "fetch.headers")
    fetch = {name: value for name, value in fetch.items() if name not in ("gate", "headers")}
    values = file.values("fetch.", fetch, FetchSettings, _names(FetchSettings))
    check_authorities(file, values.get("tls_ca_file"))
    check_certificate(file, "fetch", values.get("tls_cert_file"), values.get("tls_key_file"))
    if values.get("proxy_auth_file"):
        read_secret(file, "fetch.proxy_auth_file", values["proxy_auth_file"])
    try:
        gates = GateSettings(**file.values("fetch.gate.", gate, GateSettings, _names(GateSettings)))
        settings = FetchSettings(**values, headers=headers, gate=gates)
        return CrawlConfig(**crawl, scope=scope, fetch=settings, sites=read_sites(file), **_limits(file))
    except InputError as wrong:
        if str(wrong).startswith(str(path)):
            raise
        said = str(wrong).removeprefix("fetch: ")
        raise file.wrong(f"fetch.{said.partition(' ')[0]}", said.partition(" ")[2]) from None


def _limits(file: SettingsFile) -> dict[str, Any]:
    """Read [keep], [traps] and [store]."""
    table = file.section(file.tables, "keep")
    if isinstance(table.get("max_bytes"), str):
        try:
            table["max_bytes"] = bytes_of(table["max_bytes"])
        except InputError as wrong:
            raise file.wrong("keep.max_bytes", f"cannot be read: {wrong}") from None
    keep = KeepSettings(**file.values("keep.", table, KeepSettings, _names(KeepSettings)))
    traps = file.section(file.tables, "traps")
    limits = TrapSettings(**file.values("traps.", traps, TrapSettings, _names(TrapSettings)))
    return {"keep": keep, "traps": limits, "store": store_settings(file), "bodies": _bodies(file)}


def _bodies(file: SettingsFile) -> BodiesSettings:
    """Read [bodies]."""
    table = file.section(file.tables, "bodies")
    found = BodiesSettings(**file.values("bodies.", table, BodiesSettings, _names(BodiesSettings)))
    if found.to and (fault := check_target(found.to)):
        raise file.wrong("bodies.to", fault)
    if found.endpoint and not found.endpoint.startswith(("http://", "https://")):
        raise file.wrong("bodies.endpoint", f"must begin with http:// or https://, not {found.endpoint!r}")
    if found.credentials_file is not None:
        read_secret(file, "bodies.credentials_file", found.credentials_file)
    return found


def _names(kind: Any) -> set[str]:
    return {each.name for each in dataclasses.fields(kind)} - {"gate", "headers"}


def _steering(file: SettingsFile) -> dict[str, Any]:
    table = file.section(file.tables, "crawl")
    if isinstance(table.get("budget"), (int, float)) and not isinstance(table["budget"], bool):
        table["budget"] = str(table["budget"])
    crawl = file.values("crawl.", table, CrawlConfig, STEERING)
    for name, read in (("every", days_of), ("budget", budget_of)):
        try:
            read(crawl.get(name, "1d" if name == "every" else "10%"))
        except InputError as error:
            raise file.wrong(f"crawl.{name}", f"cannot be read: {error}") from None
    if not 0 < crawl.get("discovery", 1.0) <= 1:
        raise file.wrong("crawl.discovery", f"must be above 0 and at most 1, not {crawl['discovery']:g}")
    return crawl


def _scope(file: SettingsFile) -> Scope:
    table = file.section(file.tables, "scope")
    file.only("scope.", table, {"hosts", "prefixes", "patterns", "excludes", "deny"})
    names = ("prefixes", "patterns", "excludes")
    prefixes, patterns, excludes = (file.texts(f"scope.{name}", table.get(name, [])) for name in names)
    hosts, deny = file.hosts("scope.hosts", table.get("hosts", [])), file.patterns("scope.deny", table.get("deny", []))
    try:
        return Scope(hosts, prefixes, patterns, excludes, deny)
    except InputError as error:
        raise file.wrong("scope.prefixes", str(error).removeprefix("scope: ")) from None


def with_hosts(config: CrawlConfig, hosts: Iterable[str], year: int) -> Scope:
    """Return the scope: the hosts of the first pages where it names none; calendars far from `year` are traps."""
    if config.scope.has_rules:
        return dataclasses.replace(config.scope, year=year)
    return dataclasses.replace(config.scope, hosts=tuple(hosts), year=year)
