"""Where independent pieces of work run: here, in processes of this machine, on a Dask cluster, or on a joblib backend.

An engine is a `concurrent.futures` executor and the number of pieces that it works on at once. Whoever uses it puts
results in order, so that they are the same on every engine. What a Dask worker had under way when it died is run again.
"""

from __future__ import annotations

import hashlib
import pickle
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from recrawl.errors import InputError
from recrawl.extras import extras_named

LOCAL = "local"
DASK = "dask://"
JOBLIB = "joblib:"
CONNECT_S = 10.0  # that a scheduler has to answer in
BATCH = 4  # pieces per process that a joblib backend gets at once
SENT_BYTES = 100_000  # of a shared value that is sent with every piece of work

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Shared:
    """A value that many pieces of work need: sent or read once per process."""

    key: str
    data: bytes = field(default=b"", repr=False)
    path: Path | None = None  # of a file, where all processes are on this machine

    def load(self) -> Any:
        """Return the value; the one loaded last is kept, for each thread its own: workers may have several."""
        if getattr(_loaded, "key", None) != self.key:
            _loaded.value = pickle.loads(self._bytes())
            _loaded.key = self.key
        return _loaded.value

    def _bytes(self) -> bytes:
        if self.path is not None:
            return self.path.read_bytes()
        if self.data:
            return self.data
        from distributed import get_client

        return bytes(get_client().get_metadata([self.key]))


_loaded = threading.local()


class InThisProcess(Executor):
    """Runs each piece of work when it is handed in."""

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """Run it."""
        future: Future[Result] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@dataclass
class Engine:
    """Runs pieces of work, `width` at once."""

    name: str
    executor: Executor
    width: int
    folder: Path | None = None  # for shared values, where all processes are on this machine
    keep: Callable[[str, bytes], None] | None = None  # where workers ask for large values, once each

    def share(self, value: object) -> Shared:
        """Make a value known to all processes."""
        data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
        key = hashlib.sha256(data).hexdigest()
        if self.folder is not None:
            path = self.folder / key
            path.write_bytes(data)
            return Shared(key, path=path)
        if self.keep is None or len(data) <= SENT_BYTES:
            return Shared(key, data)
        self.keep(key, data)
        return Shared(key)

    def each(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[tuple[int, Result]]:
        """Yield number and result of every item as it is ready; items are taken only when there is room for them."""
        waiting: dict[Future[Result], int] = {}
        for number, item in enumerate(items):
            waiting[self._submit(work, item)] = number
            if len(waiting) >= self.width:
                yield from self._ready(waiting)
        while waiting:
            yield from self._ready(waiting)

    def ordered(self, work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Return the results in the order of the items."""
        return [result for _, result in sorted(self.each(work, items), key=lambda pair: pair[0])]

    def _submit(self, work: Callable[[Item], Result], item: Item) -> Future[Result]:
        with self._one_line():
            return self.executor.submit(work, item)

    def _ready(self, waiting: dict[Future[Result], int]) -> Iterator[tuple[int, Result]]:
        done, _ = wait(waiting, return_when=FIRST_COMPLETED)
        for future in sorted(done, key=waiting.__getitem__):
            with self._one_line():
                result = future.result()
            yield waiting.pop(future), result

    @contextmanager
    def _one_line(self) -> Iterator[None]:
        try:
            yield
        except BrokenProcessPool:
            raise InputError("a process of the engine died, perhaps for want of memory; take fewer --jobs") from None
        except Exception as error:
            if type(error).__name__ == "KilledWorker":  # of distributed, which may not be installed
                raise InputError(f"{self.name}: several workers died at the same piece of work: {error}") from None
            raise


@contextmanager
def open_engine(name: str = LOCAL, jobs: int = 1) -> Iterator[Engine]:
    """Open `local` with so many processes, `dask://HOST:PORT` or `joblib:BACKEND`, with as many as there are.

    More than one job is the number of pieces that a joblib backend works on at once.
    """
    if name.startswith(DASK):
        with extras_named():
            from distributed import Client
        yield from _on_dask(Client, name)
    elif name.startswith(JOBLIB):
        yield from _by_joblib(name, jobs)
    elif name != LOCAL:
        raise InputError(f"unknown engine {name!r}; take {LOCAL}, {DASK}HOST:PORT or {JOBLIB}BACKEND")
    elif jobs == 1:
        yield Engine(name, InThisProcess(), 1)
    else:
        # Fresh processes rather than forks: a fork of a process with threads (Arrow, progress bars) may hang.
        with tempfile.TemporaryDirectory(prefix="recrawl-") as folder:
            pool = ProcessPoolExecutor(jobs, get_context("spawn"))
            try:
                yield Engine(name, pool, jobs, Path(folder))
            finally:
                pool.shutdown(cancel_futures=True)


def _on_dask(connect: Callable[..., Any], name: str) -> Iterator[Engine]:
    try:
        client = connect(f"tcp://{name.removeprefix(DASK)}", timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TypeError, AttributeError):
        raise InputError(f"no Dask scheduler answers at {name}") from None
    kept: list[str] = []

    def keep(key: str, data: bytes) -> None:
        kept.append(key)
        client.set_metadata([key], data)  # the scheduler outlives its workers

    try:
        threads = sum(client.nthreads().values())
        if not threads:
            raise InputError(f"the Dask scheduler at {name} has no workers")
        yield Engine(name, client.get_executor(pure=False, retries=2), threads + 1, keep=keep)
    finally:
        with suppress(Exception):  # of a scheduler that is gone
            for key in kept:
                client.set_metadata([key], None)
        client.close()


@dataclass
class JoblibEngine(Engine):
    """Hands pieces of work to a backend of joblib: loky, or one that a package brings, as Ray does."""

    backend: str = "loky"

    def each(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[tuple[int, Result]]:
        """Yield number and result of every item as it is ready."""
        from joblib import Parallel, delayed  # type: ignore[import-untyped,unused-ignore]

        numbered = enumerate(items)
        with Parallel(self.width, backend=self.backend) as run:  # as lists: not every backend can return one by one
            while batch := list(islice(numbered, BATCH * self.width)):
                yield from run(delayed(_numbered)(work, number, item) for number, item in batch)


def _numbered(work: Callable[[Item], Result], number: int, item: Item) -> tuple[int, Result]:
    return number, work(item)


def _by_joblib(name: str, jobs: int) -> Iterator[Engine]:
    with extras_named():
        from joblib import effective_n_jobs, parallel_config
    backend = name.removeprefix(JOBLIB)
    try:
        if backend == "ray":
            import ray  # type: ignore[import-not-found,unused-ignore]
            from ray.util.joblib import register_ray  # type: ignore[import-not-found,unused-ignore]

            ray.init(ignore_reinit_error=True, log_to_driver=False)  # RAY_ADDRESS names a cluster that runs
            register_ray()
        with parallel_config(backend):
            width = effective_n_jobs(-1) if jobs == 1 else jobs
    except ImportError:
        raise InputError("the engine joblib:ray needs the package ray, which is not installed") from None
    except (ValueError, TypeError, ConnectionError) as error:
        raise InputError(f"{name}: {' '.join(str(error).split())[:200]}") from None
    yield JoblibEngine(name, InThisProcess(), width, backend=backend)
