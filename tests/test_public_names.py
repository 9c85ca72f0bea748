"""The front door: what `import recrawl` offers, and that it loads nothing until asked."""

from __future__ import annotations

import ast
import doctest
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

import recrawl

NAMES = [
    *("Crawl", "EvolutionSettings", "Measure", "Memory", "Outcome", "Plan", "Policy", "RecordedWorld", "Recording"),
    *("Scorer", "Setting", "TopK", "Visits", "World"),
    *("InputError", "OutputError", "PolicyError", "RecordingError", "RecrawlError", "StoreError"),
    *("add_measure", "add_policy", "check_policy", "compare", "crawl", "diff", "evolve_formula", "make_measure"),
    *("make_measures", "make_policy", "read_page", "run_cycle", "synthesize", "write_recording"),
]


def test_the_public_names() -> None:
    """These names, and no others, are what users may rely on; each is there, and `dir` lists it."""
    assert sorted(recrawl.__all__) == sorted(NAMES)
    assert set(NAMES) <= set(dir(recrawl))
    for name in NAMES:
        assert getattr(recrawl, name).__doc__, f"{name} has no docstring"
    with pytest.raises(AttributeError, match="nothing"):
        recrawl.nothing  # noqa: B018


def test_the_lazy_names_are_those_that_type_checkers_see() -> None:
    """The names under TYPE_CHECKING, which mypy and editors read, come from the same modules as those at run time."""
    tree = ast.parse(Path(recrawl.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {alias.name: part.module for part in block.body if isinstance(part, ast.ImportFrom) for alias in part.names}
    assert typed == {name: f"recrawl.{module}" for name, module in recrawl._MODULE.items()}


def test_importing_loads_nothing() -> None:
    """`import recrawl` takes under 0.15 s and brings neither numpy nor any other package along."""
    code = "import sys, time; t = time.process_time(); import recrawl; print(time.process_time() - t, *sys.modules)"
    took, *modules = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert float(took) < 0.15
    assert not {"numpy", "numba", "scipy", "pyarrow", "rich"} & set(modules)


@pytest.mark.parametrize("module", sorted({recrawl._MODULE[name] for name in NAMES} | {"spans"}))
def test_doctests(module: str) -> None:
    """The examples in the docstrings of the public names say what happens."""
    assert doctest.testmod(import_module(f"recrawl.{module}")).failed == 0


def test_python_m_recrawl() -> None:
    """`python -m recrawl` is the command line."""
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "recrawl", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"recrawl {recrawl.__version__}\n"
    assert time.monotonic() - began < 10
