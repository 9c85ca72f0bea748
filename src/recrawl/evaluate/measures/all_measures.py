"""Imports every module that registers a measure; import this one to have them all."""

from __future__ import annotations

from recrawl.evaluate.measures import freshness, ranking, reach, worstsite
from recrawl.evaluate.measures.measure import Measure, make_measure, make_measures, measures
from recrawl.evaluate.search import search_quality as searching

__all__ = [
    "Measure",
    "freshness",
    "make_measure",
    "make_measures",
    "measures",
    "ranking",
    "reach",
    "searching",
    "worstsite",
]
