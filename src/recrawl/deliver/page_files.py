"""A file for each page: host/path.md. No URL leads out of the folder, and no two URLs to one file."""

from __future__ import annotations

import json
import os
import re
from hashlib import blake2b
from pathlib import Path
from urllib.parse import urlsplit

from recrawl.errors import OutputError

MAX_NAME = 150  # characters of a folder or file name
_PLAIN = re.compile(r"[A-Za-z0-9_~%+,=@!$-][A-Za-z0-9._~%+,=@!$-]*")
_OTHER = re.compile(r"[^A-Za-z0-9._~%+,=@!$-]+")


def page_path(url: str, suffix: str) -> Path:
    """Return the relative path of a page's file; https://example.org/docs/a is example.org/docs/a.md.

    A page of plain http is under example.org+http, one on another port under example.org+8443. Names that are not
    plain (a query, odd characters, too long) end in a digest of the URL.
    """
    parts = urlsplit(url)
    host = _OTHER.sub("_", parts.netloc.lower().rpartition("@")[2].split(":")[0] or "_")[:MAX_NAME].lstrip(".")
    host += ("+http" if parts.scheme == "http" else "") + (f"+{parts.port}" if parts.port else "")
    *folders, name = parts.path[1:].split("/")
    given = [*folders, name or "index"]
    plain = url == f"{parts.scheme}://{parts.netloc}/{'/'.join([*folders, name])}"  # no query, nothing left out
    plain = plain and name != "index" and "[" not in parts.netloc and "@" not in parts.netloc
    kept = []
    for i, part in enumerate(given):
        # a folder must not have the name of a file: /a is a.md, and /a.md/b is in a folder of another name
        whole = _PLAIN.fullmatch(part) and len(part) <= MAX_NAME and (i == len(given) - 1 or not part.endswith(suffix))
        plain = plain and bool(whole)
        kept.append(part if whole else _OTHER.sub("_", part)[:MAX_NAME].strip(".").replace(".", "_") or "_")
    if not plain:
        kept[-1] += f"-{blake2b(url.encode('utf-8', 'replace'), digest_size=8).hexdigest()}"
    return Path(host or "_", *kept[:-1], kept[-1] + suffix)


def write_page(folder: Path, path: Path, text: str, *, sync: bool = True) -> None:
    """Write a page's file: whole or not at all."""
    whole = folder / path
    whole.parent.mkdir(parents=True, exist_ok=True)
    if not whole.parent.resolve().is_relative_to(folder.resolve()):
        raise OutputError(f"{whole.parent} leads out of {folder}")
    part = whole.with_name(f".{os.getpid()}.part")
    with part.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
        file.write(text)
        file.flush()
        if sync:
            os.fsync(file.fileno())
    part.replace(whole)


def remove_page(folder: Path, path: Path) -> None:
    """Remove a page's file, and the folders that this leaves empty."""
    (folder / path).unlink(missing_ok=True)
    for parent in path.parents:
        try:
            (folder / parent).rmdir() if parent != Path() else None
        except OSError:
            return


def front_matter(values: dict[str, object]) -> str:
    """Return front matter of YAML, each value as JSON, which YAML reads: no page's title can end it."""
    lines = [f"{name}: {json.dumps(value)}" for name, value in values.items() if value is not None]
    return "\n".join(["---", *lines, "---", "", ""])
