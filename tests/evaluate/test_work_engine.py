"""Work gives the same results in this process and in several, and what an engine cannot do is said in one line."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from recrawl.errors import InputError
from recrawl.evaluate import work_engine
from recrawl.evaluate.work_engine import Shared, open_engine


def square(number: int) -> int:
    return number * number


def scaled(piece: tuple[Shared, int]) -> int:
    return piece[1] * int(piece[0].load())


def die(number: int) -> int:
    os._exit(number)


@pytest.mark.parametrize(("name", "jobs"), [("local", 1), ("local", 2), ("joblib:loky", 1), ("joblib:loky", 2)])
def test_results_come_in_order(name: str, jobs: int) -> None:
    """Whatever the number of processes, also of a backend of joblib, with values that all of them share."""
    with open_engine(name, jobs) as engine:
        factor = engine.share(7)
        assert engine.ordered(square, range(20)) == [n * n for n in range(20)]
        assert engine.ordered(scaled, ((factor, n) for n in range(5))) == [0, 7, 14, 21, 28]


def test_items_are_taken_when_there_is_room() -> None:
    """An item is made only once results before it are in, so that it can depend on them."""
    made: list[int] = []

    def items() -> Iterator[int]:
        for number in range(4):
            made.append(number)
            yield number

    with open_engine() as engine:
        for number, _ in engine.each(square, items()):
            assert made[-1] == number


def test_what_an_engine_cannot_do_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unknown engine, a scheduler that does not answer, a process that dies."""
    monkeypatch.setattr(work_engine, "CONNECT_S", 0.5)
    for name, line in (
        ("spark", "unknown engine"),
        ("dask://127.0.0.1:9", "no Dask scheduler"),
        ("dask://", "no Dask"),
        ("joblib:nothing", "Invalid backend"),
        ("joblib:", "Invalid backend"),
    ):
        with pytest.raises(InputError, match=line), open_engine(name):
            pass
    with open_engine("local", 2) as engine, pytest.raises(InputError, match="a process of the engine died"):
        engine.ordered(die, [3, 3])
