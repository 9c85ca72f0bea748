"""A git repository whose files are the pages of a site: every commit is an exact change time.

    recrawl adopt git . --map 'docs/**/*.md=https://site.example/{path}/' --out site

`{path}` is the file's path below the part before the first wildcard, without its ending; `index` and `README` are their
folder. History is followed along first parents, without renames.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from recrawl.errors import InputError
from recrawl.importers.contents_tables import resolved
from recrawl.importers.import_options import ImportOptions
from recrawl.importers.observations import Observations, Verdict
from recrawl.see.page import see_page
from recrawl.see.words import split_words

NO_BLOB = "0" * 40
MAX_BLOB_BYTES = 2_000_000
_MARKDOWN_LINK = re.compile(r"(?<!!)\[[^\]\n]{0,500}\]\(\s*<?([^\s)>]{1,2000})")


@dataclass(frozen=True)
class PathMap:
    """Which files are pages, and at which addresses."""

    pattern: re.Pattern[str]
    prefix: str
    target: str

    @classmethod
    def parse(cls, text: str) -> PathMap:
        """Read `docs/**/*.md=https://site/{path}/`."""
        pattern, equals, target = text.partition("=")
        if not equals or not target.startswith(("http://", "https://")):
            raise InputError(f"--map {text!r}: not PATTERN=https://site/{{path}}/")
        prefix = pattern.split("*", 1)[0].rpartition("/")[0]
        return cls(re.compile(_glob(pattern)), f"{prefix}/" if prefix else "", target)

    def address_of(self, path: str) -> str | None:
        """Return the address of a file, None if it is not a page."""
        if not self.pattern.fullmatch(path):
            return None
        inner = PurePosixPath(path.removeprefix(self.prefix))
        stem = str(inner.with_suffix(""))
        if inner.stem in ("index", "README", "_index"):
            stem = "" if str(inner.parent) == "." else str(inner.parent)
        address = self.target.replace("{path}", stem).replace("{file}", str(inner))
        return re.sub(r"(?<!:)//+", "/", address)


def _glob(pattern: str) -> str:
    """Return a regular expression: ** any folders, * and ? within one name."""
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.sub(r"\*\*/|\*\*|\*|\?|[^*?]+", lambda m: parts.get(m[0]) or re.escape(m[0]), pattern)


def read_repository(source: Path, seen: Observations, options: ImportOptions) -> None:
    """Read every version of every mapped file."""
    if not options.maps:
        raise InputError("a git history needs --map 'docs/**/*.md=https://site/{path}/'")
    maps = [PathMap.parse(text) for text in options.maps]
    commits = _commits(source)
    blobs = _Blobs(source)
    try:
        for at, path, blob in commits:
            url = next((found for each in maps if (found := each.address_of(path)) is not None), None)
            if url is not None:
                _add(seen, url, at, path, blob, blobs)
    finally:
        blobs.close()


def _add(seen: Observations, url: str, at: float, path: str, blob: str, blobs: _Blobs) -> None:
    if blob == NO_BLOB:
        seen.add(url, at, None, Verdict.GONE)
        return
    content = blobs.read(blob)
    if path.endswith((".html", ".htm")):
        page = see_page(content, url)
        text, links = page.main_text, list(dict.fromkeys(page.link_columns.urls))
    else:
        text = content.decode("utf-8", "replace")
        links = resolved(_MARKDOWN_LINK.findall(text), url)
    row = seen.add(url, at, blob, words=len(split_words(text)))
    seen.texts[row], seen.links[row] = text, links


def _commits(source: Path) -> list[tuple[float, str, str]]:
    """Return time, path and blob of every changed file, oldest commit first."""
    command = ["git", "-C", str(source), "log", "--first-parent", "--no-renames", "--reverse", "-m", "--raw"]
    command += ["--no-abbrev", "-z", "--format=%x01%ct"]
    data = _output(command)
    at, found = 0.0, []
    fields = iter(data.decode("utf-8", "surrogateescape").split("\0"))
    for field in fields:
        head, _, rest = field.partition("\n")
        if "\x01" in head:
            at = float(head.rpartition("\x01")[2])
            field = rest.lstrip("\n")
        elif field.startswith("\n"):
            field = field[1:]
        if field.startswith(":"):
            found.append((at, next(fields), field.split(" ")[3]))
    return found


def _output(command: list[str]) -> bytes:
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        raise InputError("git is not installed") from None
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["git failed"]
        raise InputError(f"git: {lines[-1]}")
    return done.stdout


class _Blobs:
    """Reads the contents of files at any commit, by one `git cat-file --batch`."""

    def __init__(self, source: Path) -> None:
        command = ["git", "-C", str(source), "cat-file", "--batch"]
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def read(self, blob: str) -> bytes:
        """Return a file's content, cut at the cap."""
        ask, answer = self.child.stdin, self.child.stdout
        assert ask is not None
        assert answer is not None
        ask.write(f"{blob}\n".encode())
        ask.flush()
        words = answer.readline().split()
        if len(words) != 3:
            raise InputError(f"git: object {blob} cannot be read")
        return _exactly(answer, int(words[2]) + 1)[:-1][:MAX_BLOB_BYTES]

    def close(self) -> None:
        """End the process."""
        if self.child.stdin is not None:
            self.child.stdin.close()
        if self.child.stdout is not None:
            self.child.stdout.close()
        self.child.wait()


def _exactly(file: IO[bytes], size: int) -> bytes:
    parts = []
    while size > 0:
        part = file.read(size)
        if not part:
            raise InputError("git: ended early")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
