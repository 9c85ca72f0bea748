"""Base of the papers' reports: findings with a verdict, and the files, page and tables made of the results."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, TypeVar

import numpy as np

from recrawl.evaluate.statistics import EquivalenceTest, PairedTest
from recrawl.recording.recording import Recording
from recrawl.recording.summary import plain
from recrawl.report.layout import Card, Page, Picture, Section, Table
from recrawl.report.results import json_text
from recrawl.report.style import Plot, picture

Verdict = Literal["yes", "no", "in part", "too small to judge"]
Figures = Callable[..., list[Picture]]  # pictures by their names; those that were not drawn are left out
R = TypeVar("R")


def verdict_of(better: int, worse: int, places: int) -> Verdict:
    """Return the verdict on "better everywhere" from the places where it is significantly better, and worse.

    So for "alike everywhere", from the places where it is shown to be within its margins, and to be apart.
    """
    if better == worse == 0:
        return "too small to judge"
    if better == places:
        return "yes"
    return "in part" if better else "no"


@dataclass(frozen=True)
class Finding:
    """A claim of the paper, whether it holds here, and what was seen."""

    question: str
    claim: str
    verdict: Verdict
    evidence: str = ""

    @classmethod
    def tested(cls, question: str, claim: str, test: PairedTest, evidence: str, *, sign: int = 1) -> Finding:
        """Judge by a paired t-test: a difference of the given sign holds, one that is not significant is too small."""
        known: Verdict = "yes" if sign * test.difference > 0 else "no"
        return cls(question, claim, known if test.significant else "too small to judge", evidence)

    @classmethod
    def alike(cls, question: str, claim: str, test: EquivalenceTest, evidence: str) -> Finding:
        """Judge "no difference" by two one-sided tests: yes within the margins, no if there is one, else too small."""
        verdict = verdict_of(int(test.within), int(test.apart), 1)
        return cls(question, claim, verdict, f"{evidence}; {margins(test)}: p = {test.p:.2g}")

    @property
    def holds(self) -> bool:
        """Whether the claim holds here beyond doubt."""
        return self.verdict == "yes"

    def to_dict(self) -> dict[str, Any]:
        """Write the finding for results.json."""
        return {"claim": self.claim, "holds": self.holds, "verdict": self.verdict, "seen": self.evidence}


def margins(test: EquivalenceTest) -> str:
    """Name the margins in words."""
    if np.isposinf(test.high):
        return f"at most {-test.low:.3g} below"
    if np.isneginf(test.low):
        return f"at most {test.high:.3g} above"
    return f"within ±{test.high:.3g}" if test.low == -test.high else f"within {test.low:+.3g} to {test.high:+.3g}"


def findings_table(group: str, found: Sequence[Finding]) -> Table:
    """Table of the claims and whether each holds here; a question stands beside the first of its claims."""
    asked = [before.question for before in found[:-1]]
    rows = [
        ["" if f.question == last else f.question, f.claim, f.verdict, f.evidence]
        for f, last in zip(found, ["", *asked], strict=True)
    ]
    return Table((group or "question", "the paper says", "holds here", "evidence"), rows, prose=True)


@dataclass(frozen=True)
class PaperReport(ABC, Generic[R]):
    """The results of one paper's experiment as tables, figures, findings and files."""

    results: R
    title: ClassVar[str]
    plots: ClassVar[Mapping[str, Plot]]
    other_files: ClassVar[str] = r"(?!)"  # pattern of the names of files beside results.json, figures and the page

    @abstractmethod
    def intro(self) -> list[str]:
        """What was done, one line per part."""

    @abstractmethod
    def findings(self) -> Mapping[str, Sequence[Finding]]:
        """The paper's claims and what holds of them, by group (a protocol, a topic, or the empty name)."""

    @abstractmethod
    def sections(self, figures: Figures) -> list[Section]:
        """The tables and figures in the order of the paper."""

    @abstractmethod
    def to_dict(self, command: str) -> dict[str, Any]:
        """Everything measured as plain values; NaN becomes null."""

    def cards(self) -> list[Card]:
        """The headline numbers."""
        return []

    def figures(self) -> Mapping[str, tuple[Plot, Any]]:
        """What to draw, by name, with the results that it shows."""
        return {name: (plot, self.results) for name, plot in self.plots.items()}

    def more_files(self) -> dict[str, bytes]:
        """Files beside results.json, figures and the page."""
        return {}

    @classmethod
    def owns(cls, name: str) -> bool:
        """Whether a file of this name may have been written by this experiment."""
        stem, _, kind = name.rpartition(".")
        drawn = stem in cls.plots and kind in ("png", "svg")
        return drawn or name in ("results.json", "report.html") or bool(re.fullmatch(cls.other_files, name))

    def tables(self) -> list[Table]:
        """Every table of the page, for a terminal."""
        return [table for section in self._sections(lambda *names: []) for table in section.tables]

    def json(self, command: str) -> str:
        """Write results.json."""
        return json_text(plain(self.to_dict(command)))

    def files(self, command: str) -> dict[str, bytes]:
        """Return all files by name: results.json, figures, report.html and what else there is."""
        drawn = {name: Picture(name, picture(p.draw, shown), p.caption) for name, (p, shown) in self.figures().items()}

        def figures(*names: str) -> list[Picture]:
            return [drawn[name] for name in names if name in drawn]

        page = Page(self.title, self.intro(), self._sections(figures), self.cards(), command)
        out = {"results.json": self.json(command).encode(), **self.more_files()}
        for name, made in drawn.items():
            out |= made.drawing.files(name)
        return {**out, "report.html": page.html().encode()}

    def _sections(self, figures: Figures) -> list[Section]:
        tables = [findings_table(group, found) for group, found in self.findings().items() if found]
        return [Section("What of the paper holds", tables=tables), *self.sections(figures)]


DOMAINS = 20  # that are listed


def domains_of(recording: Recording) -> dict[str, int]:
    """Return the pages of each top-level domain, the largest first; of each site where names have no domain.

    Those beyond the first DOMAINS are one entry, so that shares are of all pages.
    """
    hosts = [name.rsplit("//", 1)[-1].split("/")[0].lower() for name in recording.site_names]
    named = all("." in host for host in hosts)
    labels = [f".{host.rsplit('.', 1)[-1]}" for host in hosts] if named else list(recording.site_names)
    counts: dict[str, int] = {}
    for label, pages in zip(labels, np.bincount(recording.site, minlength=len(labels)).tolist(), strict=True):
        counts[label] = counts.get(label, 0) + pages
    order = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    rest = sum(pages for _, pages in order[DOMAINS:])
    return dict(order[:DOMAINS]) | ({f"{len(order) - DOMAINS} others": rest} if rest else {})
