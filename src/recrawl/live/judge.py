"""From a fetch to the outcome of the visit. Only a version of the page, compared with our copy, can be a change."""

from __future__ import annotations

import json
from dataclasses import fields
from http import HTTPStatus

from recrawl.fetch.outcome import FetchResult, Kind
from recrawl.fetch.validators import NO_VALIDATORS, Validators
from recrawl.joined_texts import joined
from recrawl.live.store_visits import Copy, SeenLinks, VisitRecord
from recrawl.see.canonical_address import trusted_canonical
from recrawl.see.fingerprint import digest_of_bytes
from recrawl.see.login import is_login_redirect
from recrawl.see.page import SeenPage, see_page
from recrawl.see.version_contents import Contents, contents_of
from recrawl.urls.url import shown
from recrawl.visits import Outcome

_MISSES_KNOWN = 3  # "not found" in a row until a page that we have a copy of is gone; 410 is final at once
_MISSES_NEW = 2  # ... one that was never there
_WORTH_A_NOTE = 200  # characters of a reason that are kept
_FIELDS = tuple(field.name for field in fields(Validators))


def judge(copy: Copy, result: FetchResult, validators: Validators) -> tuple[VisitRecord, SeenPage | None]:
    """Return the record of a visit to a page, and its content where that is a new version."""
    seen = None if result.outcome is not None else see_page(result.body, result.final_url, result.headers)
    return judge_read(copy, result, validators, seen)


def judge_read(
    copy: Copy,
    result: FetchResult,
    validators: Validators,
    seen: SeenPage | None,
    contents: Contents | None = None,
    *,
    same_links: bool = False,
) -> tuple[VisitRecord, SeenPage | None]:
    """Do the same with an answer that was read: `seen` is what it says, None where it has no content.

    `contents` are its counts and words, where they were taken already; `same_links`: its links are those of our copy.
    """
    if seen is None:
        return _without_content(copy, result, validators), None
    outcome, note = _compare(seen, copy.digest, result.truncated)
    if is_login_redirect(result.url, result.final_url):
        outcome, note = Outcome.FAILED, f"log-in: {shown(result.final_url, 150)} is no copy of the page"
    kept = validators.after(result, changed=outcome == Outcome.CHANGED)
    version = outcome in (Outcome.FIRST, Outcome.CHANGED)
    links: SeenLinks | None = None
    links_digest = copy.links_digest if same_links else None
    if outcome != Outcome.FAILED and not same_links:
        links, links_digest = _new_links(seen, copy)
    record = VisitRecord(
        page=copy.page,
        at=result.at,
        outcome=int(outcome),
        status=result.status,
        body_bytes=len(result.body),
        elapsed_s=result.elapsed_s,
        note=note,
        validators=_noted(kept, copy, validators),
        title=seen.title,
        digest=seen.digest if version else None,
        words=seen.words,
        links=links,
        links_digest=links_digest,
        canonical=None if outcome == Outcome.FAILED else trusted_canonical(copy.url, seen.canonical),
        contents=(contents or contents_of(seen)) if version else None,
    )
    return record, seen if version else None


def validators_of(copy: Copy) -> Validators:
    """Return the validators for a conditional request."""
    return NO_VALIDATORS if copy.validators == "{}" else Validators(**json.loads(copy.validators))


def _noted(kept: Validators, copy: Copy, before: Validators) -> str:
    return copy.validators if kept == before else json.dumps({name: getattr(kept, name) for name in _FIELDS})


def _without_content(copy: Copy, result: FetchResult, validators: Validators) -> VisitRecord:
    outcome = result.outcome
    misses = 0 if result.kind is Kind.NOT_MODIFIED else copy.misses  # a visit without an answer leaves the count
    assert outcome is not None, "content decides elsewhere"
    if outcome == Outcome.UNCHANGED and copy.digest is None:
        outcome = Outcome.FAILED  # "not modified" of a page that we have no copy of
    reason = f"{result.kind}: {result.reason}"
    if outcome == Outcome.GONE and result.status != HTTPStatus.GONE:
        misses, enough = copy.misses + 1, _MISSES_KNOWN if copy.digest is not None else _MISSES_NEW
        if misses < enough:
            outcome, reason = Outcome.FAILED, f"not found, {misses} of {enough} times"
    return VisitRecord(
        page=copy.page,
        at=result.at,
        outcome=int(outcome),
        status=result.status,
        elapsed_s=result.elapsed_s,
        note=reason[:_WORTH_A_NOTE] if outcome in (Outcome.FAILED, Outcome.GONE) else None,
        validators=_noted(validators.after(result, changed=False), copy, validators),
        misses=misses,
    )


def _compare(seen: SeenPage, copy: bytes | None, truncated: bool) -> tuple[Outcome, str | None]:
    if seen.unreadable:
        return Outcome.FAILED, f"unreadable: {seen.unreadable}"[:_WORTH_A_NOTE]
    if seen.soft_error:
        return Outcome.FAILED, "soft-404: an error page that says it is fine"
    if copy is None:
        return Outcome.FIRST, "truncated" if truncated else None
    if seen.digest != copy:
        return Outcome.CHANGED, "truncated" if truncated else None
    if seen.needs_rendering:
        return Outcome.FAILED, "needs rendering: the same shell says nothing about the page"
    return Outcome.UNCHANGED, None


def _new_links(seen: SeenPage, copy: Copy) -> tuple[SeenLinks | None, bytes]:
    """Return the links that robots may follow, and their digest; None where they are those of our copy."""
    urls, inside, anchors, _ = seen.columns_to_follow
    digest = digest_of_bytes(joined(urls).encode())
    if digest == copy.links_digest:
        return None, digest
    return SeenLinks(urls, anchors, inside), digest
