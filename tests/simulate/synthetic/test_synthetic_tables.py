"""The tables of a synthetic web agree with one another, whatever its size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.columns import FloatArray, IntArray
from recrawl.cycle import EveryPage, run_cycle
from recrawl.policies.catalogue import make_policy
from recrawl.policy import Setting
from recrawl.recording.recording import Recording
from recrawl.recording.tables import Column
from recrawl.simulate.recorded import RecordedWorld
from recrawl.simulate.synthetic.presets import presets
from recrawl.simulate.synthetic.synthesis import synthesize

NAMES = [entry.name for entry in presets]


@pytest.fixture(scope="module")
def mixed() -> Recording:
    """A web where pages are born and die."""
    return synthesize("mixed", 4_000, seed=11)


def column(recording: Recording, table: str, name: str) -> Column:
    return recording.tables.column(table, name)


sizes = st.builds(
    lambda name, pages, days, seed: (name, pages, days, seed),
    st.sampled_from(NAMES),
    st.integers(1, 120),
    st.one_of(st.integers(1, 60).map(float), st.floats(0.1, 60.0)),
    st.integers(0, 2**40),
)


@settings(max_examples=40, deadline=None)
@given(sizes)
def test_any_web_is_consistent(size: tuple[str, int, float, int]) -> None:
    """Whatever the size: the recording is valid, and links, versions and lives agree with the changes."""
    crawl = synthesize(*size)
    assert len(crawl) == size[1]
    check_lives(crawl)
    check_links(crawl)
    check_versions(crawl)


@pytest.mark.parametrize("name", NAMES)
def test_larger_webs_are_consistent(name: str) -> None:
    """Links, versions and lives agree with the changes where sites are large and histories long."""
    crawl = synthesize(name, 600 if name == "stories" else 2_500, seed=6)  # stories have a text per version
    check_lives(crawl)
    check_links(crawl)
    check_versions(crawl)


def check_lives(crawl: Recording) -> None:
    """Every change lies strictly within its page's life and the window, and a page's changes ascend."""
    page, day = column(crawl, "changes", "page_id"), column(crawl, "changes", "day")
    assert (day > np.maximum(crawl.born, 0)[page]).all()
    assert (day < crawl.died[page]).all()
    assert (day <= np.float32(crawl.end)).all()
    assert (np.diff(day)[np.diff(page) == 0] > 0).all()
    assert (np.diff(page) >= 0).all()
    assert (crawl.died > np.maximum(crawl.born, 0)).all()


def check_links(crawl: Recording) -> None:
    """Recount from the link intervals what the changes and the pages say of links."""
    links = {
        name: column(crawl, "links", name) for name in ("page_id", "day_from", "day_to", "internal", "target_page")
    }
    page, internal = links["page_id"], links["internal"]
    birth = np.maximum(crawl.born, 0)
    assert ((links["day_to"] > links["day_from"]) | np.isnan(links["day_to"])).all()
    dying = np.isfinite(crawl.died[page])
    assert (links["day_to"][dying] <= crawl.died[page][dying]).all()
    at_death = links["day_to"] == crawl.died[page]
    opens, closes = _key(page, links["day_from"]), _key(page, links["day_to"])
    changes = _key(column(crawl, "changes", "page_id"), column(crawl, "changes", "day"))
    change_page = column(crawl, "changes", "page_id")
    for side, word in ((True, "internal"), (False, "external")):
        mine = internal == side
        first = mine & (links["day_from"] == birth[page])
        held = np.bincount(page[first], minlength=len(crawl))
        assert np.array_equal(held, column(crawl, "pages", f"out_{word}"))
        new, lost = _occurrences(opens[mine & ~first], changes), _occurrences(closes[mine], changes)
        assert new.sum() == (mine & ~first).sum()
        assert lost.sum() == (mine & ~at_death & ~np.isnan(links["day_to"])).sum()
        assert np.array_equal(new, column(crawl, "changes", f"new_{word}"))
        assert np.array_equal(lost, column(crawl, "changes", f"lost_{word}"))
        total = np.append(0, np.cumsum(new - lost))
        before = total[np.searchsorted(change_page, change_page)]
        assert np.array_equal(held[change_page] + total[1:] - before, column(crawl, "changes", f"out_{word}"))
    check_targets(crawl, links)


def _key(page: Column, day: Column) -> FloatArray:
    return page.astype(np.float64) * 4096 + day.astype(np.float64)


def _occurrences(events: FloatArray, at: FloatArray) -> IntArray:
    """How often each of the ascending moments `at` occurs among the events; other events must not be."""
    ordered = np.sort(events)
    return np.searchsorted(ordered, at, side="right") - np.searchsorted(ordered, at, side="left")


def check_targets(crawl: Recording, links: dict[str, Column]) -> None:
    """A target is a page of the same site or an address, never both; it exists; no page links twice to one target."""
    target, page = links["target_page"], links["page_id"]
    address = column(crawl, "links", "target")
    listed = target >= 0
    assert all((text is None) == is_page for text, is_page in zip(address, listed, strict=True))
    assert (crawl.site[target[listed]] == crawl.site[page[listed]]).all()
    assert links["internal"][listed].all()
    assert (target[listed] != page[listed]).all()
    assert (crawl.born[target[listed]] <= links["day_from"][listed]).all()
    assert (crawl.died[target[listed]] > links["day_from"][listed]).all()
    pairs = page[listed] * len(crawl) + target[listed].astype(np.int64)
    assert len(np.unique(pairs)) == len(pairs)
    named = list(zip(page[~listed].tolist(), address[~listed].tolist(), strict=True))
    assert len(set(named)) == len(named)
    inner = links["internal"][~listed]
    assert all(text.startswith("/") == within for (_, text), within in zip(named, inner, strict=True))


def check_versions(crawl: Recording) -> None:
    """Words add up from version to version; similarities are probabilities, 1 where no word differs."""
    page = column(crawl, "changes", "page_id")
    words, added, removed = (column(crawl, "changes", name) for name in ("words", "d_words_added", "d_words_removed"))
    first = np.append(True, page[1:] != page[:-1])[: len(page)]
    before = np.where(first, column(crawl, "pages", "words")[page], np.roll(words, 1))
    assert np.array_equal(words, before + added - removed)
    assert (words > 0).all()
    for name in ("cosine", "chi2_p"):
        similarity = column(crawl, "changes", name)
        assert ((similarity >= 0) & (similarity <= 1)).all()
        assert (similarity[added + removed == 0] == 1).all()
    assert (column(crawl, "changes", "bytes") >= column(crawl, "changes", "text_bytes")).all()


def test_every_newborn_page_is_soon_linked_from_an_older_one(mixed: Recording) -> None:
    """Within a day of its birth an older page of the site links to it, and keeps the link."""
    crawl = mixed
    source, target = column(crawl, "links", "page_id"), column(crawl, "links", "target_page")
    opened, closed = column(crawl, "links", "day_from"), column(crawl, "links", "day_to")
    newborn = np.flatnonzero(crawl.born > 0)
    good = (target >= 0) & (crawl.born[source] <= 0) & np.isnan(closed) & (opened - crawl.born[target] < 1)
    assert set(newborn) <= set(target[good])


def test_a_crawler_that_follows_links_finds_every_newborn_page() -> None:
    """Visiting all known pages every day, the recorded world shows every page that was born."""
    crawl = synthesize("mixed", 1_500, 40, seed=3)
    world = RecordedWorld(crawl, discover="links")
    memory = world.memory(cycle_days=1.0)
    policy = EveryPage(make_policy("age", Setting(1, world)))
    assert not memory.known.all()
    for day in range(40):
        run_cycle(world, memory, policy, len(crawl), day + 1.0)
    assert memory.known.all()


def test_mass_edits_are_marked(mixed: Recording) -> None:
    """Of the moments with ten changes on a site, those that touch over a fifth of its living pages are mass edits."""
    page, day = column(mixed, "changes", "page_id"), column(mixed, "changes", "day")
    marked = column(mixed, "changes", "mass_commit")
    moments, first, inverse, touched = np.unique(
        mixed.site[page] * 4096.0 + day, return_index=True, return_inverse=True, return_counts=True
    )
    assert not marked[touched[inverse] < 10].any()
    assert marked.sum() > 100
    for moment in np.flatnonzero(touched >= 10):
        site, at = mixed.site[page[first[moment]]], moments[moment] % 4096
        living = ((mixed.site == site) & (mixed.born < at) & (mixed.died > at)).sum()
        assert (marked[inverse == moment] == (touched[moment] > 0.2 * living)).all()
