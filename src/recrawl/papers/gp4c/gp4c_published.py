"""The numbers that Santos et al. 2014 print, to stand beside ours."""

from __future__ import annotations

from recrawl.papers.gp4c.gp4c_protocol import PAPERS_CG

TABLE_1 = {
    "monitoring period, days": "57",
    "pages": "417,048",
    "sites": "7,171",
    "fewest pages of a site": "1",
    "most pages of a site": "2,336",
    "pages per site": "58.15",
    "downloads with errors": "2.92%",
    "pages removed for more than two errors": "not said (3,059,698 were watched)",
}

# method -> mean and half-width of the 95% interval, by measure
TABLE_2: dict[str, dict[str, tuple[float, float]]] = {
    "rand": {"ChangeRate": (0.1566, 0.0019), "NDCG": (0.1565, 0.0018)},
    "age": {"ChangeRate": (0.1753, 0.0016), "NDCG": (0.1754, 0.0015)},
    "nad": {"ChangeRate": (0.7162, 0.0033), "NDCG": (0.7288, 0.0033)},
    "sad": {"ChangeRate": (0.5451, 0.0107), "NDCG": (0.5674, 0.0098)},
    "aad": {"ChangeRate": (0.6778, 0.0071), "NDCG": (0.6986, 0.0062)},
    "gad": {"ChangeRate": (0.6535, 0.0059), "NDCG": (0.6769, 0.0054)},
    PAPERS_CG: {"ChangeRate": (0.6672, 0.0036), "NDCG": (0.6888, 0.0037)},
    "GP4C Basic": {"ChangeRate": (0.7164, 0.0068), "NDCG": (0.7287, 0.0042)},
    "GP4C All": {"ChangeRate": (0.7256, 0.0061), "NDCG": (0.7419, 0.0077)},
}

# measure -> rival -> terminals -> (victories, gain in %, losses, loss in %), of 17 cycles
TABLE_3: dict[str, dict[str, dict[str, tuple[int, float, int, float]]]] = {
    "ChangeRate": {
        "nad": {"basic": (3, 3.97, 2, -3.02), "all": (9, 3.54, 1, -6.36)},
        "aad": {"basic": (11, 8.20, 1, -1.60), "all": (14, 9.04, 1, -1.19)},
        "gad": {"basic": (15, 11.80, 1, -1.60), "all": (15, 13.18, 1, -1.19)},
        PAPERS_CG: {"basic": (12, 8.50, 0, 0.0), "all": (16, 9.32, 0, 0.0)},
    },
    "NDCG": {
        "nad": {"basic": (0, 0.0, 2, -0.83), "all": (9, 4.21, 0, 0.0)},
        "aad": {"basic": (13, 6.21, 3, -2.10), "all": (14, 8.14, 0, 0.0)},
        "gad": {"basic": (13, 10.23, 2, -1.67), "all": (15, 11.71, 0, 0.0)},
        PAPERS_CG: {"basic": (15, 6.48, 0, 0.0), "all": (15, 8.35, 0, 0.0)},
    },
}

CORRELATIONS = {"ChangeRate": 0.56, "NDCG": 0.42}  # of the pages that change on a day with the measure
NEW_PAGES = 0.40  # of a day's downloads, after the first day
