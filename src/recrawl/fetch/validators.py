"""Conditional requests: what to send, whether to trust a 304, and when to request the whole page as an audit.

A host may claim "not modified" for ever. So after `audit_every` such answers in a row the page is fetched without
validators; if its content had changed under an unchanged validator, its validators are not used again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from recrawl.fetch.outcome import FetchResult, Kind
from recrawl.see.feeds import parse_date

_MAX_ETAG_CHARS = 512
_PRINTABLE = re.compile(r"[\x20-\x7e]+")
_EARLIEST = 3_653.0  # 1980: an older date is a default, not a date


@dataclass(frozen=True, slots=True)
class Validators:
    """ETag and Last-Modified of our copy, and how far the host's 304 answers are trusted."""

    etag: str = ""
    last_modified: str = ""
    unchanged_in_a_row: int = 0  # 304 answers since the last whole page
    distrusted: bool = False

    def headers(self, audit_every: int) -> Mapping[str, str]:
        """Return the headers to send: none if there is nothing to send, no trust, or an audit is due."""
        if self.distrusted or self.unchanged_in_a_row >= audit_every:
            return {}
        sent = {}
        if self.etag:
            sent["If-None-Match"] = self.etag
        if self.last_modified:
            sent["If-Modified-Since"] = self.last_modified
        return sent

    def after(self, result: FetchResult, *, changed: bool) -> Validators:
        """Return the validators to keep after a visit; `changed` says whether the content differed from our copy."""
        if result.kind is Kind.NOT_MODIFIED:
            return replace(self, unchanged_in_a_row=self.unchanged_in_a_row + 1)
        if result.kind is not Kind.OK or result.truncated:
            return self
        etag, last_modified = usable(result)
        same = bool(self.etag or self.last_modified) and (etag, last_modified) == (self.etag, self.last_modified)
        return Validators(etag, last_modified, 0, self.distrusted or (changed and same))


NO_VALIDATORS = Validators()


def usable(result: FetchResult) -> tuple[str, str]:
    """Return the answer's ETag and Last-Modified where they are fit to be sent back, empty otherwise.

    A date in the future or before 1980 is not one that a host could compare with.
    """
    etag, last_modified = result.header("etag"), result.header("last-modified")
    if not etag and not last_modified:
        return "", ""
    if len(etag) > _MAX_ETAG_CHARS or not _PRINTABLE.fullmatch(etag):
        etag = ""
    stated = parse_date(last_modified) if _PRINTABLE.fullmatch(last_modified) else None
    if stated is None or not _EARLIEST <= stated <= result.at + 1.0:
        last_modified = ""
    return etag, last_modified


def contradicts(result_etag: str, sent: Mapping[str, str]) -> bool:
    """Whether a 304 names another version than the one in the request."""
    asked = sent.get("If-None-Match", "")
    return bool(asked and result_etag) and result_etag.removeprefix("W/") != asked.removeprefix("W/")
