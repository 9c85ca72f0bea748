"""Common Crawl's columnar index: Parquet files with one row per capture."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds

from recrawl.errors import InputError
from recrawl.importers.import_options import ImportOptions
from recrawl.importers.observations import Observations, Verdict, verdict_of

COLUMNS = ["url", "fetch_time", "fetch_status", "content_digest"]


def read_columnar_index(source: Path, seen: Observations, options: ImportOptions) -> None:
    """Read captures, of some registered domains only where these are named."""
    try:
        data = ds.dataset(source, format="parquet", partitioning="hive")
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{source}: not a Parquet file or folder ({str(error).splitlines()[0]})") from None
    missing = sorted(set(COLUMNS) - set(data.schema.names))
    if missing:
        raise InputError(f"{source}: no column {missing[0]!r}: not Common Crawl's columnar index")
    chosen = None
    if options.hosts and "url_host_registered_domain" in data.schema.names:
        chosen = ds.field("url_host_registered_domain").isin(list(options.hosts))
    try:
        for batch in data.to_batches(columns=COLUMNS, filter=chosen):
            _add(batch, seen)
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{source}: cannot be read, is it truncated? ({str(error).splitlines()[0]})") from None


def _add(batch: pa.RecordBatch, seen: Observations) -> None:
    at = batch.column("fetch_time").cast(pa.timestamp("ms")).cast(pa.int64()).to_pylist()
    rows = zip(
        batch.column("url").to_pylist(),
        at,
        batch.column("fetch_status").to_pylist(),
        batch.column("content_digest").to_pylist(),
        strict=True,
    )
    for url, when, status, digest in rows:
        if url is not None and when is not None:
            verdict = Verdict.BY_DIGEST if status is None else verdict_of(int(status))
            seen.add(url, when / 1000.0, digest, verdict)
