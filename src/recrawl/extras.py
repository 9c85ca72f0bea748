"""Packages that only some uses need: what is missing is said in one line, with what to install."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from recrawl.errors import InputError

EXTRAS = {
    "matplotlib": "report",
    "jinja2": "report",
    "markupsafe": "report",
    "sklearn": "papers",
    "threadpoolctl": "papers",
    "scrapy": "scrapy",
    "ngboost": "ngboost",
    "sentence_transformers": "embeddings",
}


@contextmanager
def extras_named() -> Iterator[None]:
    """Turn the absence of an optional package into an InputError that says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise InputError(f"this needs {package}: pip install 'recrawl[{EXTRAS[package]}]'") from None
