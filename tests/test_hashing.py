"""The hashes are the published ones, the same in Python, numpy and compiled code."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recrawl.compiled import kernel
from recrawl.hashing import FNV_START, GOLDEN, fnv1a, fnv1a_step, mix, scramble, scramble_int

# Fowler, Noll, Vo: test vectors of FNV-1a, 64 bits
FNV = {"": 0xCBF29CE484222325, "a": 0xAF63DC4C8601EC8C, "b": 0xAF63DF4C8601F1A5, "foobar": 0x85944171F73967E8}
# the first draws of splitmix64 from the state 1234567, as published with implementations of it
DRAWS = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821]

WORDS = st.integers(0, 2**64 - 1)
scrambled = kernel(scramble)
step = kernel(fnv1a_step)


def test_fnv1a_gives_the_published_values() -> None:
    """FNV-1a of "", "a", "b" and "foobar", in Python and step by step in a kernel."""
    for text, value in FNV.items():
        assert fnv1a(text) == value
        compiled = FNV_START
        for byte in text.encode():
            compiled = step(np.uint64(compiled), np.uint8(byte))
        assert compiled == value


def test_scramble_gives_the_draws_of_splitmix64() -> None:
    """The state grows by GOLDEN and is scrambled: the published draws, in all forms."""
    states = [(1234567 + (i + 1) * int(GOLDEN)) % 2**64 for i in range(len(DRAWS))]
    assert [scramble_int(state) for state in states] == DRAWS
    assert [int(scrambled(np.uint64(state))) for state in states] == DRAWS
    assert scramble(np.array(states, dtype=np.uint64)).tolist() == DRAWS
    assert mix(np.array([1234567], dtype=np.uint64), 0).tolist() == DRAWS[:1]


@given(st.lists(WORDS, min_size=1, max_size=20), st.integers(0, 2**63 - 1))
def test_all_forms_agree(keys: list[int], seed: int) -> None:
    """Mixing adds an odd multiple of GOLDEN and scrambles; different keys stay different."""
    found = mix(np.array(keys, dtype=np.uint64), seed).tolist()
    states = [(key + (2 * seed + 1) * int(GOLDEN)) % 2**64 for key in keys]
    assert found == [scramble_int(state) for state in states] == [int(scrambled(np.uint64(s))) for s in states]
    assert len(set(found)) == len(set(keys))
