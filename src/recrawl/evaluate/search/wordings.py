"""Which of the words of the queries each version of a page contains.

A recording has the words of a page's first version and of its last, and for some sites the text of every version. Where
there are texts they are counted. Elsewhere the versions between are not known word by word, but how many words each
change added and removed is: every word whose count differs between first and last version goes from the one to the
other at one of the page's changes, drawn with a chance in proportion to the words that the change touched (a fixed
draw from page and word). So a change that touched no word changes no text, and a rewrite changes most of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds, uniform
from recrawl.recording.contents import Terms, Texts
from recrawl.recording.recording import Recording
from recrawl.see.words import BUCKETS, bag_of

FOREVER = np.iinfo(np.int64).max
SEED = 2007  # of the fixed draw


@dataclass(frozen=True)
class Wordings:
    """Entries (page, word, count), each for the versions with `first` <= seen < `last`.

    A version is named by `seen`: the row of the changes table of the first change that is not in it.
    """

    words: IntArray  # the buckets that queries ask for, ascending
    page: PageIds
    word: IntArray  # a place in `words`
    count: IntArray
    first: IntArray
    last: IntArray

    def there(self, seen: IntArray, held: BoolArray) -> BoolArray:
        """Return for every entry whether these versions have it, for the pages in `held`."""
        version = seen[self.page]
        return held[self.page] & (self.first <= version) & (version < self.last)

    def at(self, seen: IntArray, held: BoolArray) -> tuple[PageIds, IntArray, IntArray]:
        """Return page, word and count of all that these versions hold, of the pages in `held`."""
        there = self.there(seen, held)
        return self.page[there], self.word[there], self.count[there]


def wordings(recording: Recording, words: IntArray) -> Wordings:
    """Find the versions that hold these words (buckets, ascending)."""
    place = np.full(BUCKETS, -1, dtype=np.int64)
    place[words] = np.arange(len(words))
    told = np.zeros(len(recording), dtype=np.bool_)
    counted: list[Part] = []
    if recording.tables.has("texts"):
        texts = recording.texts()
        told[texts.page] = True
        counted = _from_texts(recording, texts, place)
    parts = [*_from_terms(recording, words, place, ~told), *counted]
    columns = [np.concatenate([np.asarray(part[i]) for part in parts]) for i in range(5)]
    page, word, count, first, last = columns
    return Wordings(words, page.astype(np.int64), word.astype(np.int64), count.astype(np.int64), first, last)


Part = tuple[IntArray, IntArray, IntArray, IntArray, IntArray]  # page, word, count, first, last


def _from_terms(recording: Recording, words: IntArray, place: IntArray, wanted: BoolArray) -> list[Part]:
    if not recording.tables.has("terms"):
        return [_nothing()]
    terms, size = recording.terms, len(words)
    began, ended = _table(terms, place, size, False, wanted), _table(terms, place, size, True, wanted)
    has_end = np.zeros(len(recording), dtype=np.bool_)
    has_end[terms.page[terms.last]] = True
    changing = has_end & (np.diff(recording.change_start) > 0)
    key = np.union1d(began[0], ended[0])  # page * size + word
    page, word = (key // size).astype(np.int64), key % size
    before, after = _look_up(began, key), _look_up(ended, key)
    after = np.where(changing[page], after, before)
    same = before == after
    zero, ever = np.zeros(len(key), dtype=np.int64), np.full(len(key), FOREVER)
    turn = _turns(recording, page, uniform(recording.page_ids[page] * BUCKETS + words[word], SEED))
    kept, old, new = same & (before > 0), ~same & (before > 0), ~same & (after > 0)
    return [
        (page[kept], word[kept], before[kept], zero[kept], ever[kept]),
        (page[old], word[old], before[old], zero[old], turn[old]),
        (page[new], word[new], after[new], turn[new], ever[new]),
    ]


def _turns(recording: Recording, page: PageIds, draw: FloatArray) -> IntArray:
    """Return the version from which on a word has its last count: after the change that the draw falls on."""
    weight = np.ones(len(recording.change_day))
    if recording.has_change("d_words_added") and recording.has_change("d_words_removed"):
        weight = (recording.change_counts("d_words_added") + recording.change_counts("d_words_removed")).astype(
            np.float64
        )
    total = np.append(0.0, np.cumsum(weight))
    begin, end = recording.change_start[page], recording.change_start[page + 1]
    touched = total[end] - total[begin]
    by_words = np.searchsorted(total, total[begin] + draw * touched, side="right")  # the row after the change drawn
    by_count = begin + 1 + np.floor(draw * (end - begin)).astype(np.int64)  # no change touched a word: any of them
    return np.where(touched > 0, np.clip(by_words, begin + 1, np.maximum(end, begin + 1)), by_count)


def _table(terms: Terms, place: IntArray, size: int, last: bool, wanted: BoolArray) -> tuple[IntArray, IntArray]:
    """Return (page * size + word, count) of first or last versions, ascending."""
    row = np.repeat(np.arange(len(terms)), np.diff(terms.start))
    word = place[terms.bucket]
    kept = (word >= 0) & (terms.last[row] == last) & wanted[terms.page[row]]
    key = terms.page[row[kept]] * size + word[kept]
    order = np.argsort(key)
    return key[order], terms.count[kept].astype(np.int64)[order]


def _look_up(table: tuple[IntArray, IntArray], key: IntArray) -> IntArray:
    keys, counts = table
    if not len(keys):
        return np.zeros(len(key), dtype=np.int64)
    at = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
    return np.where(keys[at] == key, counts[at], 0)


def _from_texts(recording: Recording, texts: Texts, place: IntArray) -> list[Part]:
    """Count the words of every version that has a text; a text stands until the next one."""
    parts: list[Part] = []
    for i in range(len(texts)):
        page = int(texts.page[i])
        begin, end = int(recording.change_start[page]), int(recording.change_start[page + 1])
        days = recording.change_day[begin:end]
        first = begin + int(np.searchsorted(days, texts.day[i] + 1e-6, side="right"))
        follows = i + 1 < len(texts) and texts.page[i + 1] == page
        last = begin + int(np.searchsorted(days, texts.day[i + 1] + 1e-6, side="right")) if follows else FOREVER
        if i == 0 or texts.page[i - 1] != page:
            first = 0
        bag = bag_of(texts.text[i] or "")
        word = place[bag.bucket]
        word, count = word[word >= 0], bag.count[word >= 0]
        parts.append((np.full(len(word), page), word, count, np.full(len(word), first), np.full(len(word), last)))
    return parts


def _nothing() -> Part:
    none = np.empty(0, dtype=np.int64)
    return none, none, none, none, none
