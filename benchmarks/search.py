"""The search index beside another: the same copies, the same formula, the same ten results.

    python -m benchmarks.search [DATA] [--pages 150000] [--queries 100] [--share 0.05] [--seed 1]

Builds the index of all copies, replaces a share of them by other versions, and answers all queries (TF-IDF and
PageRank, half and half). Only where the postings come from differs: sorted columns (what recrawl uses), and SQLite's
full-text index FTS5, with a word and its count as a term.
DATA is a recording; without it words are drawn: every page holds each of 212 words with a chance by its rank.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import time
from dataclasses import dataclass

import numpy as np

from recrawl.columns import IntArray, PageIds
from recrawl.evaluate.search.engine import Index, IndexedCopies, search
from recrawl.evaluate.search.queries import Query
from recrawl.evaluate.search.search_quality import Searcher
from recrawl.recording.recording import Recording

WORDS = 212
ROUNDS = 3  # times the queries are asked; the fastest counts


class Fts5(Index):
    """Postings of SQLite's FTS5; a contentless table must be told the old words of what it deletes."""

    def __init__(self) -> None:
        self.held: dict[int, str] = {}
        self.base = sqlite3.connect(":memory:")
        self.base.execute(
            "CREATE VIRTUAL TABLE copies USING fts5(words, content='', detail=none, columnsize=0,"
            " tokenize=\"unicode61 tokenchars '_'\")"
        )
        self.base.execute("CREATE VIRTUAL TABLE terms USING fts5vocab(copies, instance)")

    def replace(self, pages: PageIds, page: PageIds, word: IntArray, count: IntArray) -> None:
        new: dict[int, list[str]] = {}
        for p, w, c in zip(page.tolist(), word.tolist(), count.tolist(), strict=True):
            new.setdefault(p, []).append(f"{w:x}_{c}")
        old = [(p, self.held.pop(p)) for p in pages.tolist() if p in self.held]
        added = {p: " ".join(terms) for p, terms in new.items()}
        with self.base:
            self.base.executemany("INSERT INTO copies(copies, rowid, words) VALUES ('delete', ?, ?)", old)
            self.base.executemany("INSERT INTO copies(rowid, words) VALUES (?, ?)", added.items())
        self.held |= added

    def postings(self, word: int) -> tuple[PageIds, IntArray]:
        bounds = f"{word:x}_", f"{word:x}`"  # the character after _
        rows = self.base.execute("SELECT doc, substr(term, ?) FROM terms WHERE term >= ? AND term < ?",
                                 (len(bounds[0]) + 1, *bounds)).fetchall()  # fmt: skip
        table = np.array(rows, dtype=np.int64).reshape(-1, 2)
        return table[:, 0], table[:, 1]


@dataclass(frozen=True)
class Corpus:
    """Copies at one moment, and those that replace some of them: page, word and count of every entry."""

    before: tuple[PageIds, IntArray, IntArray]
    pages: PageIds
    after: tuple[PageIds, IntArray, IntArray]
    copies: IndexedCopies
    queries: list[Query]


def drawn(pages: int, queries: int, share: float, seed: int) -> Corpus:
    """Draw words for the pages, other ones for a share of the pages, and queries of one to three words."""
    draw = np.random.default_rng(seed)
    replaced = np.sort(draw.choice(pages, int(share * pages), replace=False))
    before = _entries(np.arange(pages), draw)
    asked = [Query(tuple(draw.choice(WORDS, int(draw.integers(1, 4)), replace=False).tolist())) for _ in range(queries)]
    copies = IndexedCopies(
        pages, draw.integers(50, 2_000, pages).astype(np.float64), draw.pareto(1.2, pages), draw.permutation(pages)
    )
    return Corpus(before, replaced, _entries(replaced, draw), copies, asked)


def _entries(pages: PageIds, draw: np.random.Generator) -> tuple[PageIds, IntArray, IntArray]:
    chance = np.minimum(0.25, 1.0 / np.arange(1, WORDS + 1))
    holders = [pages[draw.random(len(pages)) < chance[word]] for word in range(WORDS)]
    word = np.repeat(np.arange(WORDS), [len(part) for part in holders])
    return np.concatenate(holders), word, 1 + draw.pareto(1.0, len(word)).astype(np.int64) % 1_000


def recorded(folder: str, queries: int, share: float, seed: int) -> Corpus:
    """Take the copies of a recording's first day, and for a share of its pages those of its last day."""
    web = Recording.open(folder)
    searcher = Searcher(web, None)
    first, last = searcher.live(web.start), searcher.live(web.end)
    draw = np.random.default_rng(seed)
    alive = np.flatnonzero(first.alive & last.alive)
    replaced = np.sort(draw.choice(alive, int(share * len(alive)), replace=False))
    chosen = np.zeros(len(web), dtype=np.bool_)
    chosen[replaced] = True
    before, after = searcher.held.at(first.seen, first.alive), searcher.held.at(last.seen, chosen)
    length = draw.integers(50, 2_000, len(web)).astype(np.float64)
    copies = IndexedCopies(int(first.alive.sum()), length, draw.pareto(1.2, len(web)), draw.permutation(len(web)))
    places = [tuple(np.searchsorted(searcher.words, query.words).tolist()) for query in searcher.queries]
    return Corpus(before, replaced, after, copies, [Query(words) for words in places[:queries]])


def measure(name: str, index: Index, corpus: Corpus) -> list[list[int]]:
    """Print a line; returns the results."""
    began = time.perf_counter()
    index.replace(np.unique(corpus.before[0]), *corpus.before)
    built = time.perf_counter() - began
    began = time.perf_counter()
    index.replace(corpus.pages, *corpus.after)
    updated = time.perf_counter() - began
    spent = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        found = search(index, corpus.queries, corpus.copies)
        spent.append(time.perf_counter() - began)
    rate = len(corpus.queries) / min(spent)
    print(f"{name:32} build {built:6.2f} s   update {updated:6.3f} s   {rate:7.0f} queries a second", flush=True)
    return [hits.pages.tolist() for hits in found]


def main(words: list[str] | None = None) -> None:
    """Print one line an index, and whether their results are the same."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", metavar="DATA")
    parser.add_argument("--pages", type=int, default=150_000)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(words if words is not None else [])
    made = (recorded(args.data, args.queries, args.share, args.seed) if args.data
            else drawn(args.pages, args.queries, args.share, args.seed))  # fmt: skip
    print(f"{made.copies.number:,} copies, {len(made.before[0]):,} postings; {len(made.pages):,} copies replaced; "
          f"{len(made.queries)} queries")  # fmt: skip
    rivals = {"sorted columns": Index(), "SQLite FTS5": Fts5()}
    results = [measure(name, index, made) for name, index in rivals.items()]
    print("the same ten results" if all(found == results[0] for found in results) else "RESULTS DIFFER")


if __name__ == "__main__":
    main(sys.argv[1:])
