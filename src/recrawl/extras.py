"""Packages that only some uses need: what is missing is said in one line, with what to install."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from recrawl.errors import InputError

log = logging.getLogger(__name__)

EXTRAS = {
    "psycopg": "postgres",
    "pyarrow": "recording",
    "scipy": "recording",
    "lightgbm": "learned",
    "matplotlib": "report",
    "jinja2": "report",
    "markupsafe": "report",
    "sklearn": "papers",
    "threadpoolctl": "papers",
    "prometheus_client": "serve",
    "scrapy": "scrapy",
    "grpc": "urlfrontier",
    "google": "urlfrontier",
    "ngboost": "ngboost",
    "dask": "fleet",
    "distributed": "fleet",
    "obstore": "objects",
    "sentence_transformers": "embeddings",
}


@contextmanager
def extras_named() -> Iterator[None]:
    """Turn the absence of an optional package into an InputError that says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        line = extra_of(error)
        if line is None:
            raise
        raise InputError(f"this needs {line}") from None


def extra_of(error: Exception) -> str | None:
    """Return an absent optional package with the command that installs it; None for any other error."""
    package = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    return f"{package}: pip install 'recrawl[{EXTRAS[package]}]'" if package in EXTRAS else None


@cache
def note_without_trees(line: str) -> None:
    """Write to the log, once per process, that models run without their trees; `line` is from extra_of."""
    log.warning("no gradient boosting, so predictions are those of the prior alone; trees need %s", line)
