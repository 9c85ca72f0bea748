"""WARC records that are packed together: the same as one by one."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import random
import re

import pytest
from fastwarc.warc import ArchiveIterator

from recrawl.live.warc_records import Response, digests_of, gzip_records


def _sha1(data: bytes) -> str:
    return base64.b32encode(hashlib.sha1(data).digest()).decode()


@pytest.mark.parametrize("sizes", [(), (9,), (9, 20_000), (0,) * 5, (20_000,) * 33, (*[3_000] * 20, 64_000)])
def test_digests_are_of_the_block_and_of_the_body(sizes: tuple[int, ...]) -> None:
    """Of few and many, of small and large ones, whichever way is the quicker."""
    draw = random.Random(len(sizes))
    blocks = [(draw.randbytes(150 + size % 7), draw.randbytes(size)) for size in sizes]
    assert digests_of(blocks) == [(_sha1(head + body), _sha1(body)) for head, body in blocks]


def test_records_packed_together_are_those_packed_alone() -> None:
    """All but the identifier and the date, which are of the record alone; readers verify the digests."""
    responses: list[Response] = [
        (f"http://a.test/{n}", 200, (("content-type", "text/html"), ("content-length", "1")), b"<p>%d" % n * (500 + n))
        for n in range(40)
    ]
    together = gzip_records(responses)
    alone = [gzip_records([response])[0] for response in responses]
    own = re.compile(rb"WARC-(?:Record-ID|Date): [^\r]+\r\n")
    assert [own.sub(b"", gzip.decompress(record)) for record in together] == [
        own.sub(b"", gzip.decompress(record)) for record in alone
    ]
    read = list(ArchiveIterator(io.BytesIO(b"".join(together)), verify_digests=True))
    assert len({record.record_id for record in read}) == len(responses)
