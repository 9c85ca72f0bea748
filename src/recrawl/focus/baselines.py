"""Strategies to measure against.

The link classifier is how focused crawlers rank links today (Chakrabarti et al. 2002 and after): naive Bayes on the
words of the link's address and anchor, taught by the pages that the crawl has downloaded, retrained every 500 pages.
Before the first training, and among links with equal odds, it goes by the parent's score as Best-First does.
"""

from __future__ import annotations

from recrawl.focus.strategy import Strategy

BEST_FIRST = Strategy("best-first", ({"PARENT_1": 1.0},))
BREADTH_FIRST = Strategy("breadth-first", ({"QUEUE": 1.0},))
RANDOM = Strategy("random", ({},))
LINK_CLASSIFIER = Strategy("link classifier", ({"BAYES": 1.0, "PARENT_1": 1e-6},))
BASELINES = (BEST_FIRST, BREADTH_FIRST, RANDOM, LINK_CLASSIFIER)

# Table 1 of the paper: evolved on its crawl of middle eastern dance pages
PUBLISHED = Strategy(
    "paper's Table 1",
    (
        {
            "HUB": 0.025828,
            "AUTHORITY": 0.025852,
            "COMM_in": 0.196382,
            "COMM_out": 0.312661,
            "PARENT_1": 0.250646,
            "PARENT_2": 0.093023,
            "PARENT_3": 0.080103,
            "PARENT_4": 0.005168,
            "PARENT_5": 0.010336,
        },
    ),
)
NAMED = {s.name: s for s in (*BASELINES, PUBLISHED)} | {"paper": PUBLISHED, "link-classifier": LINK_CLASSIFIER}
