"""Copy the text between two tags, white space collapsed: by blocks, or byte by byte where there is some to collapse."""

from __future__ import annotations

import numpy as np

from recrawl.columns import ByteArray
from recrawl.compiled import borrowing, nth
from recrawl.see.byte_masks import BYTES, count_bits, lowest_bit, spaces, tags

_SPACE = np.array([c in b" \t\n\f\r" for c in range(256)], dtype=np.int64)  # calls no kernel: imports stay quick


@borrowing
def copy_text(source: ByteArray, i: int, text: ByteArray, t: int) -> tuple[int, int, int]:
    """Copy text up to the next tag, white space collapsed; return both positions and the number of words begun."""
    n, words = len(source), 0
    while i + BYTES <= n:
        size, begun = _copy_block(source, i, text, t)
        if size < 0:
            end = i + BYTES
            i, t, begun = _copy_bytes(source, i, end, text, t)
            words += begun
            if i < end:
                return i, t, words
            continue
        i, t, words = i + size, t + size, words + begun
        if size < BYTES:
            return i, t, words
    i, t, begun = _copy_bytes(source, i, n, text, t)
    return i, t, words + begun


@borrowing
def _copy_bytes(source: ByteArray, i: int, end: int, text: ByteArray, t: int) -> tuple[int, int, int]:
    """Do the same up to `end` at most.

    The steps are the same for every byte: a branch at the end of each word would cost more than they do.
    """
    words = 0
    spaced = np.int64(text[nth(t - 1)] == 32 or text[nth(t - 1)] == 10)
    while i < end and source[nth(i)] != 60:
        space = _SPACE[source[nth(i)]]
        text[nth(t)] = np.uint8(32) if space else source[nth(i)]
        t += 1 - (space & spaced)
        words += spaced & ~space
        spaced = space
        i += 1
    return i, t, words


@borrowing
def _copy_block(source: ByteArray, i: int, text: ByteArray, t: int) -> tuple[int, int]:
    """Copy a block of text up to a tag; return how long it is, -1 if there is white space to collapse, and its words.

    What is asked of each byte is asked of all of them at once; what is copied beyond a tag is written over.
    """
    size = lowest_bit(tags(source, i))
    within = ~np.uint64(0) if size == BYTES else (np.uint64(1) << np.uint64(size)) - np.uint64(1)
    space = spaces(source, i)
    spaced = (space << np.uint64(1)) | np.uint64(text[nth(t - 1)] == 32 or text[nth(t - 1)] == 10)
    if space & spaced & within:
        return -1, 0
    for k in range(BYTES):
        byte = source[nth(i + k)]
        text[nth(t + k)] = np.uint8(32) if (np.uint8(byte - 9) < 5) & (byte != 11) else byte
    return size, count_bits(~space & spaced & within)
