"""The whole tree of recrawl's errors. Each carries one line that a user can act on.

RecrawlError
├── InputError          what the user gave cannot be used (exit code 2)
│   ├── RecordingError  a recording's tables are missing, truncated or wrong
│   ├── UnknownNameError an unknown policy, scorer, measure or preset
│   ├── StoreError      a crawl's store is missing, corrupt or of another version
│   │   ├── HeldError   another process holds the crawl
│   │   └── StoreLostError the database cannot be reached now
│   ├── ServerError     a `recrawl serve` refused a request, or cannot be reached
│   └── OutputError     the place for the results cannot be written
└── PolicyError         a policy broke its contract (chose a page it may not visit, ...)
"""

from __future__ import annotations


class RecrawlError(Exception):
    """Anything recrawl says on purpose."""


class InputError(RecrawlError):
    """What the user gave cannot be used."""


class RecordingError(InputError):
    """A recording's tables are missing, truncated or wrong."""


class UnknownNameError(InputError):
    """A name that no registry knows; the message suggests the nearest one."""


class StoreError(InputError):
    """A crawl's store is missing, locked, corrupt or of another version."""


class HeldError(StoreError):
    """Another process holds the crawl."""


class StoreLostError(StoreError):
    """The database of a crawl cannot be reached now; what was recorded is safe, and trying again may help."""


class ServerError(InputError):
    """A `recrawl serve` refused a request, or cannot be reached; `status` is 0 for the latter."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class OutputError(InputError):
    """The place for the results cannot be written."""


class PolicyError(RecrawlError):
    """A policy broke its contract."""
