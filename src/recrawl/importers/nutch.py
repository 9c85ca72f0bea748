"""Apache Nutch's crawl database, dumped by `readdb -dump -format json` (or csv).

A dump holds the last visit of every URL; several dumps of different days are a history. `fetchTime` is when the page is
due next, so the last visit was an interval before. Times are in the zone that the dump names.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from recrawl.importers.import_options import ImportOptions
from recrawl.importers.observations import Observations, Verdict
from recrawl.importers.reading import csv_fields, instant_of, lines_of, refuse

VERDICTS = {
    "db_fetched": Verdict.BY_DIGEST,
    "db_notmodified": Verdict.UNCHANGED,
    "db_gone": Verdict.GONE,
    "db_duplicate": Verdict.BY_DIGEST,
}
CSV_NAMES = {
    "Url": "url",
    "Status name": "statusName",
    "Fetch Time": "fetchTime",
    "Retry interval seconds": "retryIntervalSeconds",
    "Signature": "signature",
}


def read_dump(source: Path, seen: Observations, options: ImportOptions) -> None:
    """Read one dump, of either format."""
    names: list[str] | None = None
    for number, line in lines_of(source):
        if names is None and not line.lstrip().startswith("{"):
            names = [CSV_NAMES.get(name, name) for name in csv_fields(source, number, line)]
            if "url" not in names or "fetchTime" not in names:
                refuse(source, number, "neither JSON nor the header of a Nutch CSV dump")
            continue
        try:
            fields = [] if names is None else csv_fields(source, number, line)
            row = json.loads(line) if names is None else dict(zip(names, fields, strict=False))
            _add(row, seen)
        except KeyError as error:
            refuse(source, number, f"no field {error.args[0]!r}")
        except (ValueError, TypeError, RecursionError) as error:
            refuse(source, number, str(error))


def _add(row: dict[str, Any], seen: Observations) -> None:
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    verdict = VERDICTS.get(str(row["statusName"]).strip().removesuffix(")").split("(")[-1])
    if verdict is None:
        return  # not fetched yet, or a redirect: tells nothing about a page
    due = _instant(str(row["fetchTime"]))
    signature = str(row.get("signature") or "").strip()
    seen.add(
        str(row["url"]),
        due - float(row["retryIntervalSeconds"]),
        signature if signature not in ("", "null") else None,
        verdict,
    )


def _instant(text: str) -> float:
    """Read java.util.Date's own form, `Mon Nov 16 12:00:00 UTC 2026`, or any other time."""
    words = text.split()
    if len(words) != 6:
        return instant_of(text)
    if words[4] not in ("UTC", "GMT", "Z"):
        raise ValueError(f"time zone {words[4]!r}: dump with -Duser.timezone=UTC, other zones are ambiguous")
    try:
        when = datetime.strptime(" ".join(words[:4] + words[5:]), "%a %b %d %H:%M:%S %Y")
    except ValueError:
        raise ValueError(f"{text[:40]!r} is not a time") from None
    return when.replace(tzinfo=UTC).timestamp()
