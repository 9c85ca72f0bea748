"""The syntax trees of the package's modules, each parsed once per process."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parent.parent.parent / "src" / "recrawl"


@cache
def modules() -> dict[Path, ast.Module]:
    """All modules of src."""
    return {path: ast.parse(path.read_text()) for path in sorted(SOURCE.rglob("*.py"))}


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a module."""
    return tuple(ast.walk(modules()[path]))
