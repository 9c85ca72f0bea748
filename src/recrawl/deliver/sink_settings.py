"""[[deliver]] in recrawl.toml: which events go where, checked before anything is sent."""

from __future__ import annotations

import base64
import binascii
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

from recrawl.deliver.sink import RETRY_S, Sink, SinkSetting, sinks
from recrawl.errors import InputError, UnknownNameError
from recrawl.live.feed import read_contents, read_types
from recrawl.spans import days_of

_KINDS: dict[str, Any] = {
    "name": str, "to": str, "types": list, "with": list, "only": dict, "secret_file": str, "batch": int, "since": str,
    "retry": list, "timeout": str, "git": bool, "format": str,
}  # fmt: skip
_ONLY: dict[str, Any] = {"hosts": list, "contains": str, "significant": bool}
_SUFFIXES = {"markdown": ".md", "text": ".txt"}


def read_sinks(folder: Path) -> list[SinkSetting]:
    """Read and check the sinks of a crawl."""
    path = folder / "recrawl.toml"
    try:
        tables = tomllib.loads(path.read_text()).get("deliver", [])
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}") from None
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        raise InputError(f"{path}: deliver must be written as [[deliver]]")
    try:
        found = [_setting(folder, each) for each in tables]
        for name in ("name", "to"):
            values = [getattr(setting, name) for setting in found]
            if twice := {value for value in values if values.count(value) > 1}:
                raise InputError(f"two sinks have the same {name}: {sorted(twice)[0]!r}")
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return found


def sink_to(folder: Path, to: str, include: str | None) -> SinkSetting:
    """Return the sink that a command line names: `to` as in recrawl.toml, contents separated by commas."""
    contents = [part.strip() for part in include.split(",")] if include else []
    return _setting(folder, {"to": to, "with": contents})


def make_sink(setting: SinkSetting, state: str | None) -> Sink:
    """Make a sink, with what it kept at the last delivery."""
    for module in ("jsonl_sink", "webhook_sink", "command_sink", "files_sink", "parquet_sink"):
        import_module(f"recrawl.deliver.{module}")
    try:
        return sinks[setting.scheme].make(setting, state)
    except UnknownNameError as error:
        known = ", ".join(f"{entry.name}:" for entry in sinks)
        raise InputError(f"deliver {setting.name!r}: {error}; there are {known}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"deliver {setting.name!r}: {setting.to!r}: {_line(error)}") from None
    except InputError as error:
        raise InputError(f"deliver {setting.name!r}: {error}") from None


def _line(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else " ".join(str(error).split())


def _setting(folder: Path, table: dict[str, Any]) -> SinkSetting:
    name = table.get("name", table.get("to"))
    _typed(f"deliver {name!r}", table, _KINDS)
    only = table.get("only", {})
    _typed(f"deliver {name!r}: only", only, _ONLY)
    if not isinstance(name, str) or not name or ":" not in table.get("to", ""):
        raise InputError(f'deliver {name!r} needs to = "jsonl:PATH", "webhook:URL", "command:...", "files:DIR" or such')
    try:
        return SinkSetting(
            name=name,
            to=table["to"],
            folder=folder,
            types=tuple(read_types(table.get("types", ("new", "changed", "gone")))),
            include=tuple(read_contents(table.get("with", ()))),
            hosts=tuple(only.get("hosts", ())),
            contains=only.get("contains", ""),
            significant=only.get("significant", False),
            secret=_secret(folder / table["secret_file"]) if "secret_file" in table else None,
            batch=_positive(table.get("batch", 0)),
            since=table.get("since"),
            retry_s=tuple(days_of(span) * 86_400 for span in table["retry"]) if "retry" in table else RETRY_S,
            timeout_s=days_of(table.get("timeout", "20s")) * 86_400,
            git=table.get("git", False),
            suffix=_suffix(table.get("format", "markdown")),
        )
    except InputError as error:
        raise InputError(f"deliver {name!r}: {error}") from None


def _typed(where: str, table: dict[str, Any], kinds: dict[str, Any]) -> None:
    for name, value in table.items():
        if name not in kinds:
            raise InputError(f"{where}: unknown setting {name}; known are {', '.join(sorted(kinds))}")
        if not isinstance(value, kinds[name]) or isinstance(value, bool) != (kinds[name] is bool):
            raise InputError(f"{where}: {name} cannot be {value!r}")
        if isinstance(value, list) and not all(isinstance(each, str) for each in value):
            raise InputError(f"{where}: {name} must be a list of texts")


def _positive(batch: int) -> int:
    if batch < 0:
        raise InputError(f"batch cannot be {batch}")
    return batch


def _suffix(name: str) -> str:
    if name not in _SUFFIXES:
        raise InputError(f"format cannot be {name!r}: there are {', '.join(_SUFFIXES)}")
    return _SUFFIXES[name]


def _secret(path: Path) -> bytes:
    """Read a secret of Standard Webhooks: 24 to 64 bytes in Base64, usually after `whsec_`."""
    try:
        text = path.read_text().strip().removeprefix("whsec_")
        secret = base64.b64decode(text, validate=True)
    except OSError as error:
        raise InputError(f"secret_file {path}: {error.strerror}") from None
    except (binascii.Error, ValueError):
        raise InputError(f"secret_file {path} must hold whsec_ and Base64") from None
    if not 24 <= len(secret) <= 64:
        raise InputError(f"secret_file {path} must hold 24 to 64 bytes in Base64, not {len(secret)}")
    return secret
