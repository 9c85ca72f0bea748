"""What a change is: kind, size and significance of the difference between two versions."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recrawl.see.change import ChangeKind, ChangeRule, Version, compare, distance_of
from recrawl.see.word_test import ADDED_UP, statistic, take_word
from recrawl.see.words import BUCKETS, Bag, bag_of, bucket_of, split_words

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "é", "東京", "x1"]), max_size=60)


@given(st.text(max_size=300))
def test_words_are_counted_as_python_would(text: str) -> None:
    """The compiled counter finds the words and buckets of a regular expression and zlib's CRC-32, in any script."""
    bag = bag_of(text)
    expected = Counter(bucket_of(word) for word in split_words(text))
    assert dict(zip(bag.bucket.tolist(), bag.count.tolist(), strict=True)) == dict(expected)
    assert (np.diff(bag.bucket) > 0).all()


@given(
    st.text(
        alphabet="abXYZ09 _-\u00e9\u00c9\u00df\u03a3\u03c3\u03c2\u0130\u023a\u2126\u2014\u00bd\u2167\u65e5\U0001f600",
        max_size=60,
    )
)
def test_words_beyond_ascii_are_counted_as_python_splits_them(text: str) -> None:
    """Letters of every script, whose lower case may be longer or depend on what follows, fall into the same buckets."""
    bag = bag_of(text)
    counted = Counter(bucket_of(word) for word in split_words(text))
    assert dict(zip(bag.bucket.tolist(), bag.count.tolist(), strict=True)) == counted


def test_fewer_buckets_fold_the_same_hash() -> None:
    """A smaller hash space adds up the buckets of the larger one."""
    text = " ".join(f"word{i}" for i in range(500))
    large, small = bag_of(text), bag_of(text, 64)
    folded = np.bincount(large.bucket % 64, large.count, minlength=64)
    assert small.count.tolist() == folded[small.bucket].tolist()
    assert small.total == large.total == 500
    assert BUCKETS % 64 == 0


def test_chi_squared_by_hand() -> None:
    """Four words 40 times each, one replaced: X2 = 2 * 40^2/40 = 80 with five cells, V = sqrt(80/320) = 1/2."""
    change = compare(Version("a b c d " * 40), Version("a b c e " * 40))
    assert change.distance.chi2 == pytest.approx(80.0)
    assert change.distance.cells == 5
    assert change.significance == pytest.approx(stats.chi2.sf(80.0, 4))
    assert change.distance.effect == pytest.approx(0.5)
    assert change.kind == ChangeKind.SIGNIFICANT
    assert change.words_added == {"e": 40}
    assert change.words_removed == {"d": 40}
    assert change.magnitude == pytest.approx(math.sqrt(2 * 40**2))
    assert change.distance.cosine == pytest.approx(0.75)


def test_the_test_is_scipys_where_no_word_is_rare() -> None:
    """With at least five expected everywhere the statistic is that of the contingency table, whatever the lengths."""
    old, new = "a " * 50 + "b " * 20 + "c " * 30, "a " * 20 + "b " * 30 + "c " * 90
    statistic, p, _, _ = stats.chi2_contingency([[50, 20, 30], [20, 30, 90]], correction=False)
    distance = distance_of(bag_of(old), bag_of(new))
    assert distance.chi2 == pytest.approx(statistic)
    assert distance.p == pytest.approx(p)


def test_the_same_rare_words_are_no_change() -> None:
    """Forty words that occur once in each version speak for one distribution."""
    text = " ".join(f"w{i}" for i in range(40))
    assert distance_of(bag_of(text), bag_of(text)).p == 1.0


@pytest.mark.parametrize("words", [10, 19, 60, 400])
def test_a_page_of_other_words_is_another_page(words: int) -> None:
    """Distinct words that are all replaced are a significant change with V = 1, on short pages and on long ones."""
    change = compare(
        Version(" ".join(f"old{i}" for i in range(words))), Version(" ".join(f"new{i}" for i in range(words)))
    )
    assert change.significant
    assert change.significance < 0.03
    assert change.distance.effect == 1.0


def test_what_was_kept_does_not_hide_what_was_replaced() -> None:
    """Fifteen words stay and sixty others are replaced: significant; three replaced of sixty-three are not."""
    kept, old, new = (" ".join(f"{name}{i}" for i in range(n)) for name, n in (("k", 15), ("o", 60), ("n", 62)))
    assert compare(Version(f"{kept} {old}"), Version(f"{kept} {new}")).significant
    assert not compare(Version(f"{kept} {old} a b c"), Version(f"{kept} {old} d e f")).significant


def test_rare_words_are_tested_by_all_ways_to_divide_them() -> None:
    """Mean and variance of the statistic of rare words are those over every division of them between the versions."""
    words = np.repeat(np.arange(4), [1, 2, 2, 3])
    seen = []
    for first in itertools.combinations(range(8), 3):
        table = np.zeros((2, 4))
        np.add.at(table, (np.isin(np.arange(8), first).astype(int), words), 1)
        seen.append(stats.chi2_contingency(table, correction=False)[0])
    sums = np.zeros(ADDED_UP)
    for a, b in ((1, 0), (1, 1), (1, 1), (0, 3)):
        take_word(float(a), float(b), 3.0, 5.0, sums)
    chi2, cells = statistic(sums, 3.0, 5.0)
    mean, spread = np.mean(seen), np.var(seen)
    value = stats.chi2_contingency([[1, 1, 1, 0], [0, 1, 1, 3]], correction=False)[0]
    assert cells - 1 == pytest.approx(2 * mean**2 / spread)
    assert chi2 == pytest.approx(value * 2 * mean / spread)


@pytest.mark.parametrize(("vocabulary", "old", "new"), [(10, 60, 60), (30, 20, 20), (100, 60, 120), (1000, 1000, 700)])
def test_one_in_twenty_pages_is_called_changed_by_chance(vocabulary: int, old: int, new: int) -> None:
    """Two texts drawn from one distribution (Zipf's) differ significantly in about 5% of cases, rare words or not."""
    random = np.random.default_rng(vocabulary)
    shares = 1.0 / np.arange(1, vocabulary + 1)
    shares /= shares.sum()
    wrong = 0
    for _ in range(400):
        bags = []
        for size in (old, new):
            count = random.multinomial(size, shares).astype(np.int32)
            bags.append(Bag(np.flatnonzero(count).astype(np.int32), count[count > 0]))
        wrong += distance_of(*bags).p < 0.05
    assert 0.02 < wrong / 400 < 0.085


def test_no_p_never_hides_an_effect() -> None:
    """Where there is no test (p is NaN) a large effect makes a change significant, and a small one does not."""
    assert ChangeRule().holds(math.nan, 0.9, 0.9)
    assert not ChangeRule().holds(math.nan, 0.1, 0.1)
    assert not ChangeRule(effect=0.95).holds(math.nan, 0.9, 0.9)


def test_with_long_pages_the_effect_size_decides() -> None:
    """A slight shift on a very long page is significant by p; an effect size of 0.1 says that it is small."""
    old, new = Version("a " * 20_000 + "b " * 20_000), Version("a " * 20_500 + "b " * 19_500)
    assert compare(old, new).significant
    assert not compare(old, new, ChangeRule(effect=0.1)).significant
    assert compare(
        Version("a " * 200 + "b " * 200), Version("a " * 300 + "b " * 100), ChangeRule(effect=0.1)
    ).significant


def test_the_share_of_rewritten_words_can_decide_alone() -> None:
    """Without the test a change of 1% of the words counts, however small the page."""
    rule = ChangeRule(test=False, rewritten=0.01)
    assert compare(Version("one two three"), Version("one two four"), rule).significant
    assert not compare(Version("x " * 1000 + "a"), Version("x " * 1000 + "b"), rule).significant


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (Version("same words"), Version("same words"), ChangeKind.SAME),
        (Version("now 12:30:05\nnews"), Version("now 12:31:07\nnews"), ChangeKind.ROTATING),
        (Version("text", links={"a"}), Version("text", links={"b"}), ChangeKind.LINKS),
        (Version("one two"), Version("two, one!"), ChangeKind.ORDER),
        (Version("one two"), Version("one three"), ChangeKind.WORDS),
        (Version(body=b"\x89PNG1"), Version(body=b"\x89PNG2"), ChangeKind.OPAQUE),
        (Version(body=b"\x89PNG1"), Version(body=b"\x89PNG1"), ChangeKind.SAME),
        (Version(""), Version("words at last"), ChangeKind.SIGNIFICANT),
        (Version("words"), Version(" \n "), ChangeKind.SIGNIFICANT),
        (Version("!!! ---"), Version("??? ---"), ChangeKind.ORDER),
    ],
)
def test_kinds(old: Version, new: Version, kind: ChangeKind) -> None:
    """Each kind of change has its name; content without words is judged by its bytes, an emptied page is a change."""
    assert compare(old, new).kind == kind


def test_links_are_told() -> None:
    """What links came and went is part of the change, also beside a change of words."""
    change = compare(Version("a", links=["x", "y"]), Version("b", links=["y", "z"]))
    assert change.links_added == {"z"}
    assert change.links_removed == {"x"}


@given(WORDS, WORDS)
def test_distances_are_symmetric_and_bounded(first: list[str], second: list[str]) -> None:
    """Swapping the versions swaps what was added and removed and leaves every distance; shares stay within 0 and 1."""
    a, b = bag_of(" ".join(first)), bag_of(" ".join(second))
    there, back = distance_of(a, b), distance_of(b, a)
    assert (there.added, there.removed) == (back.removed, back.added)
    assert there.chi2 == pytest.approx(back.chi2)
    assert there.added == sum((Counter(second) - Counter(first)).values())
    assert 0 <= there.effect <= 1
    assert 0 <= there.cosine <= 1 + 1e-12
    assert 0 <= there.rewritten <= 1
    assert (there.rewritten == 0) == (Counter(first) == Counter(second))
