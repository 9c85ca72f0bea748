"""A CSV of visits: url and time, and digest or status; optional words. The format for all other crawlers."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from recrawl.importers.import_options import ImportOptions
from recrawl.importers.observations import NO_WORDS, Observations, Verdict, verdict_of
from recrawl.importers.reading import csv_fields, instant_of, lines_of, refuse

OUTCOMES = {
    "unchanged": Verdict.UNCHANGED,
    "gone": Verdict.GONE,
    "failed": Verdict.FAILED,
}


def read_csv(source: Path, seen: Observations, options: ImportOptions) -> None:
    """Read visits from a CSV."""
    lines = lines_of(source)
    number, header = next(lines, (1, ""))
    names = [name.strip().lower() for name in csv_fields(source, number, header)]
    if "url" not in names or "time" not in names or not {"digest", "status", "outcome"} & set(names):
        refuse(source, number, "the header needs url, time and digest (or status)")
    current = [number]

    def texts() -> Iterator[str]:
        for current[0], text in lines:
            yield text

    rows = csv.reader(texts(), strict=True)
    while True:
        try:
            values = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            refuse(source, current[0], f"not CSV: {error}")
        row = dict(zip(names, values, strict=False))
        try:
            _add(row, seen)
        except ValueError as error:
            refuse(source, current[0], str(error))


def _add(row: dict[str, str], seen: Observations) -> None:
    if not row.get("url", "").strip():
        raise ValueError("no url")
    digest, status = row.get("digest", "").strip(), row.get("status", "").strip()
    outcome = row.get("outcome", "").strip().lower()
    if not (digest or status or outcome):
        raise ValueError("neither digest nor status: nothing is known of this visit")
    if outcome and outcome not in OUTCOMES and outcome not in ("changed", "first"):
        raise ValueError(f"outcome {outcome!r} is not changed, first, unchanged, gone or failed")
    at = instant_of(row.get("time", ""))
    verdict = OUTCOMES.get(outcome) or (verdict_of(_whole(status, "status")) if status else Verdict.BY_DIGEST)
    if outcome == "changed" and not digest:
        digest = f"changed at {at!r}"  # a digest of its own: by the source, it differs
    words = row.get("words", "").strip()
    seen.add(row["url"].strip(), at, digest or None, verdict, _whole(words, "words") if words else NO_WORDS)


def _whole(text: str, name: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"{name} {text[:40]!r} is not a whole number")
    return int(text)
