"""The arguments of a policy: the words of a spec as the types that its maker asks for, and back.

A maker is a function `make(setting, ...)`; the names, types and defaults of its further parameters are what a user
may write in a spec. Types: float, int, bool (yes or no), Literal[...], str (a path or another policy's spec), and the
two below.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from recrawl.errors import InputError
from recrawl.spans import days_of, share_of, span_of

Days = Annotated[float, "days"]  # a span of time: 60s, 90min, 12h, 7d or 2w; a bare number is days
Share = Annotated[float, "share"]  # 0.1 or 10%

_YES, _NO = ("yes", "true", "on", "1"), ("no", "false", "off", "0")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a maker."""

    name: str
    kind: Any
    default: Any

    @property
    def required(self) -> bool:
        """Whether the user must give a value."""
        return self.default is inspect.Parameter.empty

    def __str__(self) -> str:
        return self.name if self.required else f"{self.name}={show(self.default, self.kind)}"


def parameters(make: Callable[..., Any]) -> list[Parameter]:
    """What a spec may say to this maker, in order."""
    kinds = get_type_hints(make, include_extras=True)
    found = list(inspect.signature(make).parameters.values())[1:]
    return [Parameter(p.name, kinds.get(p.name, str), p.default) for p in found]


def bind(make: Callable[..., Any], args: tuple[str, ...], options: dict[str, str]) -> dict[str, Any]:
    """Match the words of a spec to the maker's parameters; ValueError says what does not fit."""
    known = parameters(make)
    if len(args) > len(known):
        raise ValueError(f"too many arguments: {', '.join(args[len(known) :])}")
    words = {parameter.name: word for parameter, word in zip(known, args, strict=False)}
    for name, word in options.items():
        if name not in {parameter.name for parameter in known}:
            raise ValueError(f"no parameter {name!r}")
        if name in words:
            raise ValueError(f"{name} is given twice")
        words[name] = word
    missing = [p.name for p in known if p.required and p.name not in words]
    if missing:
        raise ValueError(f"{missing[0]} is missing")
    return {p.name: read(words[p.name], p) for p in known if p.name in words}


def read(word: str, parameter: Parameter) -> Any:
    """Turn a word into the parameter's type; ValueError says what it must be."""
    name, kind = parameter.name, parameter.kind
    if get_origin(kind) is Literal:
        if word not in get_args(kind):
            raise ValueError(f"{name} must be one of {', '.join(get_args(kind))}, not {word!r}")
        return word
    if kind is bool:
        if word.lower() not in _YES + _NO:
            raise ValueError(f"{name} must be yes or no, not {word!r}")
        return word.lower() in _YES
    if kind == Days:
        return _parsed(days_of, word, f"{name} must be a positive span of time such as 12h, 7d or 2w, not {word!r}")
    if kind == Share:
        return _parsed(share_of, word, f"{name} must be a share from 0 to 1, not {word!r}")
    if kind in (float, int):
        value = _number(word)
        if math.isnan(value) or (kind is int and value != int(value)):
            raise ValueError(f"{name} must be a {'whole ' if kind is int else ''}number, not {word!r}")
        return kind(value)
    return word


def show(value: Any, kind: Any) -> str:
    """Write a value as `read` reads it."""
    if kind is bool:
        return "yes" if value else "no"
    if kind == Days:
        return span_of(value)
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def spell(name: str, make: Callable[..., Any], values: dict[str, Any]) -> str:
    """Write the spec that makes this policy again, leaving out what is the default."""
    parts = []
    for parameter in parameters(make):
        value = values.get(parameter.name, parameter.default)
        if parameter.required:
            parts.append(show(value, parameter.kind))
        elif value != parameter.default:
            parts.append(f"{parameter.name}={show(value, parameter.kind)}")
    return f"{name}({', '.join(parts)})" if parts else name


def _number(word: str) -> float:
    """Read a finite number; NaN if the word is not one."""
    try:
        value = float(word)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def _parsed(read: Callable[[str], float], word: str, message: str) -> float:
    try:
        return read(word)
    except InputError:
        raise ValueError(message) from None
