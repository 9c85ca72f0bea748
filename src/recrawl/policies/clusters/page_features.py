"""The 48 features of a page that go with how it changes (Tan et al. 2007, section 3), from the copies alone.

    content   10 ranks of its word cluster, images, tables, words, bytes of text, whether HTML, plain text, or other
    url       10 ranks of its address's word cluster, depth, whether .com, .edu, .gov, .org, .net, .mil
    linkage   PageRank, links to it, links on it, e-mail addresses on it
    dynamic   what the last visit found: 1 - cosine of the words, and how much the counts above differ from those of
              the copy before (links to it and PageRank: from those at the last clustering)
    frequency visits that found a change over visits

Counts enter as ln(1 + x), as most pages have few and some have thousands; every feature is then brought to mean 0 and
standard deviation 1, and cut at three of these, so that none dominates the others. A feature that is the same
everywhere, or is not recorded, is 0 everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, PageIds, longer
from recrawl.errors import InputError
from recrawl.features.bisection import Vectors
from recrawl.features.pagerank import pagerank
from recrawl.memory import Memory
from recrawl.policies.clusters.urlwords import DIMENSIONS, LARGEST, AddressWords, WordRanks, learn_addresses

DOMAINS = ("com", "edu", "gov", "org", "net", "mil")
PLAIN = ("txt",)
MARKED_UP = ("html", "htm", "xhtml")
COUNTS = ("images", "tables", "words", "text_bytes")
CONTENT = (*(f"content rank {i}" for i in range(1, LARGEST + 1)), *COUNTS, "is HTML", "is plain text", "is other")
URL = (*(f"url rank {i}" for i in range(1, LARGEST + 1)), "depth", *(f".{domain}" for domain in DOMAINS))
LINKAGE = ("PageRank", "links to it", "links on it", "e-mail addresses")
DYNAMIC = ("words changed", *(f"change of {name}" for name in (*COUNTS, *LINKAGE)), "change frequency")
FEATURES = (*CONTENT, *URL, *LINKAGE, *DYNAMIC)

CUT = 3.0  # standard deviations
KINDS = ("depth", *(f".{domain}" for domain in DOMAINS), "is HTML", "is plain text", "is other")  # never change
NO_WORDS = "no words of the copies are known here: pages are grouped by their addresses and changes alone"
SETS = ("url", "content", "url+content", "static", "dynamic", "combined")


def columns_of(which: str) -> list[int]:
    """Return the columns of a set of features; those of words alone have none of the 48."""
    if which not in SETS:
        raise InputError(f"unknown set of features {which!r}; it is one of {', '.join(SETS)}")
    chosen = {
        "static": [name for name in (*CONTENT, *URL, *LINKAGE) if "rank " not in name],
        "dynamic": list(DYNAMIC),
        "combined": list(FEATURES),
    }.get(which, [])
    return [FEATURES.index(name) for name in chosen]


@dataclass
class PageFeatures:
    """Describes pages as vectors to be clustered; `which` is one of SETS."""

    which: str = "combined"
    word_clusters: int = 100
    seed: int = 0
    _ranks: dict[str, WordRanks] = field(default_factory=dict, init=False)
    _scale: tuple[FloatArray, FloatArray] = field(default=(np.zeros(0), np.zeros(0)), init=False)  # mean, deviation
    _kinds: FloatArray = field(default_factory=lambda: np.zeros((0, len(KINDS))), init=False)  # of pages once asked for
    _known: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_), init=False)  # whose kinds were read
    _words_of_urls: AddressWords | None = field(default=None, init=False)  # of the first pages
    _addresses: Vectors = field(default_factory=lambda: np.zeros((0, DIMENSIONS), dtype=np.float32), init=False)
    _met: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_), init=False)  # addresses read
    notes: tuple[str, ...] = field(default=(), init=False)
    _linkage: dict[str, FloatArray] = field(default_factory=dict, init=False)  # at the last clustering

    def __post_init__(self) -> None:
        self._columns = columns_of(self.which)

    def learn(self, memory: Memory, pages: PageIds) -> Vectors:
        """Describe the pages to be clustered, and set the scale of every feature from them."""
        if not self._columns:
            return lengthened(self._words(memory, pages))
        linkage = linkage_of(memory)
        raw = self.raw(memory, pages, linkage)[:, self._columns]
        self._linkage = linkage
        self._scale = raw.mean(axis=0), raw.std(axis=0)
        return self._scaled(raw)

    def describe(self, memory: Memory, pages: PageIds) -> Vectors:
        """Describe further pages on the same scale."""
        if not self._columns:
            return lengthened(self._words(memory, pages))
        return self._scaled(self.raw(memory, pages, linkage_of(memory))[:, self._columns])

    def _scaled(self, raw: FloatArray) -> Vectors:
        mean, deviation = self._scale
        scaled = np.divide(raw - mean, deviation, out=np.zeros(raw.shape), where=deviation > 1e-9)
        return lengthened(np.clip(scaled, -CUT, CUT).astype(np.float32))

    def raw(self, memory: Memory, pages: PageIds, linkage: dict[str, FloatArray]) -> FloatArray:
        """Return pages x 48, before scaling."""
        out = np.zeros((len(pages), len(FEATURES)))

        def put(name: str, values: FloatArray | None) -> None:
            if values is not None:
                out[:, FEATURES.index(name)] = values[pages]

        copies = memory.copies
        self._put_ranks(memory, pages, out)
        self._known, self._kinds = longer(self._known, len(memory), 0), longer(self._kinds, len(memory), 0)
        new = pages[~self._known[pages]]
        if len(new):
            self._kinds[new], self._known[new] = _kinds(memory, new), True
        for name, values in zip(KINDS, self._kinds.T, strict=True):
            put(name, values)
        put("change frequency", memory.changes / np.maximum(memory.n, 1))
        if copies is None:
            return out
        for name in COUNTS:
            put(name, _counted(copies.column(name)))
            put(f"change of {name}", _counted(copies.moved(name)))
        similar = copies.similarity()
        put("words changed", None if similar is None else 1.0 - similar)
        for name, values in linkage.items():
            put(name, values)
            if name in self._linkage:
                before = np.zeros(len(values))
                before[: len(self._linkage[name])] = self._linkage[name]
                put(f"change of {name}", np.abs(values - before))
        put("change of links on it", _counted(_total(copies.moved("out_internal"), copies.moved("out_external"))))
        put("change of e-mail addresses", _counted(copies.moved("emails")))
        return out

    def _put_ranks(self, memory: Memory, pages: PageIds, out: FloatArray) -> None:
        words = self._contents(memory)
        for kind, vectors in (("content", words), ("url", self._url_vectors(memory, pages))):
            if vectors is None or not len(pages):
                continue
            if kind not in self._ranks:
                self._ranks[kind] = WordRanks(vectors, pages, self.word_clusters, self.seed)
            first = FEATURES.index(f"{kind} rank 1")
            out[:, first : first + LARGEST] = self._ranks[kind].describe(vectors, pages, anew=kind == "content")

    def _words(self, memory: Memory, pages: PageIds) -> Vectors:
        """Return the word vectors themselves, of addresses, contents or both."""
        parts: list[Vectors] = []
        if "url" in self.which:
            addresses = self._url_vectors(memory, pages)
            parts += [] if addresses is None else [addresses[pages]]
        if "content" in self.which:
            words = self._contents(memory)
            parts += [] if words is None else [words[pages]]
        return np.hstack(parts) if parts else np.zeros((len(pages), 1), dtype=np.float32)

    def _contents(self, memory: Memory) -> Vectors | None:
        """Return the word vectors of the copies; None, and a note, where nothing is known of what they say."""
        words = None if memory.copies is None else memory.copies.word_vectors()
        if words is None:
            self.notes = (NO_WORDS,)
        return words

    def _url_vectors(self, memory: Memory, pages: PageIds) -> Vectors | None:
        """Vectors of the addresses of pages that were asked for; weights of words (IDF) are those of the first ones."""
        if memory.load_paths is None:
            return None
        self._met, self._addresses = longer(self._met, len(memory), 0), longer(self._addresses, len(memory), 0)
        new = np.sort(pages[~self._met[pages]])
        if len(new):
            paths = [str(path) for path in memory.load_paths()[new]]
            if self._words_of_urls is None:
                self._words_of_urls, self._addresses[new] = learn_addresses(paths)
            else:
                self._addresses[new] = self._words_of_urls.vectors(paths)
            self._met[new] = True
        return self._addresses


def lengthened(rows: npt.NDArray[np.float32]) -> Vectors:
    """Add a dimension that is 1 for rows of zeros and 0 for all others: pages without features are alike."""
    blank = ~np.asarray(rows.any(axis=1))
    return np.hstack([rows, blank[:, None].astype(np.float32)])


def linkage_of(memory: Memory) -> dict[str, FloatArray]:
    """Return the linkage features of all pages, as the copies show them.

    PageRank walks over the pages that are known now. A link to an address that is not known as a page, and may become
    one later, leads nowhere.
    """
    if memory.copies is None:
        return {}
    copies = memory.copies
    out: dict[str, FloatArray] = {}
    links = copies.links(np.where(memory.held(), memory.last_visit, np.nan))
    if links is not None:
        out |= _ranked(*links, memory.known)
    on_it = _total(copies.column("out_internal"), copies.column("out_external"))
    if on_it is not None:
        out["links on it"] = np.log1p(on_it)
    addresses = copies.column("emails")
    if addresses is not None:
        out["e-mail addresses"] = np.log1p(addresses)
    return out


def _ranked(source: PageIds, target: PageIds, known: BoolArray) -> dict[str, FloatArray]:
    """Return PageRank and links to each page within the graph of the known pages; 0 for others."""
    among = known[target]
    pages = np.flatnonzero(known)
    number = np.cumsum(known) - 1
    source, target = number[source[among]], number[target[among]]
    rank, inlinks = np.zeros(len(known)), np.zeros(len(known))
    rank[pages] = np.log1p(pagerank(source, target, len(pages)) * len(pages))
    inlinks[pages] = np.log1p(np.bincount(target, minlength=len(pages)).astype(np.float64))
    return {"PageRank": rank, "links to it": inlinks}


def _kinds(memory: Memory, pages: PageIds) -> FloatArray:
    """Return pages x KINDS: depth, and flags of the top-level domain and of the sort of file."""
    out = np.zeros((len(pages), len(KINDS)))
    if memory.load_paths is not None:
        out[:, 0] = [str(path).strip("/").count("/") for path in memory.load_paths()[pages]]
    if memory.copies is None:
        return out
    hosts, at = np.unique(memory.copies.hosts()[pages].astype(np.str_), return_inverse=True)
    last = np.array([host.rsplit(".", 1)[-1].lower() if "." in host else "" for host in hosts.tolist()])
    for domain in DOMAINS:
        out[:, KINDS.index(f".{domain}")] = np.asarray(last == domain)[at]
    endings = memory.copies.endings()
    if endings is not None:
        ending = np.array([str(word).lower() for word in endings[pages]], dtype=np.str_)
        marked, plain = np.isin(ending, MARKED_UP), np.isin(ending, PLAIN)
        out[:, -3:] = np.stack([marked, plain, ~marked & ~plain], axis=1)
    return out


def _counted(values: FloatArray | None) -> FloatArray | None:
    """ln(1 + |x|); nothing for what is not known."""
    return None if values is None else np.log1p(np.abs(np.nan_to_num(values)))


def _total(first: FloatArray | None, second: FloatArray | None) -> FloatArray | None:
    return second if first is None else first if second is None else first + second
