"""WorstSite: the site that a policy serves worst, beside what the oldest-first rule finds there."""

from __future__ import annotations

import math

import numpy as np
import pytest

from recrawl.errors import InputError
from recrawl.evaluate.compare import compare
from recrawl.evaluate.crawl import crawl
from recrawl.evaluate.measures.all_measures import make_measures
from recrawl.evaluate.measures.worstsite import WorstSite
from recrawl.plan import Plan
from recrawl.recording.recording import Recording
from support.small_recordings import Script, tables


def two_sites() -> Recording:
    """Return nine days of four pages that change every noon: pages 0 and 1 on one site, 2 and 3 on another."""
    made = tables(9, [[day + 0.5 for day in range(9)]] * 4)
    made["pages"]["site_id"] = np.array([0, 0, 1, 1], dtype=np.int32)
    made["sites"] = {name: np.repeat(column[:1], 2) for name, column in made["sites"].items()}
    made["sites"]["site_id"] = np.array([0, 1], dtype=np.int32)
    made["sites"]["repo"] = np.array(["a", "b"], dtype=object)
    return Recording.from_arrays(made)


SCRIPT = Script({2: [0], 3: [0], 4: [0], 5: [2], 6: [0], 7: [0], 8: [0], 9: [0]})


def test_the_worst_site_by_hand() -> None:
    """One visit per cycle after one of warm-up: age visits each page twice and finds 4 changes on each site.

    The script finds 7 on the first site and 1 on the second: 1/4. Each site has 2 pages x 8 cycles findable changes.
    """
    plan = Plan(1.0, 1, warmup=1)
    measures = make_measures("WorstSite@16,WorstSite@17,WorstSite")
    result = crawl(two_sites(), SCRIPT, plan, measures)
    assert [result.value(m) for m in measures] == pytest.approx([0.25, math.nan, math.nan], nan_ok=True)
    assert result.per_cycle(measures[0])[-1] == 0.25
    assert crawl(two_sites(), "age", plan, measures).value(measures[0]) == 1.0


def test_it_does_not_depend_on_what_is_compared() -> None:
    """Age crawls apart for it: `oracle` alone has the value that it has beside age."""
    plan, measures = Plan(1.0, 1, warmup=1), make_measures("WorstSite@10")
    alone = compare(two_sites(), ["oracle"], measures, plan)
    beside = compare(two_sites(), ["age", "oracle"], measures, plan)
    assert alone.values[0].tolist() == beside.values[1].tolist()


def test_its_spec() -> None:
    """WorstSite is WorstSite@50; anything but a number of changes is refused in one line."""
    assert make_measures("WorstSite,WorstSite@50") == (WorstSite(50),)
    assert WorstSite(10).spec == "WorstSite@10"
    for wrong in ("WorstSite@0", "WorstSite@5%", "WorstSite@many"):
        with pytest.raises(InputError, match="takes a number of changes"):
            make_measures(wrong)
