"""Numerical libraries in one thread: the last digits of their sums depend on the number of threads.

BLAS shares its number of threads among all threads of a process, OpenMP has one per thread. So BLAS is limited from
the first to enter until the last has left, as on a worker that runs several pieces of work at once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_lock = threading.Lock()
_inside = 0
_before: list[tuple[Any, int]] = []  # BLAS libraries, each with its number of threads outside


@contextmanager
def one_thread(*, openmp: bool = True) -> Iterator[None]:
    """Let BLAS, and OpenMP unless told otherwise, compute in one thread.

    BLAS alone is left as it is where threadpoolctl is missing: the policies with such sums need the same extra.
    """
    global _inside
    import scipy.linalg  # noqa: F401, only libraries that are loaded can be limited

    try:
        from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped,unused-ignore]
    except ModuleNotFoundError:
        if openmp:
            raise
        yield
        return
    if openmp:
        import sklearn.ensemble  # noqa: F401, the same
    found = ThreadpoolController()
    with _lock:
        _inside += 1
        if _inside == 1:
            _before[:] = _limited(found.select(user_api="blas"))
    mine = _limited(found.select(user_api="openmp")) if openmp else []
    try:
        yield
    finally:
        _restore(mine)
        with _lock:
            _inside -= 1
            if _inside == 0:
                _restore(_before)


def _limited(found: Any) -> list[tuple[Any, int]]:
    before = [(library, library.get_num_threads()) for library in found.lib_controllers]
    for library, _ in before:
        _set(library, 1)
    return before


def _restore(before: list[tuple[Any, int]]) -> None:
    for library, threads in before:
        _set(library, threads)


def _set(library: Any, threads: int) -> None:
    """Set it from whatever thread: newer threadpoolctl lets only the thread that set OpenBLAS first set it again."""
    getattr(library, "_real_set_num_threads", library.set_num_threads)(threads)
