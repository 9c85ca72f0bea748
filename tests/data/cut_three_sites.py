"""Cut the recording `three-sites`, which every clone has, from gitweb-mini.

    python tests/data/cut_three_sites.py ../shared/data/gitweb-mini tests/data/three-sites

Days, addresses and links are those of real pages. The texts of the terms of service belong to their owners and are not
copied: words are invented in their place, a fortieth as many, and all counts of words follow from the invented texts.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from scipy.stats import chi2

RANKING, TERMS_OF_SERVICE = 27, 74  # sites of gitweb-mini
RANKING_PAGES = 12  # of 37 that all change daily
SHORTER = 40
TERMS_KEPT = 64
Row = dict[str, Any]
Rows = dict[str, list[Row]]


def cut(source: Path) -> tuple[Rows, Mapping[str, pa.Schema]]:
    """Return the rows of all tables but the texts, without the ranking's later pages."""
    names = ("sites", "pages", "changes", "links", "terms")
    tables = {name: pq.read_table(source / f"{name}.parquet") for name in names}
    pages = tables["pages"]
    ranking = pages.filter(pc.equal(pages["site_id"], RANKING)).slice(RANKING_PAGES)
    gone = dict(zip(ranking["page_id"].to_pylist(), ranking["path"].to_pylist(), strict=True))
    rows = {name: table.to_pylist() for name, table in tables.items()}
    for name in ("pages", "changes", "links", "terms"):
        rows[name] = [row for row in rows[name] if row["page_id"] not in gone]
    for link in rows["links"]:
        if link["target_page"] in gone:  # now an address like those that gitweb had left out
            link |= {"target": f"/{gone[link['target_page']]}", "target_page": None}
    return rows, {name: table.schema for name, table in tables.items()}


# -- invented texts ----------------------------------------------------------------------------------------------------


def invented_words(count: int) -> list[str]:
    """Pronounceable words that mean nothing."""
    first, second = ("ba", "do", "ke", "li", "mu", "na", "po", "ri", "sa", "tu"), ("bel", "dan", "gor", "lim", "vet")
    return [f"{first[i % 10]}{second[i // 10 % 5]}{first[i // 50 % 10]}" for i in range(count)]


class Writer:
    """Writes the versions of one page: its own words among those of all, edits as large as those of the real page."""

    def __init__(self, page: int) -> None:
        self.draw = np.random.default_rng(page)
        words = np.array(invented_words(500))
        order = np.concatenate([np.arange(60), 60 + self.draw.permutation(440)])
        self.words, weights = words[order], 1.0 / (np.arange(500) + 3.0)
        self.weights = weights / weights.sum()
        self.text: list[str] = []

    def new_words(self, count: int) -> list[str]:
        return [str(word) for word in self.draw.choice(self.words, count, p=self.weights)]

    def first(self, words: int) -> list[str]:
        self.text = self.new_words(max(words // SHORTER, 12))
        return self.text

    def edit(self, added: int, removed: int) -> list[str]:
        """Take out a run of words and put in another; an edit that touched no word leaves the text as it is."""
        out, into = min(-(-removed // SHORTER), len(self.text) - 5), -(-added // SHORTER)
        at = int(self.draw.integers(0, len(self.text) - max(out, 0)))
        self.text = [*self.text[:at], *self.new_words(into), *self.text[at + max(out, 0) :]]
        return self.text


def invent_texts(rows: Rows) -> None:
    """Write texts for the terms of service, and bring all that is counted in words into line with them."""
    writers: dict[int, Writer] = {}
    versions: dict[int, list[str]] = {}
    rows["texts"] = []

    def note(row: Row, day: float, words: list[str]) -> None:
        text = " ".join(words)
        row |= {"words": len(words), "text_bytes": len(text), "bytes": len(text)}
        rows["texts"].append({"page_id": row["page_id"], "day": day, "text": text})

    for page in rows["pages"]:
        if page["site_id"] == TERMS_OF_SERVICE:
            writer = writers[page["page_id"]] = Writer(page["page_id"])
            versions[page["page_id"]] = list(writer.first(page["words"]))
            note(page, max(0.0, page["born_day"]), writer.text)
    for change in rows["changes"]:
        if change["page_id"] in writers:
            writer = writers[change["page_id"]]
            old = Counter(writer.text)
            new = Counter(writer.edit(change["d_words_added"], change["d_words_removed"]))
            note(change, change["day"], writer.text)
            change |= {"d_words_added": (new - old).total(), "d_words_removed": (old - new).total()}
            change |= {"cosine": cosine(old, new), "chi2_p": same_source(old, new)}
    rows["texts"].sort(key=lambda row: (row["page_id"], row["day"]))
    rows["terms"] = [row for row in rows["terms"] if row["page_id"] not in writers]
    changed = {change["page_id"] for change in rows["changes"]}
    for number, writer in writers.items():
        rows["terms"].append(bag(number, "start", versions[number]))
        if number in changed:
            rows["terms"].append(bag(number, "end", writer.text))
    rows["terms"].sort(key=lambda row: (row["page_id"], row["when"] != "start"))


def cosine(old: Counter[str], new: Counter[str]) -> float:
    """Similarity of two bags of words."""
    norm = sum(n * n for n in old.values()) * sum(n * n for n in new.values())
    return sum(old[word] * n for word, n in new.items()) / norm**0.5


def same_source(old: Counter[str], new: Counter[str]) -> float:
    """The p-value of gitweb's chi-squared test that both draw their words from one distribution."""
    ratio = (new.total() / old.total()) ** 0.5
    words = old.keys() | new.keys()
    found = sum((ratio * old[word] - new[word] / ratio) ** 2 / (old[word] + new[word]) for word in words)
    return float(chi2.sf(found, max(len(words) - 1, 1)))


def bag(page: int, when: str, words: list[str]) -> Row:
    """The most frequent hashed words of a text, as a row of `terms`."""
    counted = Counter(crc32(word.encode()) % 2**18 for word in words)
    kept = sorted(sorted(counted, key=lambda bucket: (-counted[bucket], bucket))[:TERMS_KEPT])
    return {"page_id": page, "when": when, "bucket": kept, "count": [counted[b] for b in kept], "total": len(words)}


# -- statistics --------------------------------------------------------------------------------------------------------


def statistics(rows: Rows) -> dict[str, Any]:
    """Counts and rates by site, by plain loops over pages and days: what `recrawl describe` is checked against."""
    told = [site_statistics(site, rows) for site in rows["sites"]]
    return {"rows": {name: len(table) for name, table in rows.items()}, "sites": told}


def site_statistics(site: Row, rows: Rows) -> Row:
    pages = {row["page_id"]: row for row in rows["pages"] if row["site_id"] == site["site_id"]}
    changes = [row for row in rows["changes"] if row["page_id"] in pages]
    worded = [c for c in changes if c["d_words_added"] or c["d_words_removed"]]
    small = [c for c in changes if not c["mass_commit"]]
    return {
        "repo": site["repo"],
        "pages": len(pages),
        "changes": len(changes),
        "born": sum(page["born_day"] > 0 for page in pages.values()),
        "died": sum(page["died_day"] is not None for page in pages.values()),
        "daily": rate(pages, changes, 1),
        "daily_no_mass": rate(pages, small, 1),
        "weekly": rate(pages, changes, 7),
        "weekly_words": rate(pages, worded, 7),
        "weekly_no_mass": rate(pages, small, 7),
        "weekly_new_internal": rate(pages, [c for c in changes if c["new_internal"]], 7),
        "weekly_new_external": rate(pages, [c for c in changes if c["new_external"]], 7),
    }


def rate(pages: Mapping[int, Row], changes: list[Row], width: int) -> float:
    """Mean over the periods of the share of the pages alive at its start that change in it."""
    hit = {(change["page_id"], int(change["day"] // width)) for change in changes}
    return float(np.mean(list(shares(pages, hit, width))))


def shares(pages: Mapping[int, Row], hit: set[tuple[int, int]], width: int) -> Iterator[float]:
    for period in range(364 // width):
        start = period * width
        alive = [
            number
            for number, page in pages.items()
            if page["born_day"] <= start and (page["died_day"] is None or page["died_day"] > start)
        ]
        yield sum((number, period) in hit for number in alive) / len(alive)


def main(source: Path, out: Path) -> None:
    """Write the recording and its statistics."""
    rows, schemas = cut(source)
    invent_texts(rows)
    texts = pa.schema([("page_id", pa.int32()), ("day", pa.float32()), ("text", pa.string())])
    schemas = {**schemas, "texts": texts}
    for site in rows["sites"]:
        own = {row["page_id"] for row in rows["pages"] if row["site_id"] == site["site_id"]}
        site |= {"pages": len(own), "changes": sum(row["page_id"] in own for row in rows["changes"])}
        if site["site_id"] == TERMS_OF_SERVICE:
            site["licence"] = "ODC-By-1.0 (days, addresses, links); words are invented"
    out.mkdir(parents=True, exist_ok=True)
    for name, table in rows.items():
        arrow = pa.Table.from_pylist(table, schema=schemas[name].remove_metadata())
        pq.write_table(arrow, out / f"{name}.parquet", compression="zstd", compression_level=19)
    (out / "stats.json").write_text(json.dumps(statistics(rows), indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
