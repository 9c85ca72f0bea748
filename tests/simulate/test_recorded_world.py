"""A recorded web answers visits exactly as comparing our copy with the live page would."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.cycle import run_cycle
from recrawl.errors import InputError, RecordingError, UnknownNameError
from recrawl.policies.catalogue import make_policy
from recrawl.policy import Setting
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld
from recrawl.visits import Outcome, Visits
from support import small_recordings

NAN = float("nan")
Rows = list[tuple[Any, ...]]


def table(names: str, rows: Rows, **types: npt.DTypeLike) -> dict[str, npt.NDArray[Any]]:
    """Columns from rows."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names.split())
    return {
        name: np.array(column, dtype=types.get(name) or (np.float64 if "day" in name else np.int64))
        for name, column in zip(names.split(), columns, strict=True)
    }


def web(pages: Rows, changes: Rows = [], links: Rows | None = None, days: float = 10.0) -> Recording:  # noqa: B006
    """Return a recording: pages (id, born, died); changes (page, day, added, removed, internal, external).

    Links are (page, from, to, internal, target_page, target).
    """
    tables: dict[str, Mapping[str, npt.NDArray[Any]]] = {
        "sites": table("site_id days", [(7, days)]),
        "pages": table("page_id site_id born_day died_day", [(page, 7, born, died) for page, born, died in pages]),
        "changes": table("page_id day d_words_added d_words_removed new_internal new_external", changes),
    }
    if links is not None:
        names = "page_id day_from day_to internal target_page target"
        tables["links"] = table(names, links, internal=np.bool_, target=np.object_)
    return Recording.from_arrays(tables)


def visit(world: RecordedWorld, pages: list[int], at: float) -> Visits:
    return world.visit(np.array(pages, dtype=np.int64), at)


def test_a_visit_sees_every_change_since_this_crawlers_last_visit_and_at_its_own_moment() -> None:
    """A change at exactly the time of the visit is seen; the next visit finds nothing."""
    world = RecordedWorld(web([(0, -5, NAN)], [(0, 2.0, 3, 1, 0, 0), (0, 2.5, 4, 0, 0, 0)]))
    before, at, after = visit(world, [0], 1.9), visit(world, [0], 2.0), visit(world, [0], 2.4)
    assert [int(v.outcome[0]) for v in (before, at, after)] == [Outcome.UNCHANGED, Outcome.CHANGED, Outcome.UNCHANGED]
    assert [v.change_size[0] for v in (before, at, after)] == [0, 4, 0]


def test_the_size_of_a_change_is_the_sum_over_the_changes_since_our_copy() -> None:
    """Words added and removed of three changes add up: an upper bound of the difference."""
    world = RecordedWorld(web([(0, -5, NAN)], [(0, 1, 3, 1, 0, 0), (0, 2, 10, 0, 0, 0), (0, 3, 0, 10, 0, 0)]))
    assert visit(world, [0], 3.7).change_size.tolist() == [24]


def test_a_version_that_is_new_to_the_crawler_tells_its_length() -> None:
    """100 words, 120 after a change, 90 after two more at once; nothing new tells nothing, and a first copy its own."""
    made = small_recordings.tables(10.0, [[1.0, 3.0, 3.5], []], born=[0.0, 2.0], words=[120, 130, 90])
    made["pages"]["words"] = np.array([100, 50])
    world = RecordedWorld(Recording.from_arrays(made))
    told = [visit(world, pages, at).length for pages, at in (([0], 1.0), ([0], 2.5), ([1, 0], 4.0))]
    lengths = [[] if length is None else np.nan_to_num(length, nan=-1.0).tolist() for length in told]
    assert lengths == [[120], [-1], [50, 90]]


def test_a_change_whose_words_are_not_counted_tells_no_length() -> None:
    """What was true of the first version is not told of a later one."""
    made = small_recordings.tables(10.0, [[1.0]])
    made["pages"]["words"] = np.array([100])
    length = visit(RecordedWorld(Recording.from_arrays(made)), [0], 2.0).length
    assert length is not None
    assert np.isnan(length).all()


def test_without_counted_words_no_length_is_told() -> None:
    """A recording that does not count words says so."""
    assert visit(RecordedWorld(web([(0, -5, NAN)])), [0], 1.0).length is None


def test_without_counted_words_the_size_is_the_number_of_changes() -> None:
    """A recording that does not count words still tells one change from three."""
    full = web([(0, -5, NAN)], [(0, 1, 3, 1, 0, 0), (0, 2, 1, 0, 0, 0), (0, 3, 0, 1, 0, 0)])
    tables = {name: {c: full.tables.column(name, c) for c in full.tables.columns(name)} for name in ("sites", "pages")}
    changes = {"page_id": full.tables.column("changes", "page_id"), "day": full.tables.column("changes", "day")}
    seen = visit(RecordedWorld(Recording.from_arrays({**tables, "changes": changes})), [0], 9)
    assert (seen.change_size[0], seen.new_internal[0], seen.new_external[0]) == (3, 0, 0)


def test_a_dead_page_answers_gone_from_the_moment_of_its_death() -> None:
    """Gone is neither changed nor a size, even if the page changed before it died."""
    recording = web([(0, -5, 4.0), (1, -5, 4.0)], [(0, 3.0, 5, 5, 0, 0)])
    assert visit(RecordedWorld(recording), [1], 3.9).outcome.tolist() == [Outcome.UNCHANGED]
    gone = visit(RecordedWorld(recording), [0, 1], 4.0)
    assert gone.outcome.tolist() == [Outcome.GONE, Outcome.GONE]
    assert gone.change_size.tolist() == [0, 0]


def test_a_first_visit_shows_no_news_and_the_second_compares_with_the_first() -> None:
    """Changes and links from before our first copy are no news."""
    changes: Rows = [(1, 2.0, 5, 0, 1, 0), (1, 6.0, 7, 0, 1, 0)]
    links: Rows = [(1, day, NAN, True, -1, name) for day, name in ((1.0, "/a"), (2.0, "/b"), (6.0, "/c"))]
    world = RecordedWorld(web([(0, -5, NAN), (1, 1.0, NAN)], changes, links))
    first, second = visit(world, [1], 5.0), visit(world, [1], 7.0)
    assert (int(first.outcome[0]), first.change_size[0], first.new_internal[0]) == (Outcome.FIRST, 0, 0)
    assert (int(second.outcome[0]), second.change_size[0], second.new_internal[0]) == (Outcome.CHANGED, 7, 1)


def test_a_page_that_is_not_yet_born_gives_no_answer_and_no_copy() -> None:
    """A visit before birth fails; the first answered one is FIRST."""
    world = RecordedWorld(web([(0, -5, NAN), (1, 3.0, NAN)], links=[]))
    assert visit(world, [1], 2.0).outcome.tolist() == [Outcome.FAILED]
    assert visit(world, [1], 3.0).outcome.tolist() == [Outcome.FIRST]


LINKS: Rows = [
    (0, 0.0, NAN, True, -1, "/always"),
    (0, 2.0, NAN, True, -1, "/in"),
    (0, 2.0, NAN, False, -1, "else.where/"),
    (0, 0.0, 2.0, True, -1, "/flaps"),
    (0, 3.0, NAN, True, -1, "/flaps"),
    (0, 2.0, 3.0, False, -1, "came.and/went"),
]
CHANGES: Rows = [(0, 2.0, 1, 0, 1, 2), (0, 3.0, 1, 0, 1, 0)]


def test_a_target_is_new_if_it_is_there_now_and_was_not_on_our_copy() -> None:
    """Taken away and put back between visits is not new; come and gone between visits is not seen."""
    world = RecordedWorld(web([(0, -5, NAN)], CHANGES, LINKS), links=True)
    seen = visit(world, [0], 4.0)
    assert (seen.new_internal.tolist(), seen.new_external.tolist()) == ([1], [1])


def test_a_target_that_was_away_at_our_last_visit_is_new_when_it_is_back() -> None:
    """Between the two changes the crawler saw a page without it."""
    world = RecordedWorld(web([(0, -5, NAN)], CHANGES, LINKS), links=True)
    first, second = visit(world, [0], 2.5), visit(world, [0], 3.5)
    assert (first.new_internal.tolist(), first.new_external.tolist()) == ([1], [2])
    assert (second.new_internal.tolist(), second.new_external.tolist()) == ([1], [0])


def test_without_link_times_new_links_are_the_sums_of_the_changes() -> None:
    """The fallback counts a link that was taken away and put back, and one that came and went."""
    world = RecordedWorld(web([(0, -5, NAN)], CHANGES), links=None)
    seen = visit(world, [0], 4.0)
    assert (seen.new_internal.tolist(), seen.new_external.tolist()) == ([2], [2])


def test_links_are_read_only_where_needed() -> None:
    """By default a recording without births is not asked for its links; asking for links that are not there fails."""
    fixed = web([(0, -5, NAN)], CHANGES, LINKS)
    RecordedWorld(fixed)
    RecordedWorld(web([(0, -5, NAN), (1, 1, NAN)], CHANGES, LINKS), discover="birth")
    assert "links" not in vars(fixed)
    with pytest.raises(RecordingError, match="no table of links"):
        RecordedWorld(web([(0, -5, NAN)], CHANGES), links=True)


# A page 0 that links to newborn pages: 1 born at 1 and linked at 3, 2 linked before it is born, 3 dead when linked,
# 4 linked from page 1 alone, 5 not linked at all.
BIRTHS: Rows = [(0, -5, NAN), (1, 1.0, NAN), (2, 4.0, NAN), (3, 1.0, 2.0), (4, 1.0, NAN), (5, 1.0, NAN)]
BIRTH_CHANGES: Rows = [(0, 3.0, 1, 0, 1, 0), (0, 5.0, 1, 0, 0, 0)]
BIRTH_LINKS: Rows = [
    (0, 3.0, NAN, True, 1, None),
    (0, 3.0, NAN, True, 2, None),
    (0, 3.0, NAN, True, 3, None),
    (1, 1.0, NAN, True, 4, None),
]


def test_a_newborn_page_is_discovered_when_a_visit_shows_a_link_to_it_while_it_lives() -> None:
    """Unborn and dead targets discover nothing; a page is discovered once; a first visit discovers as well."""
    world = RecordedWorld(web(BIRTHS, BIRTH_CHANGES, BIRTH_LINKS))
    assert visit(world, [0], 2.0).discovered.tolist() == []
    assert visit(world, [0], 3.0).discovered.tolist() == [1]
    assert visit(world, [0, 1], 4.5).discovered.tolist() == [4]  # page 0 is unchanged: it shows nothing new
    assert visit(world, [0], 5.0).discovered.tolist() == [2]  # linked since 3, alive since 4, seen at the next change


def test_announced_pages_become_known_at_the_first_cycle_end_after_birth() -> None:
    """With discover=birth a page is announced once, and only if it is still alive."""
    world = RecordedWorld(web(BIRTHS, BIRTH_CHANGES, BIRTH_LINKS), discover="birth", links=True)
    assert world.begin(1, 0.5, 9).announced.tolist() == []
    assert world.begin(2, 3.0, 9).announced.tolist() == [1, 4, 5]  # 3 was born and died in between
    assert visit(world, [0], 3.5).discovered.tolist() == []  # what is known is not discovered again
    assert world.begin(3, 9.0, 9).announced.tolist() == [2]
    assert RecordedWorld(web(BIRTHS, BIRTH_CHANGES, BIRTH_LINKS)).begin(3, 9.0, 9).announced.tolist() == []


def test_the_loop_takes_in_announced_pages_before_the_policy_chooses() -> None:
    """A page born in a cycle can be visited at the end of that cycle, and comes first in score-based policies."""
    world = RecordedWorld(web(BIRTHS, BIRTH_CHANGES, BIRTH_LINKS), discover="birth")
    memory = world.memory(cycle_days=1.5, seed=1)
    rounds = run_cycle(world, memory, make_policy("age", Setting()), 3, 1.5)
    assert set(rounds[0].pages.tolist()) <= {1, 3, 4, 5}  # 3 of the 4 newborn: never fetched goes first
    assert memory.known.tolist() == [True, True, False, True, True, True]
    assert memory.first_seen[4] == 1.5


def test_importance_counts_the_pages_that_link_here_when_the_window_opens() -> None:
    """1 + in-links at the start: later links, links taken away before, and a page's links to itself do not count."""
    links: Rows = [
        (0, 0.0, NAN, True, 2, None), (1, 0.0, NAN, True, 2, None), (2, 0.0, NAN, True, 2, None),
        (2, 0.0, 1.0, True, 0, None), (1, 2.0, NAN, True, 0, None), (0, 0.0, NAN, True, -1, "/else"),
    ]  # fmt: skip
    recording = web([(0, -5, NAN), (1, -5, NAN), (2, -5, NAN)], [], links)
    importance = RecordedWorld(recording).memory(cycle_days=1, importance="inlinks").importance
    assert importance is not None
    assert importance.tolist() == [2, 1, 3]
    later = RecordedWorld(recording.window(1.5, 10)).memory(cycle_days=1, importance="inlinks").importance
    assert later is not None
    assert later.tolist() == [1, 1, 3]
    assert RecordedWorld(recording).memory(cycle_days=1).importance is None
    with pytest.raises(UnknownNameError, match="did you mean 'inlinks'"):
        RecordedWorld(recording).memory(cycle_days=1, importance="inlink")


def test_an_unknown_way_of_discovery_is_refused() -> None:
    """`discover` is links or birth."""
    with pytest.raises(InputError, match="'links' or 'birth'"):
        RecordedWorld(web([(0, -5, NAN)]), discover="magic")


# -- any history, any visits: the same as recomputing everything from the tables -------------------------------------

TARGETS = 4


@st.composite
def histories(draw: st.DrawFn) -> tuple[Rows, Rows, Rows]:
    """Pages with changes at which links come and go, on a coarse grid so that times coincide."""
    size = draw(st.integers(1, 4))
    pages: Rows = []
    changes: Rows = []
    links: Rows = []
    for page in range(size):
        born = draw(st.sampled_from([-3.0, -1.0, 1.0, 2.5, 4.0]))
        died = draw(st.sampled_from([NAN, NAN, 5.0, 7.5]))
        pages.append((page, born, died))
        grid = [day / 2 for day in range(1, 20) if day / 2 > born and not day / 2 >= died]
        days = sorted(draw(st.sets(st.sampled_from(grid), max_size=5)))
        counts = st.integers(0, 9)
        changes += [(page, day, draw(counts), draw(counts), draw(counts), draw(counts)) for day in days]
        versions = [max(born, 0.0), *days]
        for target in range(size + TARGETS):
            on = draw(st.lists(st.booleans(), min_size=len(versions), max_size=len(versions)))
            opened: float | None = None
            for day, there in [*zip(versions, on, strict=True), (died, False)]:
                if there and opened is None:
                    opened = day
                elif not there and opened is not None:
                    outside = target >= size
                    what = f"/{target}" if outside else None
                    links.append((page, opened, day, target % 2 == 0, -1 if outside else target, what))
                    opened = None
    return pages, changes, draw(st.permutations(links))


@st.composite
def visit_plans(draw: st.DrawFn) -> list[tuple[float, list[int]]]:
    """Visits at odd and even times, each to some of the pages."""
    times = sorted(draw(st.sets(st.sampled_from([t / 4 for t in range(1, 40)]), min_size=1, max_size=6)))
    return [(at, draw(st.lists(st.integers(0, 3), max_size=4, unique=True))) for at in times]


def brute_force(pages: Rows, changes: Rows, links: Rows, plan: list[tuple[float, list[int]]]) -> Rows:
    """Answer all visits by going through the tables."""
    copies = {page: 0.0 for page, born, _ in pages if born <= 0}
    heard = set(copies)
    answers: Rows = []

    def targets(page: int, at: float) -> set[tuple[bool, int, str | None]]:
        return {(inner, to, name) for p, a, b, inner, to, name in links if p == page and a <= at and not b <= at}

    for at, wanted in plan:
        found: set[int] = set()
        for page in wanted:
            _, born, died = pages[page]
            size, new = 0, [0, 0]
            copy = copies.get(page)
            if died <= at:
                outcome = Outcome.GONE
                copies.pop(page, None)
            elif born > at:
                outcome = Outcome.FAILED
            else:
                seen = [c for c in changes if c[0] == page and copy is not None and copy < c[1] <= at]
                outcome = Outcome.FIRST if copy is None else Outcome.CHANGED if seen else Outcome.UNCHANGED
                if copy is not None and seen:
                    size = sum(c[2] + c[3] for c in seen)
                    fresh = targets(page, at) - targets(page, copy)
                    new = [sum(inner for inner, _, _ in fresh), sum(not inner for inner, _, _ in fresh)]
                if outcome in (Outcome.FIRST, Outcome.CHANGED):
                    alive = {
                        to
                        for _, to, _ in targets(page, at)
                        if to >= 0 and pages[to][1] <= at and not pages[to][2] <= at
                    }
                    found |= alive - heard
                    heard |= alive
                copies[page] = at
            answers.append((at, page, int(outcome), size, *new))
        answers.append((at, sorted(found)))
    return answers


@settings(max_examples=100, deadline=None)
@given(histories(), visit_plans())
def test_any_visits_equal_a_recomputation_from_the_tables(history: tuple[Rows, Rows, Rows], plan: Any) -> None:
    """Outcome, size, new links and discoveries of random visits equal the brute force."""
    pages, changes, links = history
    world = RecordedWorld(web(pages, changes, links), links=True)
    plan = [(at, [page for page in wanted if page < len(pages)]) for at, wanted in plan]
    answers: Rows = []
    for at, wanted in plan:
        seen = visit(world, wanted, at)
        columns = (seen.at, seen.pages, seen.outcome, seen.change_size, seen.new_internal, seen.new_external)
        answers += list(zip(*(column.tolist() for column in columns), strict=True))
        answers.append((at, sorted(seen.discovered.tolist())))
    assert answers == brute_force(pages, changes, links, plan)


@settings(max_examples=50, deadline=None)
@given(histories(), visit_plans(), st.sampled_from([0.5, 1.0, 2.5, 3.0]))
def test_a_window_is_a_web_that_begins_later(history: tuple[Rows, Rows, Rows], plan: Any, start: float) -> None:
    """Visits in a window equal visits in the whole after a visit to every page at the window's start."""
    pages, changes, links = history
    whole = web(pages, changes, links)
    part = whole.window(start, 10.0)
    long, short = RecordedWorld(whole, links=True), RecordedWorld(part, links=True)
    visit(long, np.flatnonzero((whole.born <= start) & (whole.died > start)).tolist(), start)
    for at, wanted in plan:
        inside = [page for page in wanted if page in part.page_ids and at > start]
        one, two = visit(long, inside, at), visit(short, part.rows_of(np.array(inside, dtype=np.int64)).tolist(), at)
        for name in ("outcome", "change_size", "new_internal", "new_external"):
            assert getattr(one, name).tolist() == getattr(two, name).tolist()
