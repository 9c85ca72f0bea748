"""Robots directives of a page: meta robots and X-Robots-Tag, for all robots or for ours by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

# directives that carry a value after a colon, which is not the name of a robot
_VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


class Directives(NamedTuple):
    """What must not be done with a page."""

    noindex: bool = False
    nofollow: bool = False  # its links are not to be followed
    noarchive: bool = False  # features may be kept, its body may not

    def __or__(self, other: object) -> Directives:
        """Restrictions add up: the stricter of two wins."""
        if not isinstance(other, Directives):
            return NotImplemented
        return Directives(
            self.noindex or other.noindex, self.nofollow or other.nofollow, self.noarchive or other.noarchive
        )


NO_DIRECTIVES = Directives()


def from_tokens(tokens: Iterable[str]) -> Directives:
    """Read directives; `none` is noindex and nofollow."""
    found = {token.strip().lower() for token in tokens}
    return Directives(
        noindex=bool(found & {"noindex", "none"}),
        nofollow=bool(found & {"nofollow", "none"}),
        noarchive=bool(found & {"noarchive", "nocache", "nostore"}),
    )


def from_meta(metas: Iterable[tuple[str, str]], agent: str) -> Directives:
    """Read the (name, content) pairs of meta tags: those named robots, and those named as we are."""
    directives = NO_DIRECTIVES
    for name, content in metas:
        if name.lower() in ("robots", agent.lower()):
            directives |= from_tokens(content.split(","))
    return directives


def from_header(values: Iterable[str], agent: str) -> Directives:
    """Read X-Robots-Tag values: `noindex, nofollow` is for everyone, `somebot: noindex` for somebot alone.

    A robot's name holds for the rest of its header line.
    """
    directives = NO_DIRECTIVES
    for value in values:
        addressee = ""
        for part in value.split(","):
            head, colon, tail = part.partition(":")
            if colon and head.strip().lower() not in _VALUED:
                addressee, part = head.strip().lower(), tail
            if addressee in ("", "*", "robots", agent.lower()):
                directives |= from_tokens([part])
    return directives
