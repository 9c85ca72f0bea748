"""The topic of a focused crawl: a linear support vector machine that classifies pages by their words.

A topic is given as

    dir:SITE/FOLDER     pages of a site or of a folder of it are examples
    words:pod,node      the pages that these words fit best are examples
    urls:A,B or urls:@FILE   these pages are examples (FILE: one address per line)
    label:NAME          a topic that the web itself knows (synthetic webs: popular, common, sparse)

The machine learns from the examples (at most 139, as many as the paper had) and from pages drawn at random from the
rest (700). What it accepts is relevant from then on, wherever it lies, as in the paper: the folder was only a teacher.
It reads all words, or with the vocabulary `examples` only those that occur on the examples ("features are words or
bi-grams that appear on the relevant pages", section 2.1). All is the default: a word that no example has tells a page
from the topic, too.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, diags
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from recrawl.columns import BoolArray, FloatArray, PageIds
from recrawl.errors import InputError
from recrawl.focus.web import TopicalWeb
from recrawl.see.words import BUCKETS, bucket_of, split_words

POSITIVES, NEGATIVES = 139, 700  # section 3
VOCABULARIES = ("all", "examples")
KEYWORD_EXAMPLES = 100
CHUNK = 20_000


@dataclass(frozen=True)
class ClassifierQuality:
    """How good the classifier is: on held-out training pages, and against the label where there is one."""

    positives: int
    negatives: int
    folds: int  # of the cross-validation; 0: too few examples to hold any out
    precision: float
    recall: float
    f1: float
    auc: float
    relevant: int  # pages of the web that it accepts
    share: float
    label_precision: float  # of the accepted pages, those with the label (NaN: no label)
    label_recall: float  # of the pages with the label, the accepted ones

    def to_json(self) -> dict[str, Any]:
        """The fields by name, None where there is no value."""
        return {k: None if isinstance(v, float) and np.isnan(v) else v for k, v in asdict(self).items()}


@dataclass(frozen=True)
class Topic:
    """A trained topic: the classifier's score of every page, and what links may be compared with."""

    name: str
    svm: FloatArray  # > 0: relevant
    examples: PageIds  # the pages it was taught with, as seeds to start from
    similarity: FloatArray  # of each word to the topic: its weight in the mean relevant page, times its idf
    idf: FloatArray  # of each word in the web
    quality: ClassifierQuality

    @property
    def good(self) -> BoolArray:
        """Which pages are relevant."""
        return self.svm > 0


def learn_topic(web: TopicalWeb, spec: str, seed: int = 0, vocabulary: str = "all") -> Topic:
    """Find the examples that `spec` names, train the classifier, and judge all pages of the web."""
    rng = np.random.default_rng(seed)
    examples, label = find_examples(web, spec)
    others = np.ones(len(web), dtype=np.bool_)
    others[np.flatnonzero(label) if label is not None else examples] = False
    rest = np.flatnonzero(others)
    if len(examples) > POSITIVES:
        examples = np.sort(rng.choice(examples, POSITIVES, replace=False))
    if not len(rest):
        raise InputError(f"topic {spec!r} covers all pages: there is nothing to tell it from")
    negatives = np.sort(rng.choice(rest, min(NEGATIVES, len(rest)), replace=False))
    return train(web, spec, examples, negatives, label, seed, vocabulary)


def train(
    web: TopicalWeb,
    name: str,
    positives: PageIds,
    negatives: PageIds,
    label: BoolArray | None,
    seed: int,
    vocabulary: str = "all",
) -> Topic:
    """Train on these pages; both classes must be there."""
    if vocabulary not in VOCABULARIES:
        raise InputError(f"a vocabulary is one of {', '.join(VOCABULARIES)}, not {vocabulary!r}")
    if not len(positives) or not len(negatives):
        missing = "relevant" if not len(positives) else "irrelevant"
        raise InputError(f"topic {name!r}: the classifier needs pages of both classes, there are no {missing} ones")
    weigh = _Weighing(web, seed)
    if vocabulary == "examples":
        weigh.keep(positives)
    pages = np.concatenate([positives, negatives])
    X, y = weigh.rows(pages), np.repeat([1, 0], [len(positives), len(negatives)])
    if not X.nnz:
        raise InputError(f"topic {name!r}: the pages to learn from have no words")
    svm = _machine(seed).fit(X, y)
    scores = np.concatenate(
        [svm.decision_function(weigh.rows(np.arange(a, min(a + CHUNK, len(web))))) for a in range(0, len(web), CHUNK)]
    )
    mean = np.asarray(X[: len(positives)].mean(axis=0)).ravel()
    similarity = mean / max(float(np.linalg.norm(mean)), 1e-12)
    quality = _quality(X, y, scores, label, seed)
    return Topic(name, scores.astype(np.float64), positives, similarity * weigh.idf, weigh.idf, quality)


class _Weighing:
    """tf-idf: (1 + ln count) * idf, each page scaled to length 1; idf from a sample of the web."""

    def __init__(self, web: TopicalWeb, seed: int) -> None:
        self.bags = web.bags
        sample = np.random.default_rng(seed + 1).permutation(len(web))[:CHUNK]
        counts = web.bags.rows(np.sort(sample))
        frequency = np.bincount(counts.indices, minlength=BUCKETS)
        self.idf = np.log((1.0 + len(sample)) / (1.0 + frequency))

    def keep(self, pages: PageIds) -> None:
        """Read the words of these pages only: all others weigh nothing."""
        self.idf[np.bincount(self.bags.rows(pages).indices, minlength=BUCKETS) == 0] = 0.0

    def rows(self, pages: PageIds) -> csr_matrix:
        counts = self.bags.rows(pages).astype(np.float64)
        counts.data = 1.0 + np.log(counts.data)
        return normalize(counts @ diags(self.idf)).tocsr()


def _machine(seed: int) -> LinearSVC:
    return LinearSVC(C=1.0, class_weight="balanced", random_state=seed)  # five negatives to a positive


def _quality(X: csr_matrix, y: Any, scores: FloatArray, label: BoolArray | None, seed: int) -> ClassifierQuality:
    folds = min(5, int(y.sum()), int(len(y) - y.sum()))
    precision = recall = f1 = auc = np.nan
    if folds >= 2:
        split = StratifiedKFold(folds, shuffle=True, random_state=seed)
        held_out = cross_val_predict(_machine(seed), X, y, cv=split, method="decision_function")
        precision, recall = _precision_recall(held_out > 0, y == 1)
        f1 = 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
        auc = _auc(held_out[y == 1], held_out[y == 0])
    good = scores > 0
    label_precision, label_recall = _precision_recall(good, label) if label is not None else (np.nan, np.nan)
    return ClassifierQuality(
        int(y.sum()),
        int(len(y) - y.sum()),
        folds if folds >= 2 else 0,
        precision,
        recall,
        f1,
        auc,
        int(good.sum()),
        float(good.mean()),
        label_precision,
        label_recall,
    )


def _precision_recall(accepted: BoolArray, true: BoolArray) -> tuple[float, float]:
    both = float((accepted & true).sum())
    return both / max(float(accepted.sum()), 1.0), both / max(float(true.sum()), 1.0)


def _auc(positive: FloatArray, negative: FloatArray) -> float:
    """Probability that a relevant page scores above an irrelevant one (ties count half)."""
    order = np.sort(negative)
    below = np.searchsorted(order, positive, side="left") + np.searchsorted(order, positive, side="right")
    return float(below.mean() / 2 / len(negative))


def find_examples(web: TopicalWeb, spec: str) -> tuple[PageIds, BoolArray | None]:
    """Return the example pages that a spec names, and the label of all pages where the spec is one."""
    kind, colon, what = spec.partition(":")
    if not colon or not what.strip():
        raise InputError(f"topic {spec!r} must be dir:SITE/FOLDER, words:A,B, urls:A,B or label:NAME")
    if kind == "dir":
        label = _in_folder(web, what)
        return np.flatnonzero(label), label
    if kind == "label":
        if what not in web.labels:
            known = ", ".join(web.labels) or "none"
            raise InputError(f"{web.name} has no topic {what!r}; its topics: {known}")
        return np.flatnonzero(web.labels[what]), web.labels[what]
    if kind == "words":
        return _matching(web, what), None
    if kind == "urls":
        return web.graph.pages_of(read_addresses(what)), None
    raise InputError(f"unknown kind of topic {kind!r} in {spec!r}: use dir, words, urls or label")


def _in_folder(web: TopicalWeb, folder: str) -> BoolArray:
    start = folder.rstrip("/").lower() + "/"
    label = np.fromiter((url.lower().startswith(start) for url in web.graph.urls), dtype=np.bool_, count=len(web))
    if not label.any():
        raise InputError(f"topic 'dir:{folder}' is empty: no page's address begins with {folder!r}")
    return label


def _matching(web: TopicalWeb, text: str) -> PageIds:
    """The pages that hold most of the keywords, and of these the ones that hold them most often."""
    buckets = sorted({bucket_of(word) for word in split_words(text)})
    if not buckets:
        raise InputError(f"topic 'words:{text}' contains no word")
    score = np.zeros(len(web))
    for a in range(0, len(web), CHUNK):
        pages = np.arange(a, min(a + CHUNK, len(web)))
        counts = web.bags.rows(pages)[:, buckets].toarray()
        score[pages] = np.minimum(counts, 1).sum(axis=1) + 0.1 * np.log1p(counts).sum(axis=1)
    found = np.flatnonzero(score > 0)
    if not len(found):
        raise InputError(f"topic 'words:{text}' is empty: no page holds any of these words")
    best = found[np.argsort(-score[found], kind="stable")][:KEYWORD_EXAMPLES]
    return np.sort(best)


def read_addresses(what: str) -> list[str]:
    """Read addresses: `A,B`, or `@FILE` with one per line."""
    if not what.startswith("@"):
        return [part.strip() for part in what.split(",") if part.strip()]
    try:
        lines = Path(what[1:]).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the addresses in {what[1:]}: {error}") from None
    found = [line.strip() for line in lines if line.strip()]
    if not found:
        raise InputError(f"{what[1:]} contains no address")
    return found
