"""From a fetch to what the visit found. Only a version of the page, compared with our copy, can be a change."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import fields

from recrawl.fetch.outcome import FetchResult
from recrawl.fetch.validators import Validators
from recrawl.remember.store import SeenLink, VisitRecord
from recrawl.remember.visits import Outcome
from recrawl.see.page import SeenPage, see_page
from recrawl.see.url import host_of

_WORTH_A_NOTE = 200  # characters of a reason that are kept
_FIELDS = tuple(field.name for field in fields(Validators))


def judge(
    page: int, result: FetchResult, copy: bytes | None, validators: Validators
) -> tuple[VisitRecord, SeenPage | None]:
    """Return the record of a visit to `page`, of which we hold a copy with this digest (None: no copy)."""
    if result.outcome is not None:
        return _without_content(page, result, copy, validators), None
    seen = see_page(result.body, result.final_url, result.headers)
    outcome, note = _compare(seen, copy, result.truncated)
    kept = validators.after(result, changed=outcome == Outcome.CHANGED)
    version = outcome in (Outcome.FIRST, Outcome.CHANGED)
    record = VisitRecord(
        page=page,
        at=result.at,
        outcome=int(outcome),
        status=result.status,
        body_bytes=len(result.body),
        elapsed_s=result.elapsed_s,
        note=note,
        validators=_noted(kept),
        title=seen.title,
        digest=seen.digest if version else None,
        simhash=seen.simhash,
        words=seen.words,
        links=None if outcome == Outcome.FAILED else links_of(seen),
    )
    return record, seen if version else None


def _noted(validators: Validators) -> str:
    return json.dumps({name: getattr(validators, name) for name in _FIELDS})


def _without_content(page: int, result: FetchResult, copy: bytes | None, validators: Validators) -> VisitRecord:
    outcome = result.outcome
    assert outcome is not None, "content decides elsewhere"
    if outcome == Outcome.UNCHANGED and copy is None:
        outcome = Outcome.FAILED  # "not modified" of a page that we have no copy of
    note = f"{result.kind}: {result.reason}"[:_WORTH_A_NOTE] if outcome in (Outcome.FAILED, Outcome.GONE) else None
    return VisitRecord(
        page=page,
        at=result.at,
        outcome=int(outcome),
        status=result.status,
        elapsed_s=result.elapsed_s,
        note=note,
        validators=_noted(validators.after(result, changed=False)),
    )


def _compare(seen: SeenPage, copy: bytes | None, truncated: bool) -> tuple[Outcome, str | None]:
    if seen.soft_error:
        return Outcome.FAILED, "soft-404: an error page that says it is fine"
    if copy is None:
        return Outcome.FIRST, "truncated" if truncated else None
    if seen.digest != copy:
        return Outcome.CHANGED, "truncated" if truncated else None
    if seen.needs_rendering:
        return Outcome.FAILED, "needs rendering: the same shell says nothing about the page"
    return Outcome.UNCHANGED, None


def links_of(seen: SeenPage) -> tuple[SeenLink, ...]:
    """Return the links that robots may follow; a link to the page's own host is internal."""
    own = host_of(seen.url)
    return tuple(SeenLink(link.url, link.anchor, link.host == own) for link in seen.links_to_follow)


def words_changed(old: str, new: str) -> float:
    """Count the words added and removed: the multiset difference of the two texts."""
    before, after = Counter(old.split()), Counter(new.split())
    return float((after - before).total() + (before - after).total())
