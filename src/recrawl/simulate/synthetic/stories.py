"""Pages that repeat other pages' stories, with texts: who predicts whom is known, so that a method can be judged by it.

Leaders have new stories by a chain of two states, followers take them up a few days later (`Stories` has the chances).
A story is a few subjects of its topic, and a page that tells it uses their words often beside those of its own, so the
words of a follower move as its leader's did some days before. Pages of one topic use the same subjects, whoever they
follow: likeness of content alone does not tell the leader.

Counts and differences of versions (words, added, removed, cosine, chi2_p) are those of the texts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from recrawl.columns import FloatArray, IntArray
from recrawl.see.change import p_value, row_distances
from recrawl.see.words import bag_of
from recrawl.simulate.synthetic.edits import EditHistory
from recrawl.simulate.synthetic.inhabitants import TOPICS, Pages
from recrawl.simulate.synthetic.makeup import Stories
from recrawl.simulate.synthetic.versions import Edits, FirstVersions

SUBJECTS, IN_STORY, TOLD = 48, 6, 8  # subjects of a topic, of a story, and how often a page uses the word of each
OWN_WORDS, KEPT_WORDS = 90, 50  # words of a page beside its story, and how many different ones it draws them from
NOBODY = -1


@dataclass(frozen=True)
class Telling:
    """What every change of a telling page brings: rows in the order of the history's changes."""

    leader: IntArray  # by page: whom it follows; itself for a leader, NOBODY for a page that tells nothing
    lag: IntArray  # by page: days
    story: IntArray  # by change: the row of `subjects`, NOBODY where only typing errors were mended
    subjects: npt.NDArray[np.int16]  # by story
    rate: FloatArray  # by page: expected changes per day


def tell(
    stories: Stories, pages: Pages, quiet: EditHistory, days: float, rng: np.random.Generator
) -> tuple[EditHistory, Telling]:
    """Draw all changes of the pages of the first population; the other pages must not change."""
    if len(quiet.page) or len(quiet.newborn):
        raise ValueError("a web of stories has no other changes and no births")
    tellers = np.flatnonzero(pages.population == 0)
    leader, lag = _follow(stories, pages, tellers, rng)
    steps = int(days)
    news = _news(stories, leader, lag, steps, rng)
    mended = (rng.random(news.shape) < stories.mended) & (news == NOBODY)
    mended[leader == NOBODY] = False
    page, step = np.nonzero((news != NOBODY) | mended)
    day = (step + 0.05 + 0.9 * rng.random(len(page))).astype(np.float32)
    history = replace(
        quiet,
        page=page.astype(np.int32),
        day=day,
        start=np.searchsorted(page, np.arange(len(pages) + 1)),
        mass=np.zeros(len(page), dtype=np.bool_),
    )
    drawn = int(news.max(initial=NOBODY)) + 1
    subjects = np.argsort(rng.random((drawn, SUBJECTS)), axis=1)[:, :IN_STORY].astype(np.int16)
    return history, Telling(leader, lag, news[page, step], subjects, _rates(stories, leader, lag))


def _rates(stories: Stories, leader: IntArray, lag: IntArray) -> FloatArray:
    """Changes to expect per day: stories of the chain in its stationary state, and mended errors on the other days."""
    led = stories.rise / (stories.rise + 1.0 - stories.again)
    told = np.where(lag > 0, stories.own + (1.0 - stories.own) * stories.taken * led, led)
    return np.where(leader == NOBODY, 0.0, told + (1.0 - told) * stories.mended)


def _follow(stories: Stories, pages: Pages, tellers: IntArray, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Choose leaders, and for every follower a leader of its topic and a lag."""
    leader, lag = np.full(len(pages), NOBODY), np.zeros(len(pages), dtype=np.int64)
    for topic in range(len(TOPICS)):
        here = rng.permutation(tellers[pages.topic[tellers] == topic])
        leads = here[: max(1, round(stories.leaders * len(here)))]
        others = here[len(leads) :]
        leader[leads] = leads
        if len(others):
            leader[others] = leads[rng.integers(len(leads), size=len(others))]
            lag[others] = rng.integers(1, stories.longest_lag + 1, size=len(others))
    return leader, lag


def _news(stories: Stories, leader: IntArray, lag: IntArray, steps: int, rng: np.random.Generator) -> IntArray:
    """Return pages x days: the number of the story that a page begins to tell, or NOBODY."""
    news = np.full((len(leader), steps), NOBODY)
    count = 0
    for page in np.flatnonzero(lag == 0):
        told = leader[page] == NOBODY
        for step in range(steps if leader[page] != NOBODY else 0):
            told = rng.random() < (stories.again if told else stories.rise)
            if told:
                news[page, step] = count
                count += 1
    for page in np.flatnonzero(lag > 0):
        taken = rng.random(steps) < stories.taken
        heard = np.append(np.full(lag[page], NOBODY), news[leader[page]])[:steps]
        own = rng.random(steps) < stories.own
        news[page] = np.where(taken, heard, NOBODY)
        news[page, own] = count + np.arange(own.sum())
        count += int(own.sum())
    return news


def write_texts(
    pages: Pages, history: EditHistory, telling: Telling, rng: np.random.Generator
) -> tuple[list[str], list[str]]:
    """Return the text of every page's first version, and of the version that every change brought."""
    first, later = [], []
    for page in range(len(pages)):
        topic = TOPICS[pages.topic[page]]
        ranks = 1.0 / np.arange(1, KEPT_WORDS + 1)
        vocabulary = [f"{topic}{n}" for n in rng.choice(300, KEPT_WORDS, replace=False)] + ["the", "of", "and"]
        own = rng.choice(vocabulary, OWN_WORDS, p=np.append(ranks, [1.0, 0.8, 0.6]) / (ranks.sum() + 2.4)).tolist()
        story = _words(topic, rng.permutation(SUBJECTS)[:IN_STORY])
        first.append(" ".join([*own, *story]))
        for change in range(history.start[page], history.start[page + 1]):
            if telling.story[change] == NOBODY:
                own[rng.integers(len(own))] = vocabulary[rng.integers(len(vocabulary))] + "x" * int(rng.integers(2))
            else:
                story = _words(topic, telling.subjects[telling.story[change]])
            later.append(" ".join([*own, *story]))
    return first, later


def _words(topic: str, subjects: npt.NDArray[np.int16] | IntArray) -> list[str]:
    return [f"{topic}news{subject}" for subject in np.repeat(np.sort(subjects), TOLD)]


def measured(
    history: EditHistory, first: FirstVersions, edits: Edits, texts: tuple[list[str], list[str]]
) -> tuple[FirstVersions, Edits]:
    """Return the versions with the counts and differences that their texts have."""
    pages = len(texts[0])
    bags = [bag_of(text) for text in (*texts[0], *texts[1])]
    start = np.append(0, np.cumsum([len(bag.bucket) for bag in bags])).astype(np.int64)
    bucket = np.concatenate([bag.bucket for bag in bags])
    count = np.concatenate([bag.count for bag in bags])
    new = pages + np.arange(len(history.page))
    old = np.where(np.arange(len(new)) == history.start[history.page], history.page, new - 1)
    rows = row_distances(start, bucket, count, old.astype(np.int64), new.astype(np.int64))
    words = np.array([bag.total for bag in bags], dtype=np.int32)
    size = np.array([len(text.encode()) for text in (*texts[0], *texts[1])], dtype=np.int32)
    chances = np.array([p_value(chi2, cells) for chi2, cells in rows[:, :2].tolist()], dtype=np.float32)
    markup = first.bytes - first.text_bytes
    return first._replace(words=words[:pages], text_bytes=size[:pages], bytes=size[:pages] + markup), replace(
        edits,
        words=words[pages:],
        text_bytes=size[pages:],
        bytes=size[pages:] + np.maximum(edits.bytes - edits.text_bytes, 0),
        added=rows[:, 5].astype(np.int32),
        removed=rows[:, 6].astype(np.int32),
        cosine=rows[:, 3].astype(np.float32),
        chi2_p=np.nan_to_num(chances, nan=1.0),
    )


def texts_table(pages: Pages, history: EditHistory, texts: tuple[list[str], list[str]]) -> pa.Table:
    """One row per version, ordered by page and day; the first version stands from day 0 on."""
    page = np.concatenate([np.arange(len(pages), dtype=np.int32), history.page])
    day = np.concatenate([np.zeros(len(pages), dtype=np.float32), history.day])
    order = np.lexsort((day, page))
    text = pa.array([*texts[0], *texts[1]]).take(pa.array(order))
    return pa.table({"page_id": page[order], "day": day[order], "text": text})
