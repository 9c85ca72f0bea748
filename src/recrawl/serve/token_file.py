"""The token file: one line that a client must know, readable by its owner alone."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from recrawl.errors import InputError

SHORTEST = 16  # characters of a token
PRIVATE = 0o077  # bits of a file's mode that nobody but its owner may have


def token_in(path: Path) -> str:
    """Read the token of a file, which is made with a new one where it does not exist; others must not read it."""
    try:
        if not path.exists():
            _make(path)
        mode, token = path.stat().st_mode, path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {getattr(error, 'strerror', None) or 'not a token'}") from None
    if mode & PRIVATE:
        raise InputError(f"{path} can be read by others: chmod 600 {path}")
    if len(token) < SHORTEST or not token.isprintable() or " " in token:
        raise InputError(f"{path} must hold one word of at least {SHORTEST} characters")
    return token


def _make(path: Path) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(file, f"{secrets.token_urlsafe(32)}\n".encode())
    finally:
        os.close(file)
