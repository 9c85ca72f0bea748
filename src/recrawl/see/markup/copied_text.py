"""Copy the text between two tags, white space collapsed: short ones byte by byte, long ones by blocks."""

from __future__ import annotations

import numpy as np

from recrawl.columns import ByteArray
from recrawl.compiled import borrowing, nth

_BLOCK = 32  # bytes that are looked at together: the processor does so in one step
_SPACE = np.array([c in b" \t\n\f\r" for c in range(256)], dtype=np.int64)  # calls no kernel: imports stay quick


@borrowing
def copy_text(source: ByteArray, i: int, text: ByteArray, t: int) -> tuple[int, int, int]:
    """Copy text up to the next tag, white space collapsed; return both positions and the number of words begun."""
    end = min(len(source), i + _BLOCK)
    i, t, words = _copy_bytes(source, i, end, text, t)
    return (i, t, words) if i < end or i == len(source) else _copy_more(source, i, text, t, words)


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
def _copy_more(source: ByteArray, i: int, text: ByteArray, t: int, words: int) -> tuple[int, int, int]:
    """Go on with a long text: whole blocks as long as they are plain, others byte by byte."""
    n = len(source)
    while True:
        while i + _BLOCK <= n:
            begun = _copy_block(source, i, text, t)
            if begun < 0:
                break
            i, t, words = i + _BLOCK, t + _BLOCK, words + begun
        end = min(n, i + _BLOCK)
        i, t, begun = _copy_bytes(source, i, end, text, t)
        words += begun
        if i < end or i == n:
            return i, t, words


@borrowing
def _copy_block(source: ByteArray, i: int, text: ByteArray, t: int) -> int:
    """Copy a block of text that has no tag and nothing to collapse; return how many words begin in it, else -1.

    What is asked of each byte is asked of all of them at once.
    """
    others, begun = np.uint8(0), np.uint8(0)
    for k in range(_BLOCK):
        byte, before = source[nth(i + k)], source[nth(i + k - 1)]
        space = np.uint8(byte == 32) | (np.uint8(np.uint8(byte - 9) < 5) & np.uint8(byte != 11))
        spaced = np.uint8(before == 32) | (np.uint8(np.uint8(before - 9) < 5) & np.uint8(before != 11))
        others |= np.uint8(byte == 60) | (space & spaced)
        begun = np.uint8(begun + (spaced & ~space))
        text[nth(t + k)] = np.uint8(32) if space else byte
    return -1 if others else int(begun)
