"""The numbers that Dang et al. 2022 print or name in the text, to stand beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TABLE_2 = (  # mean and deviation of all, internal and external new links, by week
    "3.1 ± 14.4; 2.7 ± 13.5; 0.4 ± 3.7", "3.2 ± 14.5; 2.8 ± 13.7; 0.4 ± 3.4", "3.4 ± 15.2; 3.0 ± 14.1; 0.5 ± 3.9",
    "2.6 ± 13.3; 2.2 ± 12.6; 0.3 ± 3.1", "2.9 ± 15.3; 2.5 ± 14.5; 0.4 ± 3.5", "3.5 ± 15.3; 3.0 ± 14.2; 0.5 ± 4.0",
    "2.6 ± 13.0; 2.3 ± 12.4; 0.3 ± 2.9", "3.0 ± 16.8; 2.6 ± 16.0; 0.4 ± 3.2", "3.1 ± 15.2; 2.7 ± 14.6; 0.4 ± 3.1",
)  # fmt: skip

# (links, set of features) -> scores, of Figs 9, 10 and 12; (links, ranking) -> Spearman's rho, of Fig 14
STATIC = {
    ("internal", "SP"): "R2 about .5", ("internal", "SPsem"): "R2 .65, MAE .14", ("internal", "SP+SN"): "R2 about .65",
    ("external", "SPsem+SN"): "R2 .45", ("external", "always 0"): "R2 -.14, MAE .08, MedAE 0",
}  # fmt: skip
HISTORY = {("internal", "history 1"): "accuracy .84 and higher"}
RANKINGS = {("external", "LCR-ET"): "LCR .79", ("external", "LCR-ET LBLA"): "LCR .82"}

# links -> trees and fewest samples on a leaf, by weeks of history
TABLE_3 = {
    "internal": ((300, 2), (500, 2), (400, 2), (500, 2), (500, 2), (300, 2), (400, 2), (500, 2), (400, 2)),
    "external": ((300, 10), (300, 10), (400, 10), (200, 10), (300, 10), (400, 10), (500, 10), (400, 10), (500, 10)),
}

# two features -> Spearman's rho, of Fig 8
CORRELATIONS = {
    ("text size", "content size"): 0.67,
    ("content size", "internal outlinks"): 0.63,
    ("PageRank", "TrustRank"): 0.79,
    ("PageRank", "internal inlinks"): 0.64,
    ("TrustRank", "internal inlinks"): 0.57,
    ("text quality", "related: text quality"): 0.79,
}


def published() -> dict[str, Any]:
    """The same as plain values, for results.json."""
    tables: dict[str, Mapping[tuple[str, str], str | float]] = {
        "figures9-10": STATIC, "figure12": HISTORY, "figure14": RANKINGS, "figure8": CORRELATIONS,
    }  # fmt: skip
    named = {name: {", ".join(key): value for key, value in table.items()} for name, table in tables.items()}
    return {"table2": list(TABLE_2), "table3": TABLE_3, **named}
