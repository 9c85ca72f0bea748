"""models/policy.json: the policy that did best on the crawl's own history; a name with numbers, never code.

Files in a crawl's settings and in its choice are named relative to the crawl's folder, wherever one stands. They are
formulas, never Python files: to look at a folder that somebody else made must not run what is in it.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from recrawl.errors import InputError, StoreError
from recrawl.live.directory import CrawlDirectory

FORMAT = 1
MAX_BYTES = 1 << 20
AUTO = "auto"
DEFAULT = "learned(objective=freshness)"  # until something was learnt; chosen by benchmarks.objectives
_FILE = re.compile(r"(?<=gp:)[^,()]+")
_CODE = re.compile(r"\.py\s*:")


@dataclass(frozen=True)
class PolicyChoice:
    """The policy that was best on the crawl's history, and what every candidate reached."""

    policy: str
    measure: str
    cycle_days: float
    values: dict[str, float]
    notes: tuple[str, ...] = field(default=(), compare=False)  # not kept

    def to_dict(self) -> dict[str, Any]:
        """Return what models/policy.json holds."""
        return {name: value for name, value in asdict(self).items() if name != "notes"}


def path_of(directory: CrawlDirectory) -> Path:
    """Return where the choice is kept."""
    return directory.path / "models" / "policy.json"


def within(directory: CrawlDirectory, policy: str) -> str:
    """Return the spec with the files that are in the crawl's folder named from where we stand."""

    def found(match: re.Match[str]) -> str:
        path = directory.path / match[0]
        return str(path) if path.is_file() else match[0]

    return _FILE.sub(found, policy)


def without(directory: CrawlDirectory, policy: str) -> str:
    """Return the spec with the files that are in the crawl's folder named relative to it."""
    return policy.replace(f"{directory.path}{os.sep}", "") if directory.path != Path() else policy


def resolve(directory: CrawlDirectory, policy: str | None = None) -> str:
    """Return the policy that the settings mean: `auto` is what was learnt, or else the default."""
    from recrawl.policies.catalogue import make_policy
    from recrawl.policy import Setting

    policy = policy or directory.config().policy
    if policy != AUTO:
        return _checked(directory, policy)
    chosen = load(directory)
    if chosen is None:
        return DEFAULT
    policy = within(directory, str(chosen["policy"]))
    try:
        make_policy(policy, Setting())
    except InputError as error:
        raise _unusable(directory, error) from None
    return policy


def _checked(directory: CrawlDirectory, policy: str) -> str:
    """Return a policy of the settings, its files named from where we stand; an error names its line."""
    from recrawl.live.checked_settings import SettingsFile
    from recrawl.policies.catalogue import make_policy
    from recrawl.policy import Setting

    try:
        if _CODE.search(policy):
            raise InputError(f"cannot be used: a crawl's settings name no code; use --policy {policy}")
        make_policy(within(directory, policy), Setting())
    except InputError as error:
        raise SettingsFile.read(directory.path / "recrawl.toml").wrong("crawl.policy", f"{error}") from None
    return within(directory, policy)


def load(directory: CrawlDirectory) -> dict[str, Any] | None:
    """Read the choice; None where nothing was learnt. Anything but our own JSON is refused."""
    path = path_of(directory)
    if not path.exists():
        return None
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError("too large")
        choice = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(choice, dict) or choice.get("format") != FORMAT or not isinstance(choice.get("policy"), str):
            raise ValueError("not a choice of this version")
        if _CODE.search(choice["policy"]):
            raise ValueError("it names code")
    except (OSError, ValueError) as error:
        raise _unusable(directory, error) from None
    return choice


def _unusable(directory: CrawlDirectory, error: Exception) -> StoreError:
    return StoreError(f"{path_of(directory)} cannot be used ({error}); delete it or run `recrawl learn`")


def save(directory: CrawlDirectory, choice: PolicyChoice) -> None:
    """Write the choice, whole or not at all."""
    write(path_of(directory), (json.dumps({"format": FORMAT, **choice.to_dict()}, indent=2) + "\n").encode())


def write(path: Path, content: bytes) -> None:
    """Write a model, whole or not at all."""
    temporary = path.with_suffix(".part")
    try:
        path.parent.mkdir(exist_ok=True)
        temporary.write_bytes(content)
        os.replace(temporary, path)
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}") from None
