"""Themes: pages of a site are grouped by the words of their first copies."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import numpy.typing as npt
import pytest

from recrawl.columns import PageIds, tie_order
from recrawl.copies import PageBags
from recrawl.cycle import EveryPage, run_cycle
from recrawl.policies.catalogue import make_policy
from recrawl.policies.learned.learned import Learned
from recrawl.policies.learned.places import SITE, THEME
from recrawl.policies.learned.themes import (
    AT_ONCE,
    FEWEST,
    LEAST,
    MOST,
    NO_THEME,
    WORDS,
    Themes,
    heaviest_words,
    themes_of,
)
from recrawl.policy import Setting
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld
from recrawl.simulate.synthetic.synthesis import synthesize
from support.real_recordings import THREE_SITES

Bag = dict[int, int]


def bags_of(pages: list[Bag]) -> PageBags:
    """Return these words and counts as columns."""
    start = np.append(0, np.cumsum([len(bag) for bag in pages])).astype(np.int64)
    words = np.array([word for bag in pages for word in sorted(bag)], dtype=np.int32)
    counts = np.array([bag[word] for bag in pages for word in sorted(bag)], dtype=np.int32)
    return PageBags(start, words, counts)


def web(topics: int, pages: int, seed: int = 0) -> list[Bag]:
    """Return pages of several topics: five words of their topic's twenty, and three that every page may have."""
    draw = np.random.default_rng(seed)
    out: list[Bag] = []
    for i in range(pages):
        own = 1000 + 100 * (i % topics) + draw.choice(20, 5, replace=False)
        out.append({int(word): int(draw.integers(1, 4)) for word in [*own, *draw.choice(50, 3, replace=False)]})
    return out


class Held:
    """Copies with these words."""

    def __init__(self, pages: list[Bag]) -> None:
        self.pages = pages

    def bags(self, pages: PageIds) -> PageBags:
        return bags_of([self.pages[page] for page in pages.tolist()])


def test_weights_by_hand() -> None:
    """Four pages: word 7 is on all, 9 on one, so both say nothing; 8 is on two, thrice on the first, 5 on three."""
    start, column, weight = heaviest_words(
        bags_of([{5: 1, 7: 1, 8: 3}, {7: 2, 8: 1, 9: 1}, {5: 2, 7: 1}, {5: 1, 7: 4}])
    )
    eight, five = (1 + log(3)) * log(4 / 2), log(4 / 3)
    length = sqrt(eight**2 + five**2)
    assert start.tolist() == [0, 2, 3, 4, 5]
    assert column.tolist() == [2, 0, 2, 0, 0]  # of 5, 7, 8 and 9, the heaviest of a page first
    assert weight == pytest.approx([eight / length, five / length, 1, 1, 1])


def test_only_the_heaviest_words_count() -> None:
    many = {word: 1 + (word == 0) for word in range(WORDS + 5)}
    start, column, _ = heaviest_words(bags_of([many, many, {}]))
    assert start.tolist() == [0, WORDS, 2 * WORDS, 2 * WORDS]
    assert column[:WORDS].tolist() == list(range(WORDS)), "word 0 is the heaviest, then those of smaller numbers"


def test_pages_of_one_topic_share_themes() -> None:
    """400 pages of 10 topics: a theme has at most MOST pages, and nearly all of them have one topic."""
    label = themes_of(bags_of(web(10, 400)))
    sizes = np.bincount(label)
    assert sizes.min() >= MOST // FEWEST
    assert sizes.max() <= MOST
    topic = np.arange(400) % 10
    same = sum(int(np.bincount(topic[label == theme]).max()) for theme in range(len(sizes)))
    assert same >= 0.9 * 400


def test_pages_without_words_have_no_theme() -> None:
    pages = web(3, 100)
    pages[10] = {}
    pages[20] = {999_999: 3}  # a word that no other page has
    label = themes_of(bags_of(pages))
    assert np.flatnonzero(label == NO_THEME).tolist() == [10, 20]


def test_alike_pages_are_not_cut() -> None:
    one: Bag = {5: 1, 6: 2}
    label = themes_of(bags_of([*[one] * 200, *[{7: 1, 8: 1}] * 100]))
    assert len(np.unique(label[:200])) == 1
    assert len(np.unique(label[200:])) == 1
    assert label[0] != label[200]


def test_a_site_without_shared_words_has_no_themes() -> None:
    assert (themes_of(bags_of([{page: 1} for page in range(100)])) == NO_THEME).all()
    assert (themes_of(bags_of([{}] * 100)) == NO_THEME).all()


def grouped(themes: Themes, pages: list[Bag], held: PageIds, site: npt.NDArray[np.int64]) -> dict[int, int]:
    """Group what is due; return the theme of each page that was grouped."""
    tie = tie_order(np.arange(len(pages)), 1)
    found = themes.group(Held(pages), held, site, tie)  # type: ignore[arg-type]  # only its words are asked for
    return dict(zip(found[0].tolist(), found[1].tolist(), strict=True))


def test_sites_are_grouped_when_their_copies_double() -> None:
    pages, site, themes = web(4, 300), np.arange(300) % 2, Themes()
    assert not grouped(themes, pages, np.arange(2 * LEAST - 2), site), "too few pages"
    first = grouped(themes, pages, np.arange(2 * LEAST), site)
    assert sorted(first) == list(range(2 * LEAST))
    assert not grouped(themes, pages, np.arange(3 * LEAST), site), "not twice as many"
    second = grouped(themes, pages, np.arange(4 * LEAST), site)
    assert sorted(second) == list(range(4 * LEAST))
    assert not set(first.values()) & set(second.values()), "numbers of their own"
    for theme in set(second.values()):
        assert len({page % 2 for page, of in second.items() if of == theme}) == 1, "of one site"


def test_a_cycle_groups_so_many_pages_the_smallest_sites_first() -> None:
    count = AT_ONCE // 2
    pages = [{1: 1, 2 + page % 9: 1, 20 + page % 7: 1} for page in range(3 * count + 60)]
    site = np.repeat([0, 1, 2, 3], [count, count, 60, count])
    themes, turns = Themes(), []
    while found := grouped(themes, pages, np.arange(len(pages)), site):
        turns.append(sorted({int(site[page]) for page in found}))
    assert turns[0][-2:] != [3, 3]
    assert 2 in turns[0]
    assert sorted(one for turn in turns for one in turn) == [0, 1, 2, 3], "each once"
    assert max(len(turn) for turn in turns) == 2


def test_themes_do_not_depend_on_page_numbers() -> None:
    pages, draw = web(5, 300), np.random.default_rng(3)
    keys, site = np.arange(300), np.zeros(300, dtype=np.int64)
    order = draw.permutation(300)
    one = Themes().group(Held(pages), keys, site, tie_order(keys, 1))  # type: ignore[arg-type]
    moved = [pages[page] for page in order]
    other = Themes().group(Held(moved), keys, site, tie_order(order, 1))  # type: ignore[arg-type]
    assert dict(zip(one[0].tolist(), one[1].tolist(), strict=True)) == {
        int(order[page]): theme for page, theme in zip(other[0].tolist(), other[1].tolist(), strict=True)
    }


def test_pages_without_a_theme_stay_where_they_are() -> None:
    pages = web(3, 100)
    pages[10] = {}
    found = grouped(Themes(), pages, np.arange(100), np.zeros(100, dtype=np.int64))
    assert sorted(found) == [page for page in range(100) if page != 10]


def test_without_copies_there_are_no_themes() -> None:
    held, tie = np.arange(100), tie_order(np.arange(100), 1)
    assert not len(Themes().group(None, held, np.zeros(100, dtype=np.int64), tie)[0])


def test_themes_of_a_recording_join_what_changed_together() -> None:
    """On three real sites pages of a theme share a site, and the groups of `learned` follow them."""
    recording = Recording.open(THREE_SITES)
    policy = make_policy("learned(base=none)", Setting(seed=1))
    assert isinstance(policy, Learned)
    world = RecordedWorld(recording)
    memory = world.memory(cycle_days=7.0, seed=1)
    run_cycle(world, memory, EveryPage(policy), len(memory), recording.start + 7.0)
    ids = policy.belief.places.ids[: len(memory)]
    pages = np.flatnonzero(ids[:, SITE] >= 0)
    themes, sizes = np.unique(ids[pages, THEME], return_counts=True)
    for theme in themes:
        assert len(np.unique(memory.site[pages[ids[pages, THEME] == theme]])) == 1
    assert (sizes <= MOST).sum() > 10


def test_copies_without_terms_have_no_bags() -> None:
    web = synthesize("waking", 200, 30.0, seed=1, only=("sites", "pages", "changes"))
    copies = RecordedWorld(web).memory(cycle_days=7.0).copies
    assert copies is not None
    assert copies.bags(np.arange(5)) is None
