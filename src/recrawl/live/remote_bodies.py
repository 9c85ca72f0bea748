"""Object storage for WARC files: S3-compatible buckets or a folder, by obstore; files are created, never changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from recrawl.errors import StoreError
from recrawl.extras import extras_named

SCHEMES = ("s3://", "file://")
CONNECT_S, ANSWER_S = 5, 300
RETRIES, RETRIED_S = 2, 20


@dataclass(frozen=True)
class BodiesSettings:
    """[bodies] of recrawl.toml: where closed WARC files go."""

    to: str = ""  # s3://bucket/prefix or file:///folder; empty: they stay
    endpoint: str = ""  # of an S3-compatible server; empty: AWS
    region: str = "us-east-1"
    credentials_file: Path | None = None  # access key:secret key; mode 0600. Without it AWS_* of the environment
    segment_bytes: int = 256_000_000  # a file is closed at this size, ...
    segment_s: float = 900.0  # ... or this long after it was begun


class RemoteBodies:
    """A bucket and a prefix, or a folder."""

    def __init__(self, settings: BodiesSettings) -> None:
        self.to = settings.to
        with extras_named():
            import obstore.store as stores
        try:
            if settings.to.startswith("file://"):
                self._store: Any = stores.LocalStore(settings.to.removeprefix("file://"), mkdir=True)
            else:
                self._store = stores.S3Store.from_url(
                    settings.to.rstrip("/"),
                    config=_keys(settings),
                    client_options={
                        "allow_http": True,
                        "connect_timeout": timedelta(seconds=CONNECT_S),
                        "timeout": timedelta(seconds=ANSWER_S),
                    },
                    retry_config={"max_retries": RETRIES, "retry_timeout": timedelta(seconds=RETRIED_S)},
                )
        except Exception as error:  # obstore's own kinds differ between versions
            raise StoreError(f"{self.to}: {_line(error)}") from None

    def check(self) -> None:
        """Raise StoreError where the storage does not answer or refuses."""
        import obstore

        with self._one_line():
            next(iter(obstore.list(self._store, chunk_size=1)), None)

    def create(self, name: str, content: Path | bytes, sha256: str) -> None:
        """Write a file that is not there yet; one that is there must be the same. StoreError where that fails."""
        import obstore
        from obstore.exceptions import AlreadyExistsError

        with self._one_line():
            try:
                obstore.put(self._store, name, content, mode="create", use_multipart=False)
            except AlreadyExistsError:
                if self._sha256(name) != sha256:
                    raise StoreError(
                        f"{self.to} has another {name}: every crawl needs a prefix of its own; the file stays here"
                    ) from None

    def _sha256(self, name: str) -> str:
        import obstore

        digest = hashlib.sha256()
        for part in obstore.get(self._store, name):
            digest.update(part)
        return digest.hexdigest()

    def read(self, name: str, offset: int, length: int) -> bytes:
        """Return a part of a file."""
        import obstore

        with self._one_line():
            return bytes(obstore.get_range(self._store, name, start=offset, length=length))

    @contextmanager
    def _one_line(self) -> Iterator[None]:
        try:
            yield
        except StoreError:
            raise
        except Exception as error:  # obstore's own kinds differ between versions
            raise StoreError(f"{self.to}: {_line(error)}") from None


def _keys(settings: BodiesSettings) -> Any:
    """Return the configuration of the S3 client; what is not here comes from the environment."""
    found = {"region": settings.region}
    if settings.endpoint:
        found["endpoint"] = settings.endpoint
    if settings.credentials_file is not None:
        key, _, secret = settings.credentials_file.read_text().strip().partition(":")
        found |= {"access_key_id": key, "secret_access_key": secret}
    return found


def _line(error: Exception) -> str:
    text = " ".join(str(error).split("\n\n")[0].split())
    return text[:200] or type(error).__name__


def check_target(to: str) -> str | None:
    """Say what is wrong with a target, None where nothing is."""
    if not to.startswith(SCHEMES):
        return f"must begin with {' or '.join(SCHEMES)}, not {to[:60]!r}"
    if not to.partition("://")[2].strip("/"):
        return "names no bucket or folder"
    return None
