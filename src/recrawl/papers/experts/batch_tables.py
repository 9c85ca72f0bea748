"""The batch crawl of section 8.3 as a table, findings and plain values."""

from __future__ import annotations

from typing import Any

from recrawl.evaluate.statistics import interval, paired_test
from recrawl.papers.base import Finding
from recrawl.papers.experts.batch_crawl import FEWEST_STEPS, METHODS, BatchCrawl
from recrawl.report.table import Table, with_interval

CLAIMS = (
    ("2D", "1D", 0),
    ("3D cross-correlation", "1D", 0),
    ("3D cross-correlation", "2D", 0),
    ("3D content", "2D", 0),
    ("2D", "1D", 50),  # the steps from which Fig 8 has the difference
    ("3D cross-correlation", "1D", 50),
    ("3D cross-correlation", "2D", 100),
)


def batch_table(crawl: BatchCrawl) -> Table:
    """Freshness by method, in all and in the last half of the crawl."""
    half = crawl.steps // 2
    rows = [
        [method, with_interval(interval(crawl.by_page(method)), 4), f"{crawl.by_step(method)[half:].mean():.4f}"]
        for method in METHODS
    ]
    return Table(
        ["models of Tables 1 to 3", "freshness", "last half"],
        rows,
        f"Fig 8 by the models of Tables 1 to 3, learnt once from {crawl.observed} observed steps: {crawl.pages} pages, "
        f"{crawl.visits} visits per step by a biased coin, {crawl.steps} steps, {crawl.seeds} seeds; {crawl.change} "
        "changes. Mean over pages with its 95% interval.",
    )


def batch_findings(crawl: BatchCrawl) -> list[Finding]:
    """Whether better predictions keep copies fresher, by paired t-tests over the pages."""
    found = []
    for better, worse, after in CLAIMS:
        if after and crawl.steps <= after + FEWEST_STEPS:
            continue
        test = paired_test(100 * crawl.by_page(better, after), 100 * crawl.by_page(worse, after))
        late = f" after {after} steps of crawling" if after else ""
        claim = f"{better} keeps copies fresher than {worse}{late} (models of Tables 1 to 3)"
        seen = f"{test.difference:+.2f} points of freshness, p = {test.p:.2g}, {crawl.pages} pages"
        found.append(Finding.tested("Do better predictions keep copies fresher?", claim, test, seen))
    return found


def batch_json(crawl: BatchCrawl) -> dict[str, Any]:
    """All numbers of the crawl."""
    by_page = {method: crawl.by_page(method) for method in METHODS}
    return {
        "change": crawl.change,
        "pages": crawl.pages,
        "visits": crawl.visits,
        "observed": crawl.observed,
        "steps": crawl.steps,
        "seeds": crawl.seeds,
        "freshness": {m: {"mean": interval(v).mean, "half": interval(v).half} for m, v in by_page.items()},
        "by_step": {m: crawl.by_step(m).tolist() for m in METHODS},
        "findings": [f.to_dict() for f in batch_findings(crawl)],
    }
