"""Read settings from TOML with type and range checks; an error is one line that names the key and its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from recrawl.errors import InputError

MAX_BYTES = 1 << 20
MAX_PATTERN = 1_000  # characters of a regular expression
MAX_NUMBER = 1e15
ABOVE_ZERO = frozenset(
    {"max_body_bytes", "connect_timeout_s", "first_byte_timeout_s", "deadline_s", "max_robots_bytes", "connections"}
    | {"max_header_bytes", "max_headers", "max_field_bytes", "audit_every", "breaker_failures", "bomb_ratio"}
    | {"segment_bytes", "segment_s"}
)
_HOST = re.compile(r"(\*\.)?[^\s/:*?#@\[\]]+|\[[0-9a-fA-F:.]+\]|[0-9a-fA-F:.]+")


@dataclass(frozen=True)
class SettingsFile:
    """A settings file: its text, to find the line of a key, and its tables."""

    path: Path
    text: str
    tables: dict[str, Any]
    nth: int = 0  # which of the sections of the same name is read: [[site]]

    def within(self, nth: int) -> SettingsFile:
        """Return the same file, for the nth section (from 0) of those with one name."""
        return replace(self, nth=nth)

    @classmethod
    def read(cls, path: Path) -> SettingsFile:
        """Read the file; InputError where that cannot be done."""
        try:
            raw = path.read_bytes()
            if len(raw) > MAX_BYTES:
                raise InputError(f"{path}: {len(raw)} bytes are too many for settings")
            return cls.of_text(path, raw.decode())
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}") from None
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: {error}") from None

    @classmethod
    def of_text(cls, path: Path, text: str) -> SettingsFile:
        """Parse the text of a settings file that is, or might be, at a path; InputError where that cannot be done."""
        try:
            return cls(path, text, tomllib.loads(text))
        except RecursionError:
            raise InputError(f"{path}: nested too deeply") from None
        except ValueError as error:  # TOML, and numbers of thousands of digits
            raise InputError(f"{path}: {str(error).splitlines()[0]}") from None

    def wrong(self, key: str, why: str) -> InputError:
        """Return an error that names the key and, where it can be found, its line, or that of the table it is in."""
        line = self._line(key) or self._line(key.rpartition(".")[0])
        return InputError(f"{self.path}{'' if line is None else f', line {line}'}: {key} {why}")

    def _line(self, key: str) -> int | None:
        section, _, name = key.rpartition(".")
        here, seen = "", -1
        for number, line in enumerate(self.text.splitlines(), 1):
            if head := re.match(r"\s*(\[+)([^\]]+)\]+\s*(?:#.*)?$", line):
                here = head[2].strip()
                seen += head[1] == "[["
                if here == key and (head[1] == "[" or seen == self.nth):
                    return number
            elif here.partition(".")[0] == "site" and seen != self.nth:
                continue
            elif here == section and re.match(rf"\s*\"?{re.escape(name)}\"?\s*[=.]", line):
                return number
        return None

    def section(self, within: Mapping[str, Any], key: str) -> dict[str, Any]:
        """Return a table of the file, empty where it is not there."""
        table = within.get(key.rpartition(".")[2], {})
        if not isinstance(table, dict):
            raise self.wrong(key, f"must be a section, [{key}], not {_shown(table)}")
        return dict(table)

    def only(self, prefix: str, table: Mapping[str, Any], known: set[str]) -> None:
        """Refuse settings that do not exist."""
        for name in sorted(table.keys() - known):
            raise self.wrong(f"{prefix}{name}", f"is an unknown setting; known are {', '.join(sorted(known))}")

    def values(self, prefix: str, table: Mapping[str, Any], kind: Any, names: set[str]) -> dict[str, Any]:
        """Return a section's values, each of the type of that dataclass's default."""
        self.only(prefix, table, names)
        defaults = {field.name: field.default for field in fields(kind)}
        return {name: self.value(f"{prefix}{name}", value, defaults[name]) for name, value in table.items()}

    def value(self, key: str, value: Any, default: Any) -> Any:
        """Return a value of the default's type: a switch, a number of at least 0, a text, a list of texts or pairs."""
        name = key.rpartition(".")[2]
        if isinstance(default, bool):
            if not isinstance(value, bool):
                raise self.wrong(key, f"must be true or false, not {_shown(value)}")
        elif isinstance(default, (int, float)):
            return self._number(key, value, default, above_zero=name in ABOVE_ZERO)
        elif name == "connect_to":
            return self.pairs(key, value)
        elif isinstance(default, tuple):
            return self.texts(key, value)
        elif not isinstance(value, str):
            raise self.wrong(key, f"must be a text in quotes, not {_shown(value)}")
        elif default is None:
            if "\0" in value:
                raise self.wrong(key, f"must be the name of a file, not {_shown(value)}")
            return self.path.parent / value if value else None  # named from the crawl's folder
        return value

    def _number(self, key: str, value: Any, default: float, *, above_zero: bool) -> float | int:
        whole = isinstance(default, int)
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
            raise self.wrong(key, f"must be a {'whole ' if whole else ''}number, not {_shown(value)}")
        if not (value > 0 if above_zero else value >= 0) or not value <= MAX_NUMBER:
            raise self.wrong(key, f"must be {'above' if above_zero else 'at least'} 0, not {_shown(value)}")
        return int(value) if whole else float(value)

    def texts(self, key: str, value: Any) -> tuple[str, ...]:
        """Return a list of texts."""
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.wrong(key, f'must be a list of texts, such as ["example.org"], not {_shown(value)}')
        return tuple(value)

    def pairs(self, key: str, value: Any) -> tuple[tuple[str, str], ...]:
        """Return a list of pairs of texts."""
        good = isinstance(value, list) and all(
            isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair) for pair in value
        )
        if not good:
            raise self.wrong(key, f'must be a list of pairs, such as [["*.test", "127.0.0.1"]], not {_shown(value)}')
        return tuple((one, other) for one, other in value)

    def hosts(self, key: str, value: Any, *, patterns: bool = False) -> tuple[str, ...]:
        """Return a list of hosts or whole domains, or of shell patterns of hosts."""
        names = self.texts(key, value)
        for name in names:
            if not _HOST.fullmatch(name.replace("*", "x") if patterns else name):
                raise self.wrong(key, f"must hold hosts such as example.org or *.example.org, not {_shown(name)}")
        return names

    def patterns(self, key: str, value: Any) -> tuple[re.Pattern[str], ...]:
        """Return a list of regular expressions."""
        compiled = []
        for text in self.texts(key, value):
            try:
                if len(text) > MAX_PATTERN:
                    raise ValueError(f"longer than {MAX_PATTERN} characters")
                compiled.append(re.compile(text))
            except (re.error, ValueError, OverflowError, RecursionError) as error:
                raise self.wrong(key, f"cannot use the expression {_shown(text)}: {error}") from None
        return tuple(compiled)


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        text = "a number far too long"
    return text if len(text) <= 60 else text[:57] + "..."
