"""Put a web and a topic into the arrays that the simulator reads."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray
from recrawl.focus.crawl_graph import CrawlGraph
from recrawl.focus.scores import CrawlArrays, classifier_order
from recrawl.focus.topic import Topic
from recrawl.focus.web import TopicalWeb, WordLists


def prepare(web: TopicalWeb, topic: Topic) -> CrawlArrays:
    """Judge every page and every link of the web by the topic."""
    addresses, anchors = _dense_words(web)
    return judged(web.graph, topic.svm, link_similarity(web, topic), addresses, anchors)


def judged(
    graph: CrawlGraph,
    svm: FloatArray,
    hint: npt.NDArray[np.float32] | None = None,
    addresses: WordLists | None = None,
    anchors: WordLists | None = None,
) -> CrawlArrays:
    """Arrange a graph and the classifier's scores; words are numbered from 0, what is None is not known.

    The types of the arrays are always the same, so that the simulator is compiled once.
    """
    order, value = classifier_order(svm)
    none = WordLists(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32))
    addresses, anchors = addresses or none, anchors or none
    return CrawlArrays(
        start=graph.start.astype(np.int64),
        out=graph.out.astype(np.int32),
        source=graph.source.astype(np.int32),
        order=order.astype(np.int32),
        value=value.astype(np.float64),
        good=np.asarray(svm > 0),
        host=graph.host.astype(np.int32),
        hint=np.asarray([] if hint is None else hint, dtype=np.float32),
        word_start=addresses.start.astype(np.int64),
        word=addresses.word.astype(np.int32),
        anchor_start=anchors.start.astype(np.int64),
        anchor=anchors.word.astype(np.int32),
    )


def link_similarity(web: TopicalWeb, topic: Topic) -> npt.NDArray[np.float32]:
    """Cosine of each link's words and the topic's: of its anchor, or of the address it leads to, if that is nearer."""
    by_address = _cosine(web.addresses, topic)[web.graph.out]
    if web.anchors is None:
        return by_address.astype(np.float32)
    return np.maximum(by_address, _cosine(web.anchors, topic)).astype(np.float32)


def _cosine(lists: WordLists, topic: Topic) -> FloatArray:
    """Sum of the words' weights in the topic's mean page / length of the list as a vector of idf weights."""
    size = np.diff(lists.start)
    weight = topic.similarity[lists.word]
    total = np.add.reduceat(np.append(weight, 0.0), lists.start[:-1]) * (size > 0)
    square = np.add.reduceat(np.append(topic.idf[lists.word] ** 2, 0.0), lists.start[:-1]) * (size > 0)
    return np.asarray(np.minimum(total / np.sqrt(np.maximum(square, 1e-12)), 1.0))


def _dense_words(web: TopicalWeb) -> tuple[WordLists, WordLists | None]:
    """Number the words of addresses and anchors from 0: the link classifier keeps a table of them."""
    anchored = np.empty(0, dtype=np.int32) if web.anchors is None else web.anchors.word
    _, number = np.unique(np.concatenate([web.addresses.word, anchored]), return_inverse=True)
    split = len(web.addresses.word)
    addresses = WordLists(web.addresses.start, number[:split])
    return addresses, None if web.anchors is None else WordLists(web.anchors.start, number[split:])
