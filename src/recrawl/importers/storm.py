"""StormCrawler's status index and URLFrontier's dumps: one JSON document per URL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recrawl.importers.import_options import ImportOptions
from recrawl.importers.observations import Observations, Verdict, verdict_of
from recrawl.importers.reading import instant_of, json_objects, lines_of, refuse


def read_status(source: Path, seen: Observations, options: ImportOptions) -> None:
    """Read the status of every URL."""
    for number, document in json_objects(source, lines_of(source)):
        document = document.get("_source", document)
        if not isinstance(document, dict) or not isinstance(document.get("url"), str) or "status" not in document:
            refuse(source, number, "no url or no status: not a document of the status index")
        _add(document, source, number, seen)


def read_frontier(source: Path, seen: Observations, options: ImportOptions) -> None:
    """Read the known items; discovered ones were never visited."""
    for number, item in json_objects(source, lines_of(source)):
        holder = item.get("known") or item.get("discovered")
        info = holder.get("info") if isinstance(holder, dict) else None
        if not isinstance(info, dict) or not isinstance(info.get("url"), str):
            refuse(source, number, "no info with a url: not an item of URLFrontier")
        if "known" in item:
            _add({"url": info["url"], "status": "FETCHED", "metadata": info.get("metadata", {})}, source, number, seen)


def _add(document: dict[str, Any], source: Path, number: int, seen: Observations) -> None:
    """Add the last visit, and the visit of the last change where that is known."""
    metadata, status = document.get("metadata") or {}, str(document["status"]).upper()
    if status == "DISCOVERED" or not isinstance(metadata, dict):
        return
    signature, last = _one(metadata, "signature"), _one(metadata, "lastProcessedDate")
    if last is None:
        return  # metadata.persist does not keep it: the URL is known, its visits are not
    code = _one(metadata, "fetch.statusCode")
    verdict = verdict_of(int(code)) if code and code.isdecimal() else Verdict.BY_DIGEST
    verdict = Verdict.GONE if status == "ERROR" and verdict is not Verdict.BY_DIGEST else verdict
    changed, before = _one(metadata, "signatureChangeDate"), _one(metadata, "signatureOld")
    try:
        if changed and signature:
            at = instant_of(changed)
            if before:
                seen.add(document["url"], at - 1.0, before)  # another version stood until then
            seen.add(document["url"], at, signature)
        seen.add(document["url"], instant_of(last), signature, verdict)
    except ValueError as error:
        refuse(source, number, str(error))


def _one(metadata: dict[str, Any], name: str) -> str | None:
    """Return a value that may be a list, a list of URLFrontier ({values: [...]}), or text; dots may be written %2E."""
    value = metadata.get(name, metadata.get(name.replace(".", "%2E")))
    if isinstance(value, dict):
        value = value.get("values")
    if isinstance(value, list):
        value = value[0] if value else None
    return None if value in (None, "") else str(value)
