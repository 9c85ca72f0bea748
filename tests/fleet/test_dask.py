"""On a Dask cluster of separate processes everything gives the same results as in this process."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster
from distributed.utils import get_mp_context

import recrawl
from recrawl.cli import main
from recrawl.evaluate.related_pieces import related_on
from recrawl.evaluate.work_engine import open_engine
from recrawl.features.related import related
from recrawl.features.semantic import unit
from recrawl.fleet.planning import plan_shards
from recrawl.fleet.shard_files import ShardSet
from recrawl.fleet.shard_writing import write_shards
from recrawl.progress import silent
from support.forked import forkserver
from support.real_recordings import THREE_SITES
from support.sharded_crawls import COUNTS, VISITS, planned, snapshot
from support.small_recordings import random_tables, write


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers, a process each; those that start for killed ones are forked, in minutes if need be."""
    forked = {"distributed.worker.multiprocessing-method": "forkserver", "distributed.deploy.lost-worker-timeout": "9m"}
    with dask.config.set(forked):
        get_mp_context()  # says once what Dask itself wants imported
        forkserver()
        with LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster:
            yield cluster


@pytest.fixture(scope="module")
def engine(cluster: Any) -> str:
    return cluster.scheduler_address.replace("tcp://", "dask://")


@pytest.fixture(scope="module")
def sharded(tmp_path_factory: pytest.TempPathFactory) -> dict[int, ShardSet]:
    folder, small = tmp_path_factory.mktemp("shards"), snapshot()
    return {count: write_shards(small, folder / str(count), count, "a test") for count in COUNTS}


@pytest.mark.parametrize("policy", ["bayes", "learned"])
def test_plans_are_the_same_on_dask(sharded: dict[int, ShardSet], engine: str, policy: str) -> None:
    """1, 7 and 64 shards on a cluster, and 7 by joblib: the plan of one shard in this process."""
    expected = planned(sharded[1], policy, 3)
    for shards in sharded.values():
        assert planned(shards, policy, 3, engine) == expected
    assert planned(sharded[7], policy, 3, "joblib:loky") == expected


def test_a_killed_worker_changes_nothing(sharded: dict[int, ShardSet], cluster: Any, engine: str) -> None:
    """A worker is killed when the first shards are scored: its work is done again, and the plan is the same."""
    with Client(cluster.scheduler_address, set_as_default=False) as client:
        workers = list(client.run(os.getpid).values())
    killed: list[int] = []

    def kill(done: int, total: int, what: str = "") -> None:
        if what == "scoring" and not killed:
            killed.append(workers[0])
            os.kill(workers[0], signal.SIGKILL)

    for policy in ("bayes", "learned"):
        killed.clear()
        plan = plan_shards(sharded[64], policy, VISITS, engine=engine, advance=kill)
        assert killed
        assert list(plan.visits()) == planned(sharded[1], policy)
        with Client(cluster.scheduler_address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=120)
            workers = list(client.run(os.getpid).values())


def test_comparisons_are_the_same_on_dask(engine: str, tmp_path: Path) -> None:
    """Byte for byte, from a folder that the workers open themselves and from tables in memory."""
    folder = str(tmp_path / "web")
    assert main(["synth", "mixed", "--pages", "120", "--days", "12", "--out", folder]) == 0
    for data in (recrawl.synthesize("mixed", pages=120, days=12, seed=1), folder):
        results = [
            recrawl.compare(data, "age,cg,rand", measures="ChangeRate", folds=2, engine=where).to_json()
            for where in ("local", engine)
        ]
        assert results[0] == results[1]


TINY = "--population 20 --generations 3 --archive 5 --depth 4 --jobs 2"


@pytest.fixture(scope="module")
def changing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(random_tables(300, 30.0, 5), tmp_path_factory.mktemp("changing") / "web")


@pytest.mark.parametrize(
    "words",
    [
        f"evolve WEB {TINY} --seeds 3 --budget 10%",
        f"experiment gp4c WEB {TINY} --seeds 1 --budget 10% --cycles 8,8,8 --folds 3 --split 1,1 --sets basic"
        " --errors 1%",
        f"experiment clusters {THREE_SITES} --quick --days 56 --cycles 28d --pages 60 --queries 5 --repeats 1",
        "experiment focus synthetic --quick --web-pages 2000 --pages 40 --topic label:sparse --evolutions 2",
        f"experiment outlinks {THREE_SITES} --quick --trees 3 --repeats 1 --histories 0,1 --no-ngboost",
    ],
    ids=["evolve", "gp4c", "clusters", "focus", "outlinks"],
)
def test_experiments_are_the_same_on_dask(
    engine: str, changing: Path, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Formulas, counts of what is new and all figures: byte for byte those of this process."""
    results = []
    for more in ([], ["--engine", "local"], ["--engine", engine]):
        assert main([*words.replace("WEB", str(changing)).split(), "--json", *more]) == 0
        results.append(capsys.readouterr().out)
    assert len(results[0]) > 1000
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("exact", [True, False])
def test_related_pages_are_the_same_on_dask(cluster: Any, engine: str, exact: bool) -> None:
    """Neighbours and similarities in one process, in two and on a cluster, to the bit; also with a worker killed."""
    draw = np.random.default_rng(4)
    vectors = unit(draw.normal(size=(40, 16))[draw.integers(0, 40, 4_000)] + 0.4 * draw.normal(size=(4_000, 16)))
    expected = related(vectors, 7, exact=exact, seed=3)
    with Client(cluster.scheduler_address, set_as_default=False) as client:
        workers = list(client.run(os.getpid).values())

    def kill(done: int, total: int, what: str = "") -> None:
        while workers:
            os.kill(workers.pop(), signal.SIGKILL)
            break

    for name, jobs in (("local", 1), ("local", 2), (engine, 1)):
        with open_engine(name, jobs) as opened:
            advance = kill if name == engine else silent
            found = related_on(opened, vectors, 7, exact=exact, seed=3, advance=advance)
        assert np.array_equal(found.pages, expected.pages)
        assert np.array_equal(found.similarity, expected.similarity)
        assert (found.recall, found.compared) == (expected.recall, expected.compared)
    with Client(cluster.scheduler_address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=120)


def test_errors_of_workers_arrive(sharded: dict[int, ShardSet], engine: str, tmp_path: Path) -> None:
    """A file that is torn between the look at the header and its use is named in one line."""
    folder = tmp_path / "parts"
    folder.mkdir()
    for path in sharded[7].folder.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    shards = ShardSet.open(folder)
    (folder / "pages-00002.arrow").write_bytes(b"")
    with pytest.raises(recrawl.InputError, match=r"pages-00002\.arrow cannot be read"):
        plan_shards(shards, "bayes", VISITS, engine=engine)
