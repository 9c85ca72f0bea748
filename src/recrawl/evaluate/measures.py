"""Imports every module that registers a measure; import this one to have them all."""

from __future__ import annotations

from recrawl.evaluate import freshness, ranking, reach, searching
from recrawl.evaluate.measure import Measure, make_measure, make_measures, measures

__all__ = ["Measure", "freshness", "make_measure", "make_measures", "measures", "ranking", "reach", "searching"]
