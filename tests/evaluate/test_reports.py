"""One look for all reports: bars, names that do not break within words, axes that begin at 0 or say where."""

from __future__ import annotations

import re

import pytest
from matplotlib.figure import Figure

from recrawl.evaluate.compare import compare
from recrawl.evaluate.measures.all_measures import make_measures
from recrawl.plan import Plan
from recrawl.recording.recording import Recording
from recrawl.report.comparison_page import report_files
from recrawl.report.comparison_table import bars
from recrawl.report.layout import Page, Section, Table, cell, soft
from recrawl.report.results import Selection
from recrawl.report.style import Sheet, picture
from support.small_recordings import random_tables


def test_a_longer_bar_is_better_whatever_the_measure() -> None:
    """The best policy has the longest bar, also where lower values are better."""
    web = Recording.from_arrays(random_tables(60, 12, seed=2))
    found = compare(web, ["rand", "age", "cg"], make_measures("ChangeRate,Age,Unvisited@30d"), Plan(1.0, 0.2, 2))
    for i, measure in enumerate(found.measures):
        length = {policy: values[i] for policy, values in bars(found).items()}
        assert length[found.best(measure) or ""] == max(length.values()) == 100.0


@pytest.mark.parametrize(("repeats", "said"), [(1, False), (2, True)])
def test_one_run_has_no_interval(repeats: int, said: bool) -> None:
    """A report names a 95% interval only where there are runs to compute it from."""
    web = Recording.from_arrays(random_tables(40, 8, seed=1))
    found = compare(web, ["age", "rand"], make_measures("ChangeRate"), Plan(1.0, 0.2, 2), repeats=repeats)
    page = report_files(found, Selection.of(web))["report.html"].decode()
    assert ("95% interval" in page) is said
    assert ("A single run cannot tell" in page) is not said
    assert ("a paired t-test over 2 runs" in page) is said


def test_names_break_at_brackets_and_are_escaped() -> None:
    """A policy's name may break before its arguments, not within a word; nothing in it is markup."""
    assert soft("learned(objective=freshness)") == "learned<wbr>(objective=<wbr>freshness)"
    assert soft("<b>") == "&lt;b&gt;"
    assert cell("0.5 ± 0.1") == "0.5 <small>± 0.1</small>"


def test_formulas_wrap_and_sentences_stack() -> None:
    """Long cells are text that wraps; cells of sentences carry their heading for narrow screens."""
    formula = "log(X + 0.1) / (n + 1)**(CG * NAD) - exp(AAD)"
    tables = [Table(("formula", "value"), [(formula, "1")]), Table(("claim", "seen"), [("a", "b")], prose=True)]
    page = Page("t", ["i"], [Section("s", tables=tables)], cards=[("c", formula, "")]).html()
    assert page.count('<td class="long"') == 1
    assert 'data-head="seen:"' in page
    assert "position: sticky" in page


@pytest.mark.parametrize(
    ("values", "low", "said"), [([1, 9], 0.0, False), ([90, 91], 89.9, True), ([-3, 5], -3.4, False)]
)
def test_axes_begin_at_zero_or_say_where(values: list[float], low: float, said: bool) -> None:
    """An axis of values begins at 0 unless all values lie far from it, and then it says where it begins."""
    seen: list[Figure] = []

    def draw(sheet: Sheet) -> Figure:
        figure, (axis,) = sheet.panels()
        axis.plot(values)
        sheet.values(axis)
        seen.append(figure)
        return figure

    drawing = picture(draw)
    assert seen[0].axes[0].get_ylim()[0] == pytest.approx(low, abs=0.06)
    assert (b"axis begins at" in drawing.svg) is said


def test_panels_stand_below_each_other_on_a_narrow_sheet() -> None:
    """Side by side on a wide sheet, one column on a narrow one."""
    columns = [
        len({axis.get_subplotspec().colspan.start for axis in Sheet(narrow).panels(4)[1]}) for narrow in (False, True)
    ]
    assert columns == [2, 1]


def test_same_figure_same_bytes() -> None:
    """A figure is drawn to the byte as before, with ids of its own in a page."""
    made = [picture(lambda sheet: sheet.panels(2)[0]) for _ in range(2)]
    assert made[0] == made[1]
    assert not re.search(rb"<dc:date>", made[0].svg)
