"""What a user of the library gets wrong is one line that names it and what is allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recrawl
from recrawl.errors import PolicyError
from support.small_recordings import recording


def test_a_plan_reads_spans_and_shares() -> None:
    """Text as on the command line: 7d, 5%, 200."""
    plan = recrawl.Plan(cycle_days="7d", budget="5%")  # type: ignore[arg-type]
    assert (plan.cycle_days, plan.budget) == (7.0, 0.05)
    assert recrawl.Plan(budget="200").budget == 200  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"budget": -1}, "a budget of -1; take visits per cycle"),
        ({"budget": float("nan")}, "a budget of nan"),
        ({"budget": "many"}, "'many' is not a number"),
        ({"budget": None}, "not 'NoneType'"),
        ({"cycle_days": 0}, "a cycle of 0 days; take more than 0"),
        ({"cycle_days": "soon"}, "'soon' is not a span of time such as 30min"),
    ],
)
def test_a_plan_that_cannot_be_is_refused_when_it_is_made(wrong: dict[str, Any], message: str) -> None:
    """Not days of computing later."""
    with pytest.raises(recrawl.InputError, match=message):
        recrawl.Plan(**wrong)


def test_a_scorer_with_too_few_scores_is_named() -> None:
    """One number per page, or a PolicyError with the scorer's name."""

    class Short:
        def score(self, memory: recrawl.Memory, at: float) -> Any:
            return np.zeros(2)

    web = recording(9.0, [[1.0]] * 5)
    with pytest.raises(PolicyError, match=r"Short.score returned shape \(2,\), not one number for each of 5 pages"):
        recrawl.crawl(web, lambda setting: recrawl.TopK(Short()), recrawl.Plan(budget=1), [])


def test_a_file_that_is_not_there_and_a_maker_without_a_policy(tmp_path: Path) -> None:
    """Both are one line."""
    web = recording(9.0, [[1.0]] * 5)
    with pytest.raises(recrawl.InputError, match=r"nothing.py does not exist"):
        recrawl.compare(web, [f"{tmp_path}/nothing.py:mine"], recrawl.Plan(budget=1))
    (tmp_path / "empty.py").write_text(
        "import recrawl\n\n@recrawl.add_policy('empty', formula='', source='')\ndef empty(setting):\n    return None\n"
    )
    with pytest.raises(recrawl.InputError, match="its maker returned NoneType, which has no method 'choose'"):
        recrawl.compare(web, [f"{tmp_path}/empty.py:empty"], recrawl.Plan(budget=1))


def test_a_recording_without_a_column_is_not_written(tmp_path: Path) -> None:
    """The column and what it means are named, and nothing is left behind."""
    tables: dict[str, dict[str, list[float]]] = {"sites": {"site_id": [0], "days": [3.0]}, "pages": {"page_id": [0]}}
    with pytest.raises(recrawl.InputError, match="table 'pages' needs the column 'site_id'"):
        recrawl.write_recording({**tables, "changes": {"page_id": [], "day": []}}, tmp_path / "web")
    assert list(tmp_path.iterdir()) == []
