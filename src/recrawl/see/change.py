"""What a change is: from two versions of a page to its kind, size and significance.

Significance (Radinsky & Bennett 2013, eq. 1): a change is significant if the chi-squared test that both versions draw
their words from one distribution has p < 0.05. With counts a_w (sum A) before and b_w (sum B) after,

    X2 = sum over the words of (sqrt(B/A) a - sqrt(A/B) b)^2 / (a + b),    words - 1 degrees of freedom

where every word is expected five times in both versions; `word_test` says what is done for rarer ones.

Large samples: on a long page a slight shift of common words has a tiny p. `ChangeRule.effect` asks besides for Cramer's
V = sqrt(X2 / (A + B)) over all words, rare ones too, which is 0 for equal distributions, 1 for disjoint ones and does
not grow with the page: 0.1 is by convention a small effect. Where there is no p (NaN), the effect alone decides.

Two versions of a page are not independent samples: what was not edited is in both. So the test is conservative, and a
change that is significant by it rewrote a good part of the page. `ChangeRule.rewritten` takes instead the share of the
words that were added or removed, |a - b| / (A + B) summed over the words, as a plain effect size.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from recrawl.columns import FloatArray, IntArray
from recrawl.compiled import kernel
from recrawl.see.chi_squared import chi_squared_tail
from recrawl.see.fingerprint import digest, digest_of_bytes, stable_text
from recrawl.see.word_test import ADDED_UP, SUM, statistic, take_word
from recrawl.see.words import Bag, Buckets, Counts, bag_of, split_words

LEVEL = 0.05  # of significance
LARGE_EFFECT = 0.5  # of Cramer's V, by convention: decides where no test is possible


class ChangeKind(IntEnum):
    """The kind of a change, from no change to a significant one; a later kind is a greater change."""

    SAME = 0  # nothing differs
    ROTATING = 1  # only what differs between any two visits: clocks, counters, tokens
    LINKS = 2  # the text is the same, links are not
    ORDER = 3  # the same words in another order, or other marks between them
    WORDS = 4  # words came or went, not significantly
    OPAQUE = 5  # there is no text to compare, and the bytes differ
    SIGNIFICANT = 6  # the distribution of the words is another


@dataclass(frozen=True)
class Version:
    """One version of a page. Content that is not text has only a body."""

    text: str = ""
    links: Collection[str] = ()
    body: bytes = b""


@dataclass(frozen=True)
class ChangeRule:
    """When a change is significant: the chi-squared test at `level`, and an effect of at least this size.

    With `test=False` the effect sizes alone decide: Cramer's V of at least `effect` and a share of `rewritten` words.
    """

    level: float = LEVEL
    effect: float = 0.0
    rewritten: float = 0.0
    test: bool = True

    def holds(self, p: float, v: float, rewritten: float) -> bool:
        """Whether a change with this p-value and these effect sizes is significant; where p is NaN, V decides."""
        if v < self.effect or rewritten < self.rewritten or rewritten <= 0.0:
            return False
        return not self.test or (v >= LARGE_EFFECT if math.isnan(p) else p < self.level)


PAPER = ChangeRule()


@dataclass(frozen=True)
class Distance:
    """Distance between two bags of words: test statistic, effect sizes, words added and removed."""

    chi2: float  # on the scale of its degrees of freedom
    cells: float  # one more than these; the words that are compared, where all are frequent
    p: float  # NaN where no test is possible
    effect: float  # Cramer's V of all words
    cosine: float  # 1 for two empty bags, 0 if one is empty
    magnitude: float  # Euclidean length of the difference of the counts
    added: int  # words, with repetition
    removed: int
    rewritten: float  # words added and removed, as a share of the words of both versions


@dataclass(frozen=True)
class Change:
    """What differs between two versions of a page."""

    kind: ChangeKind
    distance: Distance
    words_added: Mapping[str, int] = field(default_factory=dict)
    words_removed: Mapping[str, int] = field(default_factory=dict)
    links_added: frozenset[str] = frozenset()
    links_removed: frozenset[str] = frozenset()

    @property
    def significant(self) -> bool:
        """Whether the distribution of the words differs, by the given rule."""
        return self.kind == ChangeKind.SIGNIFICANT

    @property
    def significance(self) -> float:
        """The p-value of the chi-squared test; NaN where it cannot be made."""
        return self.distance.p

    @property
    def magnitude(self) -> float:
        """The length of the change vector."""
        return self.distance.magnitude


def compare(old: Version, new: Version, rule: ChangeRule = PAPER) -> Change:
    """Compare two versions of a page: the kind, size and significance of the change."""
    before, after = Counter(split_words(old.text)), Counter(split_words(new.text))
    distance = distance_of(bag_of(old.text), bag_of(new.text))
    gained, lost = frozenset(new.links) - frozenset(old.links), frozenset(old.links) - frozenset(new.links)
    return Change(
        kind=_kind(old, new, before == after, bool(gained or lost), distance, rule),
        distance=distance,
        words_added=dict(after - before),
        words_removed=dict(before - after),
        links_added=gained,
        links_removed=lost,
    )


def _kind(
    old: Version, new: Version, same_words: bool, links: bool, distance: Distance, rule: ChangeRule
) -> ChangeKind:
    if not old.text.strip() and not new.text.strip():
        if digest_of_bytes(old.body) != digest_of_bytes(new.body):
            return ChangeKind.OPAQUE
        return ChangeKind.LINKS if links else ChangeKind.SAME
    if digest(old.text) == digest(new.text):
        return ChangeKind.LINKS if links else ChangeKind.SAME
    if stable_text(old.text) == stable_text(new.text):
        return ChangeKind.LINKS if links else ChangeKind.ROTATING
    if same_words:
        return ChangeKind.ORDER
    return ChangeKind.SIGNIFICANT if rule.holds(distance.p, distance.effect, distance.rewritten) else ChangeKind.WORDS


def distance_of(old: Bag, new: Bag) -> Distance:
    """Return the distance between two bags of words."""
    row = np.zeros(8)
    _compare(old.bucket, old.count, new.bucket, new.count, row)
    chi2, cells, effect, cosine, magnitude, added, removed, rewritten = row.tolist()
    p = p_value(chi2, cells)
    return Distance(chi2, cells, p, effect, cosine, magnitude, int(added), int(removed), rewritten)


def p_value(chi2: float, cells: float) -> float:
    """Return P(chi-squared with cells - 1 degrees of freedom >= chi2): 0 if a version is empty, NaN without a test."""
    if math.isinf(chi2):
        return 0.0
    return float(chi_squared_tail(cells - 1.0, chi2)) if cells > 1.0 else math.nan


@kernel
def row_distances(start: IntArray, bucket: Buckets, count: Counts, old: IntArray, new: IntArray) -> FloatArray:
    """Compare version old[i] with version new[i]: chi2, cells, V, cosine, magnitude, added, removed, rewritten."""
    out = np.zeros((len(old), 8))
    for k in range(len(old)):
        i, i_end, j, j_end = start[old[k]], start[old[k] + 1], start[new[k]], start[new[k] + 1]
        _compare(bucket[i:i_end], count[i:i_end], bucket[j:j_end], count[j:j_end], out[k])
    return out


@kernel
def _compare(old_bucket: Buckets, old_count: Counts, new_bucket: Buckets, new_count: Counts, out: FloatArray) -> None:
    """Merge both bags in the order of their buckets, adding up every distance."""
    A, B = float(old_count.sum()), float(new_count.sum())
    if A == 0 or B == 0:
        _with_empty(out, A, B, old_count, new_count)
        return
    dot, aa, bb, square, added, removed = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    sums = np.zeros(ADDED_UP)
    i, j = 0, 0
    while i < len(old_bucket) or j < len(new_bucket):
        a, b = 0.0, 0.0
        here = old_bucket[i] if i < len(old_bucket) else 1 << 30
        there = new_bucket[j] if j < len(new_bucket) else 1 << 30
        if here <= there:
            a = float(old_count[i])
            i += 1
        if there <= here:
            b = float(new_count[j])
            j += 1
        dot += a * b
        aa += a * a
        bb += b * b
        square += (a - b) ** 2
        added += max(b - a, 0.0)
        removed += max(a - b, 0.0)
        take_word(a, b, A, B, sums)
    out[0], out[1] = statistic(sums, A, B)
    out[2] = min(np.sqrt(sums[SUM] / (A + B)), 1.0)
    out[3] = min(dot / np.sqrt(aa * bb), 1.0)
    out[4], out[5], out[6] = np.sqrt(square), added, removed
    out[7] = (added + removed) / (A + B)


@kernel
def _with_empty(row: FloatArray, A: float, B: float, old: Counts, new: Counts) -> None:
    """An empty version beside one with words: every word is new, chi2 is infinite and V is 1."""
    same = A == 0 and B == 0
    row[0], row[1], row[2], row[3] = (0.0, 0, 0.0, 1.0) if same else (np.inf, 2, 1.0, 0.0)
    square = 0.0
    for count in old:
        square += float(count) ** 2
    for count in new:
        square += float(count) ** 2
    row[4], row[5], row[6], row[7] = np.sqrt(square), B, A, 0.0 if same else 1.0
