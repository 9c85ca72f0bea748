"""Machine code of earlier runs is taken only while it is right."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from recrawl.columns import FloatArray
from recrawl.compiled import KEPT_DAYS, digest, kernel, ufunc
from support import forked

CALLEE = """from recrawl.compiled import kernel
from tiny.constants import STEP

@kernel
def raised(x):
    return x + STEP
"""
CALLER = """from recrawl.compiled import kernel
from tiny.callee import raised

@kernel(error_model="numpy")
def twice(x):
    return raised(raised(x))
"""
NO_BYTECODE = "import sys; sys.dont_write_bytecode = True; "  # sources of one size and second are taken for the same
ASK = "from tiny.caller import twice; print(twice(1), sum(twice.stats.cache_hits.values()))"


def write_package(root: Path, step: int) -> None:
    package = root / "tiny"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").touch()
    (package / "constants.py").write_text(f"STEP = {step}\n")
    (package / "callee.py").write_text(CALLEE)
    (package / "caller.py").write_text(CALLER)


def ask(root: Path, cache: Path, said: str = ASK) -> list[int]:
    """What `twice(1)` is in a new process, and whether its machine code was there already."""
    path = os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = forked.python("-c", NO_BYTECODE + said, RECRAWL_CACHE=str(cache), PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]


def test_an_edited_callee_is_compiled_anew(tmp_path: Path) -> None:
    """A kernel whose file is the same runs new code after an edit of a module two imports away, and keeps the old."""
    cache = tmp_path / "cache"
    write_package(tmp_path, step=1)
    assert ask(tmp_path, cache) == [3, 0]
    assert ask(tmp_path, cache) == [3, 1]
    write_package(tmp_path, step=100)
    assert ask(tmp_path, cache) == [201, 0]
    write_package(tmp_path, step=1)
    assert ask(tmp_path, cache) == [3, 1]


def test_trees_with_different_sources_have_different_folders(tmp_path: Path) -> None:
    """Two copies of a package share a digest as long as their sources are the same."""
    for tree, step in (("a", 1), ("b", 1), ("c", 2)):
        write_package(tmp_path / tree, step)
    a, b, c = (digest("tiny.caller", str(tmp_path / tree / "tiny" / "caller.py")) for tree in "abc")
    assert a == b != c
    cache = tmp_path / "cache"
    assert ask(tmp_path / "a", cache) == [3, 0]
    assert ask(tmp_path / "c", cache) == [5, 0]
    assert len(list((cache / "kernels").glob("tiny.caller-*"))) == 2


def test_relative_imports_and_submodules_count(tmp_path: Path) -> None:
    """`from . import constants` and `import tiny.constants` are seen as well as `from tiny.constants import STEP`."""
    for line in ("from . import constants", "from .constants import (\n    STEP,\n)", "import os, tiny.constants"):
        found = []
        for step in (1, 2):
            write_package(tmp_path, step)
            (tmp_path / "tiny" / "caller.py").write_text(line + "\n")
            found.append(digest("tiny.caller", str(tmp_path / "tiny" / "caller.py")))
            # the cache of file digests belongs to one process: sources do not change while it runs
            _forget()
        assert found[0] != found[1], line


def test_without_a_place_to_write_kernels_still_run(tmp_path: Path) -> None:
    """Where the cache cannot be made, each process compiles for itself and leaves nothing in the tree."""
    write_package(tmp_path, step=1)
    blocked = tmp_path / "file"
    blocked.touch()
    assert ask(tmp_path, blocked) == [3, 0]
    assert ask(tmp_path, blocked) == [3, 0]
    assert not list(tmp_path.rglob("*.nbi"))


def test_on_a_full_disk_kernels_still_run(tmp_path: Path) -> None:
    """Where machine code cannot be written to its end, the kernel has been compiled and runs."""
    write_package(tmp_path, step=1)
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000)); "
    assert ask(tmp_path, tmp_path / "cache", full + ASK) == [3, 0]
    assert ask(tmp_path, tmp_path / "cache") == [3, 0]
    assert ask(tmp_path, tmp_path / "cache") == [3, 1]


def test_old_machine_code_is_deleted(tmp_path: Path) -> None:
    """Folders that no process used for a month go, those in use stay."""
    write_package(tmp_path, step=1)
    kernels = tmp_path / "cache" / "kernels"
    for name, days in (("old-1", KEPT_DAYS + 1), ("young-1", KEPT_DAYS - 1)):
        (kernels / name).mkdir(parents=True)
        at = time.time() - days * 86_400
        os.utime(kernels / name, (at, at))
    ask(tmp_path, tmp_path / "cache")
    assert not (kernels / "old-1").exists()
    assert (kernels / "young-1").exists()


def test_two_processes_may_fill_one_cache(tmp_path: Path) -> None:
    """Processes that start together on an empty cache both get the right answer."""
    write_package(tmp_path, step=1)
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    settings = os.environ | {"RECRAWL_CACHE": str(tmp_path / "cache"), "PYTHONPATH": path}
    both = [
        subprocess.Popen([sys.executable, "-c", ASK], env=settings, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    assert [process.communicate(timeout=120)[0].split()[0] for process in both] == ["3", "3"]


def test_kernels_and_ufuncs_compute() -> None:
    """A kernel is called as the function that it was; a ufunc takes arrays."""

    @kernel
    def total(values: FloatArray) -> float:
        out = 0.0
        for value in values:
            out += value
        return out

    @ufunc
    def half(x: float) -> float:
        return x / 2

    assert total(np.arange(4.0)) == 6.0
    assert half(np.array([1.0, 4.0])).tolist() == [0.5, 2.0]


def test_the_same_division_is_compiled_by_the_options_of_each_kernel() -> None:
    """What numba found out about `a // b` for one kernel does not hold for one with other options."""

    @kernel
    def checked(a: int, b: int) -> int:
        return a // b

    @kernel(error_model="numpy")
    def unchecked(a: int, b: int) -> int:
        return a // b

    @kernel
    def again(a: int, b: int) -> int:
        return a // b + unchecked(a, b)

    assert checked(7, 2) == unchecked(7, 2) == 3
    assert again(7, 2) == 6
    assert unchecked(7, 0) == 0
    for division in (checked, again):
        with pytest.raises(ZeroDivisionError):
            division(7, 0)


def _forget() -> None:
    from recrawl import compiled

    compiled._read.cache_clear()
