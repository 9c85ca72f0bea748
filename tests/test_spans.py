"""Spans of time, shares and budgets are read alike wherever a user writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InputError
from recrawl.spans import budget_of, bytes_of, days_of, share_of, span_of


@pytest.mark.parametrize(
    ("text", "days"),
    [("1d", 1.0), ("2w", 14.0), ("12h", 0.5), ("30min", 1 / 48), ("36m", 0.025), ("43200s", 0.5), ("57", 57.0),
     ("1.5D", 1.5), ("1e2", 100.0)],
)  # fmt: skip
def test_spans_are_days(text: str, days: float) -> None:
    """Weeks, days, hours, minutes and seconds, in any case; a bare number is days."""
    assert days_of(text) == pytest.approx(days, rel=1e-15)


@given(st.integers(1, 10_000), st.sampled_from(["d", "h", "m", "s"]))
def test_a_span_reads_back(number: int, unit: str) -> None:
    """What is written of a span reads back as the same span."""
    days = days_of(f"{number}{unit}")
    assert days_of(span_of(days)) == pytest.approx(days, rel=1e-9)


def test_shares_and_budgets() -> None:
    """7% is 0.07 to the last digit; a budget without % is a number of pages."""
    assert share_of("7%") == share_of("0.07") == budget_of("7%") == 0.07
    assert share_of("0") == 0.0
    assert budget_of("200") == 200
    assert isinstance(budget_of("100%"), float)
    assert isinstance(budget_of("1"), int)


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [(days_of, "0d", "not a positive span"), (days_of, "-1h", "not a positive span"), (days_of, "soon", "not a span"),
     (days_of, "", "not a span"), (days_of, "nan", "not a finite number"), (days_of, "min", "not a span"),
     (share_of, "1.1", "not a share"), (share_of, "101%", "not a share"), (share_of, "%", "not a number"),
     (budget_of, "0%", "above 0%"), (budget_of, "2.5", "whole number"), (budget_of, "0", "whole number"),
     (budget_of, "inf", "not a finite number"), (budget_of, "1e23", "more than the"), (budget_of, "x", "not a number"),
     (bytes_of, "10XB", "not a size"), (days_of, "1e300d", "longer than the 1,000,000 days")],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line(read: object, text: str, said: str) -> None:
    """The message quotes the word and says what is wrong with it."""
    assert callable(read)
    with pytest.raises(InputError, match=said) as caught:
        read(text)
    assert repr(text) in str(caught.value)
    assert "\n" not in str(caught.value)
