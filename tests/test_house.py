"""The rules of the house: names are used once, functions are short, and everything public says what it is."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from support.source_trees import SOURCE, modules, nodes

TESTS = Path(__file__).parent
LONGEST = 60  # lines of a function, kernels apart
KERNELS = ("njit", "vectorize", "kernel", "ufunc")  # decorators of compiled functions, which cannot always be divided
Function = ast.FunctionDef | ast.AsyncFunctionDef


def everywhere(kind: type[ast.AST] | tuple[type[ast.AST], ...]) -> Iterator[tuple[str, ast.AST]]:
    """All nodes of a kind in src, each with its place."""
    for path in modules():
        for node in nodes(path):
            if isinstance(node, kind):
                yield f"{path.relative_to(SOURCE)}:{getattr(node, 'lineno', 1)}", node


def twice(names: list[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def public(body: list[ast.stmt]) -> Iterator[Function | ast.ClassDef]:
    """Classes and functions that others may use, and the methods of such classes."""
    for node in body:
        if isinstance(node, Function) and any(ast.unparse(mark) == "overload" for mark in node.decorator_list):
            continue  # the function itself says it
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public(node.body)


def test_no_two_modules_have_one_name() -> None:
    """A module's name alone says which it is."""
    assert twice([path.stem for path in modules() if not path.stem.startswith("__")]) == []


def test_no_two_classes_have_one_name() -> None:
    """A class's name alone says which it is."""
    assert twice([node.name for _, node in everywhere(ast.ClassDef) if isinstance(node, ast.ClassDef)]) == []


def test_functions_are_short() -> None:
    """No function but a compiled kernel has more than sixty lines."""
    long = [
        f"{place} {node.name}"
        for place, node in everywhere((ast.FunctionDef, ast.AsyncFunctionDef))
        if isinstance(node, Function)
        and (node.end_lineno or 0) - node.lineno >= LONGEST
        and not any(word in ast.unparse(mark) for mark in node.decorator_list for word in KERNELS)
    ]
    assert long == []


def test_everything_public_says_what_it_is() -> None:
    """Modules, public classes and public functions have a docstring whose first line is not empty."""
    silent = [str(path.relative_to(SOURCE)) for path, tree in modules().items() if not ast.get_docstring(tree)]
    for path, tree in modules().items():
        for node in public(tree.body):
            text = ast.get_docstring(node, clean=False) or ""
            if not text.splitlines()[:1] or not text.splitlines()[0].strip():
                silent.append(f"{path.relative_to(SOURCE)}:{node.lineno} {node.name}")
    assert silent == []


def test_tests_lie_where_their_modules_do() -> None:
    """A test's folder is that of the package it tests; what a hostile web does to all packages has its own."""
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    assert [str(folder) for folder in folders if not (SOURCE / folder).is_dir()] == ["hostile"]
