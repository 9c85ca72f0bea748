"""Kernels: functions that numba compiles, and the machine code of earlier runs that is safe to take.

numba keeps machine code as long as the function's own file stays the same, though an edit of a function or constant
that it takes from another file changes the machine code too. So the code of a module's kernels lies in a folder named
after a digest of that module, of every module that it imports (and those import) and of the versions of numba and
numpy: after an edit or an upgrade the name is another, and what is affected is compiled anew.

The folders are in $RECRAWL_CACHE, or recrawl in the user's cache directory ($XDG_CACHE_HOME, ~/.cache). Where nothing
can be written there, kernels are compiled in each process. Several processes may share the folders: numba writes each
file under another name and then renames it.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from types import FunctionType
from typing import Any, TypeVar, overload

import numba
import numpy as np
from numba.core import config

from recrawl import call_types

DAY_S = 86_400.0
KEPT_DAYS = 30.0  # machine code that nobody asked for in so many days is deleted
_BODY = re.compile(rb"^(?:@|def |class |async )", re.MULTILINE)  # where a module's imports have ended
_IMPORT = re.compile(rb"^(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|.*)|import[ \t]+([\w., \t]+))", re.MULTILINE)
_WORD = re.compile(rb"\w+")
_ROOM = 33_000  # slots of a frame: Python then takes 512 KB for the frames above it in one piece
_lock = Lock()
call_types.remember()

# In a kernel, `source[nth(i)]` is `source[i]` for an i that is never negative: numba asks first whether an index of
# another type is, and counts such from the end, which takes longer than to read the byte.
nth = np.uint64

Made = TypeVar("Made", bound=Callable[..., Any])


@overload
def kernel(function: Made) -> Made: ...


@overload
def kernel(**options: Any) -> Callable[[Made], Made]: ...


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function with numba at its first call; it runs without Python's global lock.

    Options are numba's: `error_model="numpy"` (no check for division by zero), `inline="always"`, `fastmath=True`.
    """
    if function is None:
        return lambda function: kernel(function, **options)
    from_python = _dispatcher(function, **options)
    from_kernels = cache(partial(_dispatcher, function, no_cpython_wrapper=True, **options))
    from_python.get_call_template = partial(_call_template, from_kernels)
    from_python.get_overload = lambda types: from_kernels().get_overload(types)
    return from_python


def _dispatcher(function: Callable[..., Any], **options: Any) -> Any:
    """Return what compiles a function per types of its arguments.

    What other kernels call is compiled apart, without a wrapper for Python: most kernels are never called from there.
    """
    with _machine_code_of(function, "no_cpython_wrapper" in options) as kept:
        made = numba.njit(cache=kept, nogil=True, no_cfunc_wrapper=True, **options)(function)
    made.compile = partial(_with_room, made.compile)
    made._cache.save_overload = partial(_save, made._cache.save_overload)
    return made


def borrowing(function: Made) -> Made:
    """Compile a kernel that makes no arrays: it does not count the references to those it is given.

    numba's count of references is two atomic steps per array and call, as much as reading a whole word. A kernel that
    borrows is called by other kernels, hundreds of times per page; what calls it owns the arrays.
    """
    made: Made = kernel(_nrt=False)(function)
    return made


def _call_template(from_kernels: Callable[[], Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Compile a kernel that another one calls for integers, not for each constant.

    numba meets `i = 0` first as the constant 0 and compiles every kernel that is called with i for it; once it has met
    `i += 1`, it compiles them all again for integers, and the first versions are never called.
    """
    plain = tuple(map(numba.types.unliteral, arguments))
    named = {name: numba.types.unliteral(value) for name, value in named.items()}
    return from_kernels().get_call_template(plain, named)


def _save(save: Callable[..., None], *arguments: Any) -> None:
    """Write machine code; where the disk is full, it is compiled anew by the next process."""
    with contextlib.suppress(OSError):
        save(*arguments)


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function."""
    return function(*arguments)


# Python keeps its frames in pieces of 16 KB. Where a call in a long loop begins a new piece, every round takes one from
# the system and gives it back: half a million times, a fifth of all CPU, when numba compiles the kernels that read a
# page. A piece is at least as large as its first frame.
_with_room = FunctionType(_call.__code__.replace(co_stacksize=_ROOM), globals())


def ufunc(function: Callable[..., Any]) -> Any:
    """Compile a function of numbers, at its first call, into one of arrays: a numpy ufunc."""
    with _machine_code_of(function) as kept:
        return numba.vectorize(cache=kept, nopython=True)(function)


@contextlib.contextmanager
def _machine_code_of(function: Callable[..., Any], for_kernels: bool = False) -> Iterator[bool]:
    """Have numba look for the machine code in the right folder; say whether there is one."""
    folder = _folder(function.__module__, function.__code__.co_filename)
    if folder and for_kernels:
        folder = os.path.join(folder, "called")
    with _lock:
        before = config.CACHE_DIR
        config.CACHE_DIR = folder or ""
        try:
            yield folder is not None
        finally:
            config.CACHE_DIR = before


def cache_root() -> Path:
    """Return the folder that holds all machine code."""
    chosen = os.environ.get("RECRAWL_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return (Path(chosen) if chosen else Path(home) / "recrawl") / "kernels"


@cache
def _folder(module: str, file: str) -> str | None:
    """Make the folder for the kernels of a module; None where it cannot be written."""
    try:
        root = cache_root()
        _prepare(root)
        folder = root / f"{module}-{digest(module, file)}"
        folder.mkdir(exist_ok=True)
        if time.time() - folder.stat().st_mtime > DAY_S:
            os.utime(folder)
    except (OSError, RuntimeError):  # RuntimeError: there is no home directory
        return None
    return str(folder)


@cache
def _prepare(root: Path) -> None:
    """Make the folder of all machine code; once a day delete in it what no process has used for KEPT_DAYS."""
    root.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=root).close()
    looked, now = root / "pruned", time.time()
    if looked.exists() and now - looked.stat().st_mtime < DAY_S:
        return
    looked.touch()
    for folder in root.iterdir():
        with contextlib.suppress(OSError):  # another process may be deleting it too
            if folder.is_dir() and now - folder.stat().st_mtime > KEPT_DAYS * DAY_S:
                shutil.rmtree(folder, ignore_errors=True)


def digest(module: str, file: str) -> str:
    """Return a digest of all that the machine code of a module's kernels depends on."""
    depth = module.count(".") + file.endswith("__init__.py")
    roots = {"recrawl": os.path.dirname(os.path.dirname(__file__)), module.split(".")[0]: _above(file, depth + 1)}
    seen: dict[str, bytes] = {}
    waiting = [os.path.abspath(file)]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen[path], imported = _read(path)
            waiting += _paths(path, imported, roots)
    total = blake2b(f"{numba.__version__} {np.__version__}".encode(), digest_size=12)
    for path in sorted(seen):
        total.update(os.path.basename(path).encode() + b"\0" + seen[path])
    return total.hexdigest()


@cache
def _read(path: str) -> tuple[bytes, list[tuple[str, tuple[str, ...]]]]:
    """Return the digest of a source file, and the modules and names that it imports at its top."""
    with open(path, "rb") as source:
        text = source.read()
    body = _BODY.search(text)
    imported = []
    for module, names, modules in _IMPORT.findall(text, 0, body.start() if body else len(text)):
        if module:
            imported.append((module.decode(), tuple(name.decode() for name in _WORD.findall(names))))
        imported += [(part.split()[0], ()) for part in modules.decode().split(",") if part.strip()]
    return blake2b(text).digest(), imported


def _paths(path: str, imported: list[tuple[str, tuple[str, ...]]], roots: dict[str, str]) -> Iterator[str]:
    """Return the source files of the imported modules, as far as they lie in the packages that are watched."""
    for module, names in imported:
        dots = len(module) - len(module.lstrip("."))
        parts = module[dots:].split(".") if module[dots:] else []
        if not dots and parts[0] not in roots:
            continue
        place = os.path.join(_above(path, dots) if dots else roots[parts[0]], *parts)
        found = _source(place)
        if found:
            yield found
        if found.endswith("__init__.py"):
            yield from filter(None, (_source(os.path.join(place, name)) for name in names))


@cache
def _source(place: str) -> str:
    """Return the file of the module or package at a place, or "" if there is none."""
    for file in (place + ".py", os.path.join(place, "__init__.py")):
        if os.path.isfile(file):
            return file
    return ""


def _above(path: str, levels: int) -> str:
    for _ in range(levels):
        path = os.path.dirname(path)
    return path
