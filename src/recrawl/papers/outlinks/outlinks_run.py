"""Run the experiment on new links: every part is cut into models that do not depend on each other.

They are trained one after the other in this process, in several processes or on an engine. Each computes in one thread:
sums of trees and of matrices differ in their last digits with the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

from recrawl.columns import FloatArray, PageIds
from recrawl.errors import InputError
from recrawl.evaluate.parallel import SentRecording
from recrawl.evaluate.related_pieces import related_on
from recrawl.evaluate.work_engine import LOCAL, Engine, Shared, open_engine
from recrawl.features.newlinks import WHERE, Targets
from recrawl.features.one_thread import one_thread
from recrawl.features.related import Related, Vectors, related
from recrawl.papers.base import domains_of
from recrawl.papers.outlinks import outlinks_models as models
from recrawl.papers.outlinks.crawled_texts import CrawledTexts
from recrawl.papers.outlinks.crawls import Crawls
from recrawl.papers.outlinks.outlinks_importances import Importances, importances
from recrawl.papers.outlinks.outlinks_models import LinkRanking, Scores
from recrawl.papers.outlinks.outlinks_protocol import OutlinkData, OutlinksProtocol, correlations, prepare
from recrawl.papers.outlinks.outlinks_statistics import Statistics, statistics
from recrawl.progress import Advance, silent
from recrawl.recording.recording import Recording


@dataclass(frozen=True)
class OutlinksExperiment:
    """Everything that was measured."""

    name: str
    ground: OutlinkData
    statistics: Statistics
    correlations: tuple[list[str], FloatArray]  # names of features, Spearman's rho (Fig 8)
    static: dict[str, list[Scores]] = field(default_factory=dict)  # where -> by feature set (Figs 9, 10)
    static_importance: dict[str, Importances] = field(default_factory=dict)  # Fig 11
    history: dict[str, list[Scores]] = field(default_factory=dict)  # where -> by history, NNL-Pr last (Fig 12)
    history_importance: dict[str, Importances] = field(default_factory=dict)  # Fig 13
    lbla_importance: dict[str, Importances] = field(default_factory=dict)  # of the features LBLA (section 7)
    rankings: dict[str, list[LinkRanking]] = field(default_factory=dict)  # where -> by method (Figs 14, 15)


class LinkPiece(NamedTuple):
    """A piece of work: a part of the paper for internal or external links, a model, a repetition."""

    where: str
    part: str
    name: str = ""
    repeat: int = 0

    def __str__(self) -> str:
        return f"{self.where}: {self.part}" + (f" {self.name}" if self.name else "")


def run_experiment(
    recording: Recording,
    protocol: OutlinksProtocol,
    advance: Advance = silent,
    *,
    jobs: int = 1,
    engine: str = LOCAL,
) -> OutlinksExperiment:
    """Run every part, here, in `jobs` processes or on an engine, with the same results."""
    protocol.check()
    pieces = [piece for where in WHERE for piece in _pieces(where, protocol)]
    here = engine == LOCAL and jobs == 1
    with nullcontext() if here else open_engine(engine, jobs) as opened:
        with one_thread():
            advance(0, len(pieces), "vectors and related pages")
            ground = prepare(recording, protocol, related if opened is None else partial(related_on, opened))
            if not ground.crawls.new.any():
                raise InputError(f"no new link is recorded in the {protocol.weeks} weeks: there is nothing to predict")
            fixed = ground.crawls.recording
            made = OutlinksExperiment(
                recording.name,
                ground,
                statistics(ground.crawls.new, fixed.page("path"), domains_of(fixed)),
                correlations(ground.crawls),
            )
        found: dict[LinkPiece, Any] = {}
        for number, result in _results(ground, pieces, opened):
            found[pieces[number]] = result
            advance(len(found), len(pieces), str(pieces[number]))
    for where in WHERE:
        _keep(made, where, found)
    return made


def _pieces(where: str, protocol: OutlinksProtocol) -> list[LinkPiece]:
    draws = range(protocol.repeats)
    static = (*models.STATIC_SETS, models.ALWAYS_0)
    return [
        *(LinkPiece(where, "static", name, draw) for name in static for draw in draws),
        LinkPiece(where, "static importance"),
        *(LinkPiece(where, "history", name, draw) for name in _histories(protocol) for draw in draws),
        LinkPiece(where, "history importance"),
        LinkPiece(where, "lbla importance"),
        *(LinkPiece(where, "ranking", name, draw) for name in models.ranking_models(protocol) for draw in draws),
    ]


def _histories(protocol: OutlinksProtocol) -> list[str]:
    return [*map(str, sorted(set(protocol.histories))), models.BEFORE]


def _run(ground: OutlinkData, piece: LinkPiece) -> Any:
    where, part, name, repeat = piece
    with one_thread():
        if part == "static":
            return models.static_fit(ground, where, name, repeat)
        if part == "history":
            return models.history_fit(ground, where, name, repeat)
        if part == "ranking":
            return models.ranked(ground, where, name, repeat)
        return importances(ground, where, part.removesuffix(" importance"))


def _keep(made: OutlinksExperiment, where: str, found: dict[LinkPiece, Any]) -> None:
    """Put together what the pieces of one kind of links found."""
    protocol = made.ground.protocol

    def repeats(part: str, name: str) -> list[Any]:
        return [found[LinkPiece(where, part, name, repeat)] for repeat in range(protocol.repeats)]

    static = (*models.STATIC_SETS, models.ALWAYS_0)
    made.static[where] = [models.scores_of(name, repeats("static", name)) for name in static]
    made.static_importance[where] = found[LinkPiece(where, "static importance")]
    made.history[where] = [
        models.scores_of(f"history {name}" if name.isdigit() else name, repeats("history", name))
        for name in _histories(protocol)
    ]
    made.history_importance[where] = found[LinkPiece(where, "history importance")]
    made.lbla_importance[where] = found[LinkPiece(where, "lbla importance")]
    by_model = [repeats("ranking", name) for name in models.ranking_models(protocol)]
    merged = [
        {name: each for ranked in draws for name, each in ranked.items()} for draws in zip(*by_model, strict=True)
    ]
    made.rankings[where] = models.rankings(merged)


def _results(ground: OutlinkData, pieces: list[LinkPiece], engine: Engine | None) -> Iterator[tuple[int, Any]]:
    if engine is None:
        yield from ((number, _run(ground, piece)) for number, piece in enumerate(pieces))
        return
    shared = engine.share(_SentGround.of(ground))
    yield from engine.each(_work, ((shared, piece) for piece in pieces))


@dataclass
class _SentGround:
    """What all pieces stand on, as it is sent to workers."""

    recording: SentRecording
    times: FloatArray
    related: Related | None
    vectors: Vectors | None
    texts: CrawledTexts | None
    pages: PageIds
    targets: dict[str, Targets]
    protocol: OutlinksProtocol
    recall: float

    @classmethod
    def of(cls, ground: OutlinkData) -> _SentGround:
        """Describe it."""
        made = ground.crawls
        sent = SentRecording.of(made.recording)
        return cls(
            sent, made.times, made.related, made.vectors, made.texts, ground.pages, ground.targets, ground.protocol,
            ground.recall,
        )  # fmt: skip

    @cached_property
    def ground(self) -> OutlinkData:
        """The same, set up once where it is used."""
        crawls = Crawls(
            self.recording.open(),
            self.times,
            related=self.related,
            vectors=self.vectors,
            texts=self.texts,
            trusted_sites=self.protocol.trusted_sites,
        )
        return OutlinkData(crawls, self.pages, self.targets, self.protocol, self.recall)


def _work(piece: tuple[Shared, LinkPiece]) -> Any:
    sent: _SentGround = piece[0].load()
    return _run(sent.ground, piece[1])
