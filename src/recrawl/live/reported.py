"""Visits that another crawler made and reports: what each found, compared with what was reported before.

A report gives one of: the outcome itself, a digest of the page, or its body. Only digests of one kind can be
compared: where a page's last digest was of another kind, the report is a first copy of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from http import HTTPStatus

from recrawl.fetch.outcome import FetchResult, Kind, kind_of_status
from recrawl.live.judge import judge, validators_of
from recrawl.live.store_visits import Copy, SeenLinks, VisitRecord
from recrawl.see.fingerprint import digest_of_bytes
from recrawl.urls.url import Base, host_of, normalise
from recrawl.visits import Outcome

THEIRS = b"="  # before a digest that another crawler made; ours are bare
TOLD = b"!"  # before what stands for a version of which only the outcome was reported
NOTHING_TO_COMPARE = "nothing to compare with: the copy before had no digest of this kind"


@dataclass(frozen=True, slots=True)
class Seen:
    """One visit as reported: give an outcome, a digest or a body; a status alone means 304, 404, 410 or failed."""

    url: str
    at: float | None = None  # days since 1970-01-01 (UTC); None: now
    outcome: Outcome | str | None = None  # first, changed, unchanged, gone or failed; it wins over all else
    digest: str | None = None  # any text that differs if and only if the page does
    body: bytes | None = None  # decoded; boilerplate that rotates is not taken for a change
    status: int = 0  # 0: not given
    etag: str = ""
    last_modified: str = ""
    links: Sequence[str] | None = None  # absolute or relative; with a body they are read from it
    headers: tuple[tuple[str, str], ...] = ()  # of the body's answer, names in lower case
    record: VisitRecord | None = None  # what was judged before, by Planner.judge


@dataclass(frozen=True, slots=True)
class Refusal:
    """A report that was not taken, and why."""

    number: int  # its place among the reports, from 0
    url: str
    why: str


@dataclass(frozen=True, slots=True)
class Reported:
    """What became of reports: recorded as visits, folded into an earlier one of the cycle, or refused."""

    recorded: int = 0
    folded: int = 0
    refused: tuple[Refusal, ...] = ()
    outcomes: dict[str, int] = field(default_factory=dict)  # of the visits recorded


def outcome_named(outcome: Outcome | str | None) -> Outcome | None:
    """Read an outcome by name; ValueError where there is none of this name."""
    if outcome is None or outcome == "":
        return None
    if isinstance(outcome, Outcome):
        return outcome
    names = {each.name.lower(): each for each in Outcome}
    if outcome.lower() not in names:
        raise ValueError(f"outcome {outcome[:40]!r} is not one of {', '.join(names)}")
    return names[outcome.lower()]


def judge_report(copy: Copy, seen: Seen, at: float, *, held: bool) -> VisitRecord:
    """Return the record of a reported visit; `held` is whether there was a version of the page before.

    ValueError where the report has no outcome, status, digest or body.
    """
    if seen.record is not None:
        return seen.record
    outcome = outcome_named(seen.outcome)
    if outcome is None and seen.status == HTTPStatus.NOT_MODIFIED:
        outcome = Outcome.UNCHANGED
    if outcome is None and seen.status and kind_of_status(seen.status) is not Kind.OK:
        return _by_status(copy, seen, at)  # the digest or body is that of an error page
    if outcome is None and seen.body is not None:
        return _by_body(copy, seen, at, held)
    if outcome is None and seen.digest is None:
        given = f"status {seen.status} without" if seen.status else "neither outcome, status,"
        raise ValueError(f"{given} digest or body: nothing is known of the page")
    return _by_word(copy, seen, at, outcome, held)


def _by_body(copy: Copy, seen: Seen, at: float, held: bool) -> VisitRecord:
    own = copy if _kind(copy.digest) == b"" else copy._replace(digest=None)
    record, _ = judge(own, _answer(copy, seen, at, Kind.OK), validators_of(copy))
    if record.outcome == Outcome.FIRST and held:
        links = None if copy.links_digest is not None else record.links
        return record._replace(note=NOTHING_TO_COMPARE, links=links)
    return record


def _by_status(copy: Copy, seen: Seen, at: float) -> VisitRecord:
    result = _answer(copy, seen, at, kind_of_status(seen.status))._replace(reason=f"status {seen.status}")
    return judge(copy, result, validators_of(copy))[0]


def _by_word(copy: Copy, seen: Seen, at: float, reported: Outcome | None, held: bool) -> VisitRecord:
    """Judge by the outcome that was reported, or else by the digest."""
    outcome, note, digest = reported, None, None
    if seen.digest is not None:
        digest = THEIRS + digest_of_bytes(seen.digest.encode())
        if reported is None:
            outcome, note = _compared(digest, copy.digest, held)
    assert outcome is not None, "an outcome or a digest was given"
    if outcome in (Outcome.CHANGED, Outcome.UNCHANGED) and not held:
        outcome = Outcome.FIRST
    version = outcome in (Outcome.FIRST, Outcome.CHANGED)
    if version and digest is None:
        digest = TOLD + digest_of_bytes(repr(at).encode())
    links, links_digest = _links(seen, copy, outcome, held)
    return VisitRecord(
        page=copy.page,
        at=at,
        outcome=int(outcome),
        status=seen.status,
        note=note,
        validators=_validators(copy, seen, at, outcome),
        digest=digest if version else None,
        words=-1,
        links=links,
        links_digest=links_digest,
        misses=copy.misses if outcome == Outcome.FAILED else 0,
    )


def _compared(digest: bytes, copy: bytes | None, held: bool) -> tuple[Outcome, str | None]:
    if not held:
        return Outcome.FIRST, None
    if _kind(copy) != THEIRS:
        return Outcome.FIRST, NOTHING_TO_COMPARE
    return (Outcome.UNCHANGED if digest == copy else Outcome.CHANGED), None


def _kind(digest: bytes | None) -> bytes | None:
    if digest is None:
        return None
    return digest[:1] if len(digest) > len(digest_of_bytes(b"")) else b""


def _answer(copy: Copy, seen: Seen, at: float, kind: Kind) -> FetchResult:
    stated = (("etag", seen.etag), ("last-modified", seen.last_modified))
    headers = tuple(header for header in stated if header[1]) + seen.headers
    body = (seen.body or b"") if kind is Kind.OK else b""
    return FetchResult(copy.url, kind, at=at, final_url=copy.url, status=seen.status, headers=headers, body=body)


def _validators(copy: Copy, seen: Seen, at: float, outcome: Outcome) -> str:
    kinds = {Outcome.UNCHANGED: Kind.NOT_MODIFIED if seen.status == HTTPStatus.NOT_MODIFIED else Kind.OK}
    kind = kinds.get(outcome, Kind.OK if outcome in (Outcome.FIRST, Outcome.CHANGED) else Kind.UNEXPECTED)
    before = validators_of(copy)
    kept = before.after(_answer(copy, seen, at, kind), changed=outcome == Outcome.CHANGED)
    return copy.validators if kept == before else json.dumps(asdict(kept))


def _links(seen: Seen, copy: Copy, outcome: Outcome, held: bool) -> tuple[SeenLinks | None, bytes | None]:
    """Return the links that were reported, None where none were or they are the same."""
    if seen.links is None or outcome in (Outcome.FAILED, Outcome.GONE):
        return None, None
    if outcome == Outcome.FIRST and held and copy.links_digest is not None:
        return None, None
    base = Base(copy.url)
    found = (normalise(link, base) for link in seen.links)
    urls = list(dict.fromkeys(url for url in found if url))
    digest = digest_of_bytes("\n".join(urls).encode())
    if digest == copy.links_digest:
        return None, digest
    own = host_of(copy.url)
    return SeenLinks(urls, [""] * len(urls), [host_of(url) == own for url in urls]), digest
