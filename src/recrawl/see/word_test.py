"""Chi-squared test that two versions of a page draw their words from one distribution, valid for rare words too.

With counts a_w (sum A) before and b_w (sum B) after, c_w = a_w + b_w and N = A + B, a word adds

    X_w = (sqrt(B/A) a - sqrt(A/B) b)^2 / c

to Pearson's statistic. Three cases, since its distribution is chi-squared only where 5 are expected (Cochran 1954):

frequent words   at least 5 expected in both versions: one cell each, as in the textbook. All rare words together are
                 one more cell, where they expect 5
rare words       besides, Pearson's statistic of the rare words among themselves. Given the c_w, all ways to divide them
                 between the versions are equally likely if nothing changed; mean and variance of the statistic over
                 these are known exactly (Haldane 1940, Dawson 1954), and a chi-squared scaled to both is its
                 distribution. The level holds however sparse the words are
words seen once  they can only be in one version, so no division of them says anything, and a page of words that occur
                 once each could be replaced unnoticed. Where they are more than 60% of all words, the test is instead
                 whether two draws from the words of *both* versions would have so few in common: c_w is then Poisson
                 with mean c_w, so X_w has mean 1 - exp(-c_w), and is 1 for each word seen once. It takes the words of
                 both versions for all that the page draws on; two versions that share hardly a word differ by it

The result is one statistic and the degrees of freedom that make it chi-squared.
"""

from __future__ import annotations

import math

import numpy as np

from recrawl.columns import FloatArray
from recrawl.compiled import kernel

EXPECTED = 5.0  # of a word in each version, for a cell of its own
MOST = 0.6  # of the words seen once: more of them leave hardly anything else to test
_LARGEST = 64


def _mean_inverse(mean: int) -> float:
    """Mean of 1/n over a Poisson n above 0."""
    return sum(math.exp(-mean + n * math.log(mean) - math.lgamma(n + 1.0)) / n for n in range(1, 6 * mean + 40))


_INVERSE = np.array([0.0, *(_mean_inverse(mean) for mean in range(1, _LARGEST))])

# what is added up over the words
SUM, ONCE, CELLS, FREQUENT, RARE_A, RARE_B, RARE_WORDS, RARE_INVERSE, RARE_SQUARES, MEAN, SPREAD = range(11)
ADDED_UP = 11


@kernel
def take_word(a: float, b: float, A: float, B: float, sums: FloatArray) -> None:
    """Add one word, with a and b occurrences in the two versions, to the running sums."""
    c = a + b
    x = (np.sqrt(B / A) * a - np.sqrt(A / B) * b) ** 2 / c
    sums[SUM] += x
    if c == 1.0:
        sums[ONCE] += 1.0
    if c * min(A, B) / (A + B) >= EXPECTED:
        sums[CELLS] += 1.0
        sums[FREQUENT] += x
    else:
        sums[RARE_A] += a
        sums[RARE_B] += b
        sums[RARE_WORDS] += 1.0
        sums[RARE_INVERSE] += 1.0 / c
        sums[RARE_SQUARES] += a * a / c
    mean = 1.0 - np.exp(-c)
    share = A * B / (A + B) ** 2
    inverse = _INVERSE[int(c)] if c < _LARGEST else 1.0 / c
    sums[MEAN] += mean
    sums[SPREAD] += 3.0 * mean + (1.0 / share - 6.0) * inverse - mean * mean


@kernel
def statistic(sums: FloatArray, A: float, B: float) -> tuple[float, float]:
    """Return the statistic and its degrees of freedom + 1, which is 1 where there is nothing to test."""
    if sums[SUM] <= 0.0:
        return 0.0, max(sums[CELLS] + sums[RARE_WORDS], 2.0)  # equal shares of every word
    if sums[ONCE] > MOST * (A + B):
        return _scaled(sums[SUM], sums[MEAN], sums[SPREAD], 1.0)
    chi2, cells = sums[FREQUENT], max(sums[CELLS], 1.0)
    rare = sums[RARE_A] + sums[RARE_B]
    if sums[CELLS] > 0.0 and rare * min(A, B) / (A + B) >= EXPECTED:
        chi2 += (np.sqrt(B / A) * sums[RARE_A] - np.sqrt(A / B) * sums[RARE_B]) ** 2 / rare
        cells += 1.0
    if sums[RARE_A] <= 0.0 or sums[RARE_B] <= 0.0 or rare <= 3.0 or sums[RARE_WORDS] < 2.0:
        return chi2, cells
    among, mean, spread = _among_rare(sums, rare)
    if spread <= 1e-9 * mean:  # every division gives the same
        return chi2, cells
    more, to = _scaled(among, mean, spread, 0.0)
    return chi2 + more, cells + to


@kernel
def _among_rare(sums: FloatArray, n: float) -> tuple[float, float, float]:
    """Pearson's statistic of the rare words among themselves, and its mean and variance over all divisions of them."""
    a, b, words = sums[RARE_A], sums[RARE_B], sums[RARE_WORDS]
    among = max(n * n / (a * b) * (sums[RARE_SQUARES] - a * a / n), 0.0)
    of_words, of_rows = (words - 1.0) * (n - words) / (n - 1.0), (n - 2.0) / (n - 1.0)
    uneven_words = (n * sums[RARE_INVERSE] - words * words) / (n - 2.0)
    uneven_rows = (n * (1.0 / a + 1.0 / b) - 4.0) / (n - 2.0)
    spread = 2.0 * n / (n - 3.0) * (of_words - uneven_words) * (of_rows - uneven_rows)
    spread += n * n / (n - 1.0) * uneven_words * uneven_rows
    return among, n * (words - 1.0) / (n - 1.0), spread


@kernel
def _scaled(value: float, mean: float, spread: float, more: float) -> tuple[float, float]:
    """Scale a statistic to a chi-squared of the same mean and variance; returns it and its degrees of freedom."""
    return value * 2.0 * mean / spread, 2.0 * mean * mean / spread + more
