"""[[site]] sections of recrawl.toml: what holds for some hosts alone."""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from recrawl.errors import InputError
from recrawl.live.checked_settings import SettingsFile
from recrawl.spans import budget_of

Certificate = tuple[Path, Path | None]
_RESERVED = frozenset({"host", "connection", "content-length", "transfer-encoding", "accept-encoding"})


@dataclass(frozen=True)
class SiteSettings:
    """What holds for some hosts alone."""

    hosts: tuple[str, ...] = ()  # names, whole domains (*.example.org) or shell patterns (news-*.example.org)
    budget: str = ""  # visits per cycle that all of them together get, as a number or a share of the budget
    cap: int = 0  # most visits to each of them in a cycle; 0: no cap
    importance: float = 1.0  # what a visit is worth beside one elsewhere
    delay_s: float = 0.0  # between two requests, where that is longer than what holds anyway
    objective: str = ""  # of the policy `learned`, for the visits of their own budget
    headers: tuple[tuple[str, str], ...] = ()  # sent to these hosts alone
    auth_file: Path | None = None  # a file with user:password, for basic authentication; never sent elsewhere
    tls_cert_file: Path | None = None  # a client certificate for these hosts
    tls_key_file: Path | None = None  # its key, where that is not in the same file

    def holds_for(self, host: str) -> bool:
        """Whether these settings are for this host."""
        return any(
            fnmatchcase(host, name) or (name.startswith("*.") and host == name[2:])
            for name in map(str.lower, self.hosts)
        )

    @property
    def certificate(self) -> Certificate | None:
        """The client certificate and its key."""
        return None if self.tls_cert_file is None else (self.tls_cert_file, self.tls_key_file)

    def visits(self, budget: int) -> int:
        """How many visits of a cycle's budget these hosts get."""
        own = budget_of(self.budget) if self.budget else 0
        return min(budget, own if isinstance(own, int) else max(1, round(own * budget)))


def read_sites(file: SettingsFile) -> tuple[SiteSettings, ...]:
    """Read the [[site]] sections."""
    tables = file.tables.get("site", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise file.wrong("site", 'must be sections of their own: [[site]] and hosts = ["example.org"] below it')
    return tuple(_site(file.within(number), dict(table)) for number, table in enumerate(tables))


def _site(file: SettingsFile, table: dict[str, Any]) -> SiteSettings:
    headers = read_headers(file, table, "site.headers")
    table.pop("headers", None)
    hosts = file.hosts("site.hosts", table.pop("hosts", []), patterns=True)
    if not hosts:
        raise file.wrong("site", 'needs the hosts that it is for: hosts = ["example.org"]')
    if isinstance(table.get("budget"), int) and not isinstance(table["budget"], bool):
        table["budget"] = str(table["budget"])
    names = {"budget", "cap", "importance", "delay_s", "objective", "auth_file", "tls_cert_file", "tls_key_file"}
    found = file.values("site.", table, SiteSettings, names)
    if found.get("importance", 1.0) <= 0:
        raise file.wrong("site.importance", "must be above 0")
    _check_budget(file, found)
    site = SiteSettings(hosts=hosts, headers=headers, **found)
    check_certificate(file, "site", site.tls_cert_file, site.tls_key_file)
    return replace(site, headers=(*site.headers, *_credentials(file, site.auth_file)))


def _check_budget(file: SettingsFile, found: dict[str, Any]) -> None:
    for name, read in (("budget", budget_of), ("objective", _check_objective)):
        try:
            if found.get(name):
                read(found[name])
        except InputError as wrong:
            raise file.wrong(f"site.{name}", f"cannot be read: {wrong}") from None
    if found.get("objective") and not found.get("budget"):
        raise file.wrong("site.objective", "needs a budget of its own beside it: what it ranks by has another unit")


def _check_objective(text: str) -> None:
    from recrawl.policies.learned.objectives import parse_objective  # with numpy, which most settings do without

    parse_objective(text)


def read_headers(file: SettingsFile, table: dict[str, Any], key: str) -> tuple[tuple[str, str], ...]:
    """Read a table of request headers."""
    headers = file.section(table, key)
    for name, value in headers.items():
        plain = isinstance(value, str) and (name + value).isascii() and (name + value).isprintable()
        if not plain or not name.replace("-", "").replace("_", "").isalnum():
            raise file.wrong(f"{key}.{name}", "must be a header name with a text of plain ASCII")
        if name.lower() in _RESERVED:
            raise file.wrong(f"{key}.{name}", "is a header that the crawler writes itself")
    return tuple(headers.items())


def _credentials(file: SettingsFile, path: Path | None) -> tuple[tuple[str, str], ...]:
    """Return the header of basic authentication (RFC 7617) from a file with user:password."""
    if path is None:
        return ()
    secret = read_secret(file, "site.auth_file", path)
    return (("Authorization", f"Basic {base64.b64encode(secret.encode()).decode()}"),)


def read_secret(file: SettingsFile, key: str, path: Path) -> str:
    """Read user:password from a file that its owner alone can read."""
    check_private(file, key, path)
    try:
        secret = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as wrong:
        raise file.wrong(key, f"cannot be read: {getattr(wrong, 'strerror', None) or wrong}") from None
    if ":" not in secret or "\n" in secret:
        raise file.wrong(key, "must hold one line, user:password")
    return secret


def check_private(file: SettingsFile, key: str, path: Path) -> None:
    """Refuse a file with a secret that others can read."""
    try:
        mode = path.stat().st_mode
    except OSError as wrong:
        raise file.wrong(key, f"cannot be read: {wrong.strerror}: {path}") from None
    if mode & 0o077:
        raise file.wrong(key, f"can be read by others (mode {mode & 0o777:04o}): chmod 600 {path}")


def check_authorities(file: SettingsFile, path: Path | None) -> None:
    """Check that the certificates of authorities are there and can be used."""
    import ssl

    if path is None:
        return
    try:
        ssl.create_default_context(cafile=path)
    except (ssl.SSLError, OSError, ValueError) as wrong:
        said = "no certificate in it" if isinstance(wrong, ssl.SSLError) else getattr(wrong, "strerror", None) or wrong
        raise file.wrong("fetch.tls_ca_file", f"cannot be used: {said}: {path}") from None


def check_certificate(file: SettingsFile, section: str, cert: Path | None, key: Path | None) -> None:
    """Check that a client certificate is there, and that nobody else can read its key."""
    import ssl

    if cert is None:
        if key is not None:
            raise file.wrong(f"{section}.tls_key_file", "needs tls_cert_file beside it")
        return
    if not cert.is_file():
        raise file.wrong(f"{section}.tls_cert_file", f"cannot be read: no file {cert}")
    check_private(file, f"{section}.tls_key_file" if key else f"{section}.tls_cert_file", key or cert)
    try:
        ssl.create_default_context().load_cert_chain(cert, key, password=_no_password)
    except (ssl.SSLError, OSError, ValueError) as wrong:
        said = getattr(wrong, "reason", None) or wrong
        raise file.wrong(f"{section}.tls_cert_file", f"is no certificate with its key: {said}") from None


def _no_password() -> str:
    raise ValueError("the key has a password")
