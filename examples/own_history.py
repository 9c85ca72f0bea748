"""Bring your own history: a CSV of visits becomes a recording, on which every policy can be compared.

    python examples/own_history.py examples/visits.csv history && recrawl compare history --cycle 1d

A line is one visit of one page: url, day, digest. A digest that differs from the one before is a change, dated at the
visit that saw it. What happened between two visits is not known, so compare at a cycle no shorter than your own.
"""

import csv
import sys
from collections import defaultdict
from itertools import pairwise
from urllib.parse import urlsplit

import numpy as np

import recrawl


def read_visits(path: str) -> dict[str, list[tuple[float, str]]]:
    """Return the visits of every URL, by day."""
    visits = defaultdict(list)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            visits[row["url"]].append((float(row["day"]), row["digest"]))
    return {url: sorted(seen) for url, seen in sorted(visits.items())}


def to_tables(visits: dict[str, list[tuple[float, str]]]) -> dict:
    """Return the tables of a recording (docs/recording.md): sites, pages and changes."""
    hosts = sorted({urlsplit(url).netloc for url in visits})
    first = min(seen[0][0] for seen in visits.values())
    last = max(seen[-1][0] for seen in visits.values())
    changes = [
        (page, day - first)
        for page, seen in enumerate(visits.values())
        for (_, before), (day, after) in pairwise(seen)
        if after != before
    ]
    count = len(visits)
    return {
        "sites": {
            "site_id": np.arange(len(hosts)),
            "repo": np.array(hosts, dtype=object),
            "days": np.full(len(hosts), last - first),
        },
        "pages": {
            "page_id": np.arange(count),
            "site_id": np.array([hosts.index(urlsplit(url).netloc) for url in visits]),
            "path": np.array([urlsplit(url).path for url in visits], dtype=object),
            "born_day": np.array([seen[0][0] - first for seen in visits.values()]),
            "died_day": np.full(count, np.nan),
        },
        "changes": {
            "page_id": np.array([page for page, _ in changes], dtype=np.int64),
            "day": np.array([day for _, day in changes], dtype=np.float64),
        },
    }


if __name__ == "__main__":
    source, folder = sys.argv[1:]
    recrawl.write_recording(to_tables(read_visits(source)), folder)
    print(
        recrawl.compare(folder, ["age", "bayes", "learned", "oracle"], recrawl.Plan(budget=0.2), "ChangeRate,Freshness")
    )
