"""Messages and calls of the URLFrontier protocol, made at run time from urlfrontier.proto: nothing is generated."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

FILE = Path(__file__).with_name("urlfrontier.proto")
PACKAGE = "urlfrontier"
SCALARS = {"string": 9, "uint32": 13, "uint64": 4, "bool": 8}  # FieldDescriptorProto.Type
MESSAGE, ENUM, ONE, MANY = 11, 14, 1, 3
_WORDS = re.compile(r"//[^\n]*|\"[^\"]*\"|[\w.]+|[{}();=<>,]")
_RPC = re.compile(r"rpc (\w+)\((stream )?(\w+)\) returns \((stream )?(\w+)\)")


class Call(NamedTuple):
    """A call of the service: its name, its messages, and which of them are streams."""

    name: str
    asked: str
    answered: str
    asks_many: bool
    answers_many: bool


def calls() -> list[Call]:
    """Return the calls of the service."""
    found = _RPC.findall(FILE.read_text(encoding="utf-8"))
    return [Call(name, asked, answered, bool(many), bool(stream)) for name, many, asked, stream, answered in found]


@cache
def messages() -> Any:
    """Return the classes of all messages, by name."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    text = FILE.read_text(encoding="utf-8")
    words = [word for word in _WORDS.findall(text[text.index("message ") :]) if not word.startswith("//")]
    file = descriptor_pb2.FileDescriptorProto(name="recrawl/urlfrontier.proto", package=PACKAGE, syntax="proto3")
    while words:
        assert words.pop(0) == "message", "only messages follow the service"
        _read_message(words, file.message_type.add(), f".{PACKAGE}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    names = [each.name for each in file.message_type]
    found = {name: pool.FindMessageTypeByName(f"{PACKAGE}.{name}") for name in names}
    return SimpleNamespace(**{name: message_factory.GetMessageClass(each) for name, each in found.items()})


def _read_message(words: list[str], message: Any, scope: str) -> None:
    """Read `Name { ... }` into a descriptor."""
    message.name = words.pop(0)
    own = f"{scope}.{message.name}"
    _expect(words, "{")
    while words[0] != "}":
        if words[0] == "enum":
            words.pop(0)
            enum = message.enum_type.add(name=words.pop(0))
            _expect(words, "{")
            while words[0] != "}":
                enum.value.add(name=words[0], number=int(words[2]))
                del words[:4]
            words.pop(0)
        elif words[0] == "oneof":
            message.oneof_decl.add(name=words[1])
            del words[:3]
            while words[0] != "}":
                _read_field(words, message, own).oneof_index = len(message.oneof_decl) - 1
            words.pop(0)
        else:
            _read_field(words, message, own)
    words.pop(0)
    for field in message.field:  # a field that is optional is alone in a oneof, after all others
        if field.proto3_optional:
            message.oneof_decl.add(name=f"_{field.name}")
            field.oneof_index = len(message.oneof_decl) - 1


def _read_field(words: list[str], message: Any, own: str) -> Any:
    """Read `[repeated|optional] type name = number;` or a map."""
    word = words.pop(0)
    if word == "map":
        _expect(words, "<")
        key, _, value, _ = (words.pop(0) for _ in range(4))
        name = words[0]
        entry = message.nested_type.add(name=f"{name[0].upper()}{name[1:]}Entry")
        entry.options.map_entry = True
        for number, (part, kind) in enumerate((("key", key), ("value", value)), 1):
            _set_type(entry.field.add(name=part, number=number, label=ONE), kind, own, message)
        field = message.field.add(label=MANY, type=MESSAGE, type_name=f"{own}.{entry.name}")
    else:
        kind = words.pop(0) if word in ("repeated", "optional") else word
        field = message.field.add(label=MANY if word == "repeated" else ONE, proto3_optional=word == "optional")
        _set_type(field, kind, own, message)
    field.name, field.number = words[0], int(words[2])
    del words[:4]
    return field


def _set_type(field: Any, kind: str, own: str, message: Any) -> None:
    if kind in SCALARS:
        field.type = SCALARS[kind]
        return
    inner = any(enum.name == kind for enum in message.enum_type)
    field.type = ENUM if inner or "." in kind else MESSAGE
    field.type_name = f"{own}.{kind}" if inner else f".{PACKAGE}.{kind}"


def _expect(words: list[str], word: str) -> None:
    found = words.pop(0)
    assert found == word, f"{word!r} is missing in {FILE.name}, there is {found!r}"
