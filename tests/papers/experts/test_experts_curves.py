"""What Figs 6 and 7 show, judged on made-up accuracies; and the options that say how much is compared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recrawl.cli import main
from recrawl.columns import FloatArray
from recrawl.papers.experts.batch_crawl import METHODS, BatchCrawl
from recrawl.papers.experts.batch_tables import batch_findings
from recrawl.papers.experts.experts_curves import by_count, by_size
from recrawl.papers.experts.experts_protocol import DAILY
from recrawl.papers.experts.experts_trials import DRAW, LAST, MAJORITY, MULTIPLE, OWN, TrialOutcome
from support.real_recordings import THREE_SITES

PAGES = np.linspace(-0.01, 0.01, 30)


def around(mean: float, seed: int = 0) -> FloatArray:
    """Accuracies of thirty pages near a mean."""
    return mean + np.random.default_rng(seed).permutation(PAGES)


def outcome(sizes: dict[int, tuple[float, float, float]], counts: dict[int, float]) -> TrialOutcome:
    """An outcome with these accuracies of draw, single and multiple by size, and by number of experts."""
    methods = (DRAW, OWN, MULTIPLE)
    curves = {
        n: {m: around(value, n + i) for i, (m, value) in enumerate(zip(methods, values, strict=True))}
        for n, values in sizes.items()
    }
    own = {m: around(0.6, 99) for m in (DRAW, MAJORITY, LAST, OWN, MULTIPLE)}
    by_number = {k: around(value, k) for k, value in counts.items()}
    return TrialOutcome(DAILY, 30, 0.3, {}, 100, 0.4, 1.0, own, {}, {}, {}, curves, by_number, "")


def test_the_papers_own_curves_hold() -> None:
    """3D above 2D above 1D at all sizes, flat; a peak at 20 experts, and all above the single one: all yes."""
    sizes = dict.fromkeys((30, 60, 90), (0.55, 0.63, 0.72))
    made = outcome(sizes, {1: 0.6, 10: 0.68, 20: 0.72, 30: 0.7})
    assert [finding.verdict for finding in (*by_size(made), *by_count(made))] == ["yes"] * 6


def test_other_curves_do_not() -> None:
    """Experts that harm, and an accuracy that grows with the training size, are said."""
    made = outcome({30: (0.55, 0.63, 0.55), 90: (0.55, 0.63, 0.6)}, {1: 0.6, 10: 0.6, 20: 0.55, 30: 0.58})
    assert [finding.verdict for finding in by_size(made)] == ["no", "yes", "no"]
    assert [finding.verdict for finding in by_count(made)][:2] == ["no", "no"]
    assert by_size(replace(made, sizes={})) == []


def test_freshness_is_judged_from_the_day_that_the_paper_names() -> None:
    """2D is behind for fifty steps and ahead after: no in all, yes after fifty; a short crawl has no late part."""
    fresh = {method: np.tile(around(0.5, at)[:, None], (1, 150)) for at, method in enumerate(METHODS)}
    fresh["2D"] = fresh["1D"] + np.where(np.arange(150) < 50, -0.5, 0.1)
    crawl = BatchCrawl("any", 30, 3, 80, 150, 1, fresh)
    verdicts = {finding.claim: finding.verdict for finding in batch_findings(crawl)}
    assert verdicts["2D keeps copies fresher than 1D (models of Tables 1 to 3)"] == "no"
    assert verdicts["2D keeps copies fresher than 1D after 50 steps of crawling (models of Tables 1 to 3)"] == "yes"
    short = BatchCrawl("any", 30, 3, 80, 40, 1, {method: values[:, :40] for method, values in fresh.items()})
    assert not any("after" in finding.claim for finding in batch_findings(short))


@pytest.mark.parametrize("wrong", [["--stride", "0"], ["--words", "-1"]])
def test_bad_options_are_one_line(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A stride of nothing and fewer than no words are refused."""
    assert main(["experiment", "experts", str(THREE_SITES), *wrong]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_words_scale_together() -> None:
    """The page's words, the moving words and the words of contents keep their proportion; 0 is all."""
    assert (DAILY.compared_words, DAILY.moving_words, DAILY.content_words) == (32, 512, 128)
    assert replace(DAILY, words=0).compared_words > 1_000_000
