"""models/policy.json: the policy that a crawl's own history favours. A name with numbers, never code."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from recrawl.errors import InputError, StoreError
from recrawl.live.directory import CrawlDirectory

FORMAT = 1
MAX_BYTES = 1 << 20
AUTO = "auto"


def path_of(directory: CrawlDirectory) -> Path:
    """Return where the choice is kept."""
    return directory.path / "models" / "policy.json"


def resolve(directory: CrawlDirectory, policy: str) -> str:
    """Return the policy that a setting means: `auto` is what was learnt, or else the best that needs no learning."""
    if policy != AUTO:
        return policy
    from recrawl.policies.catalogue import policies

    chosen = load(directory)
    if chosen is not None:
        return str(chosen["policy"])
    return "learned" if "learned" in policies else "bayes"


def load(directory: CrawlDirectory) -> dict[str, Any] | None:
    """Read the choice; None where nothing was learnt. Anything but our own JSON is refused."""
    path = path_of(directory)
    if not path.exists():
        return None
    from recrawl.policies.catalogue import make_policy  # only here: it loads every policy, and their kernels
    from recrawl.policy import Setting

    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError("too large")
        told = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(told, dict) or told.get("format") != FORMAT or not isinstance(told.get("policy"), str):
            raise ValueError("not a choice of this version")
        make_policy(told["policy"], Setting())
    except (OSError, ValueError, InputError) as wrong:
        raise StoreError(f"{path} cannot be used ({wrong}); delete it or run `recrawl learn`") from None
    return told


def save(directory: CrawlDirectory, choice: dict[str, Any]) -> None:
    """Write the choice, whole or not at all."""
    write(path_of(directory), (json.dumps({"format": FORMAT, **choice}, indent=2) + "\n").encode())


def write(path: Path, content: bytes) -> None:
    """Write a model, whole or not at all."""
    temporary = path.with_suffix(".part")
    try:
        path.parent.mkdir(exist_ok=True)
        temporary.write_bytes(content)
        os.replace(temporary, path)
    except OSError as wrong:
        raise StoreError(f"{path}: {wrong.strerror}") from None
