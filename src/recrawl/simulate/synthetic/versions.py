"""Sizes of each version of a page: words, bytes, images, and its difference from the version before.

Edits are drawn, the measures of difference follow from them. With A and B words before and after, r of them removed and
a added, and under the assumption that an edit takes words as they come,

    cosine = (A - r) / sqrt(A * B)
    chi2_p = P(chi-squared with df degrees of freedom >= r + a),  df = distinct words - 1

because a word that only one version has adds about its own count to the statistic of Radinsky & Bennett 2013. About
half of the words are distinct. The tail of chi-squared is Wilson & Hilferty's approximation (1931).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, IntArray
from recrawl.compiled import kernel
from recrawl.simulate.synthetic.edits import EditHistory
from recrawl.simulate.synthetic.inhabitants import Pages
from recrawl.simulate.synthetic.presets import Preset
from recrawl.simulate.synthetic.webgraph import LinkCounts

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]

WORDLESS = 0.36  # share of changes that touch no word: mark-up, metadata, white space
REWRITE = 0.01  # share of the others that replace a large part of the page


class FirstVersions(NamedTuple):
    """Columns of every page's first version."""

    words: Ints
    text_bytes: Ints
    bytes: Ints
    images: Ints
    tables: Ints
    emails: Ints


@dataclass(frozen=True)
class Edits:
    """Columns of every later version, one row per change."""

    words: Ints
    text_bytes: Ints
    bytes: Ints
    images: Ints
    tables: Ints
    added: Ints
    removed: Ints
    cosine: Floats
    chi2_p: Floats


def draw_first_versions(preset: Preset, pages: Pages, counts: LinkCounts, rng: np.random.Generator) -> FirstVersions:
    """Draw sizes: log-normal words around the population's median, more on index pages."""
    median = np.array([p.words for p in preset.populations])[pages.population]
    words = np.exp(rng.normal(0.0, 0.9, len(pages))) * median * np.where(pages.index, 1.5, 1.0)
    words = np.maximum(words, 5).astype(np.int32)
    links = counts.first[0] + counts.first[1]
    text = (words * rng.uniform(5.5, 6.8, len(pages))).astype(np.int32)
    return FirstVersions(
        words,
        text,
        (text * rng.uniform(1.2, 3.0, len(pages))).astype(np.int32) + 60 * links,
        rng.poisson(np.minimum(words / 300, 8)).astype(np.int32),
        rng.poisson(0.3, len(pages)).astype(np.int32),
        rng.poisson(0.08, len(pages)).astype(np.int32),
    )


def draw_edits(first: FirstVersions, history: EditHistory, counts: LinkCounts, rng: np.random.Generator) -> Edits:
    """Draw how every change edits its page."""
    scale = np.exp(rng.normal(-4.0, 1.0, len(first.words))).astype(np.float32)  # share of the words an edit touches
    gained = counts.new[0] + counts.new[1]
    links = gained - counts.lost[0] - counts.lost[1]
    return Edits(*_edit(rng, history.page, history.mass, gained, links, scale, first))


@kernel
def _chi2_tail(x: float, df: float) -> float:
    """P(chi-squared_df >= x): the cube root of x / df is nearly normal."""
    spread = 2 / (9 * df)
    z = ((x / df) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)
    return 0.5 * math.erfc(z / math.sqrt(2))


@kernel
def _edit(
    rng: np.random.Generator, page: Ints, mass: BoolArray, gained: IntArray, links: IntArray, scale: Floats,
    first: FirstVersions,
) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints, Ints, Floats, Floats]:  # fmt: skip
    words0, text0, bytes0, images0, tables0, _ = first
    n = len(page)
    words, text, size = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    images, tables = np.empty(n, np.int32), np.empty(n, np.int32)
    added, removed = np.zeros(n, np.int32), np.zeros(n, np.int32)
    cosine, chi2 = np.ones(n, np.float32), np.ones(n, np.float32)
    for i in range(n):
        p = page[i]
        if i == 0 or page[i - 1] != p:
            w, t, b, pictures, grids = words0[p], text0[p], bytes0[p], images0[p], tables0[p]
            letters = t / w
        u = rng.random()
        touched = 0.0
        if u > WORDLESS and not mass[i]:
            rewritten = u > 1 - (1 - WORDLESS) * REWRITE
            share = 0.4 + 0.6 * rng.random() if rewritten else scale[p] * rng.standard_exponential()
            touched = w * min(share, 1.0)
        # a page is drawn back to its first size, so that it neither swells nor withers away
        pull = 0.5 * (w - words0[p]) / (w + words0[p])
        r = min(int(touched * (0.5 + pull) * 2 * rng.random()), w - 1)
        a = int(touched * (0.5 - pull) * 2 * rng.random()) + gained[i]
        if u > WORDLESS and a + r == 0 and not mass[i]:
            a = 1
        wide = w + a - r
        added[i], removed[i] = a, r
        if a + r > 0:
            cosine[i] = (w - r) / math.sqrt(float(w) * wide)
            chi2[i] = _chi2_tail(float(a + r), max(0.5 * (w + a) - 1, 1.0))
            if rng.random() < 0.03:
                pictures = max(0, pictures + (1 if rng.random() < 0.5 else -1))
            if rng.random() < 0.01:
                grids = max(0, grids + (1 if rng.random() < 0.5 else -1))
        mark_up = max(0, b - t) + 60 * links[i]
        if a + r == 0:  # something must differ, or it would be no change
            mark_up += 1 + int(20 * rng.random())
            mark_up -= int(20 * rng.random()) if mark_up > 40 else 0
        w = wide
        t = int(w * letters)
        b = t + max(mark_up, 0)
        words[i], text[i], size[i], images[i], tables[i] = w, t, b, pictures, grids
    return words, text, size, images, tables, added, removed, cosine, chi2
