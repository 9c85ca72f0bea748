"""Load what a crawl computes with before its event loop runs: loading a kernel later would hold up every host.

On a machine that has not crawled before the kernels are compiled here; a single one may take half a second.
"""

from __future__ import annotations

import numpy as np

from recrawl.blake2b_lanes import blake2b_of_each
from recrawl.features.page_words import hashed
from recrawl.lane_code import has_lanes
from recrawl.live.met_urls import MetUrls
from recrawl.memory import Memory
from recrawl.policies.selection import top_k
from recrawl.see.change import distance_of
from recrawl.see.page import see_page
from recrawl.see.words import bag_of, pack_bag, unpack_bag
from recrawl.sha1_lanes import sha1_base32
from recrawl.urls.urlindex import UrlIndex, url_hashes
from recrawl.visits import Outcome, Visits


def load_kernels() -> None:
    """Read, compare and pack two pages, look up their URLs, choose one and record its visit, as a crawl does."""
    one, two = (
        bag_of(see_page(body, "http://localhost/").main_text)
        for body in (b"<p>some words <a href=x>x</a>", b"<p>\xe6\x97\xa5")
    )
    distance_of(unpack_bag(pack_bag(one)), two)
    hashed(two.bucket, two.count)
    if has_lanes():
        sha1_base32(b"abc", [0], [3])
        blake2b_of_each([b"abc"], 16)
    index = UrlIndex(room=1)
    index.add(url_hashes([f"http://localhost/{number}" for number in range(len(index._keys))]))  # grows
    index.find(url_hashes(["http://localhost/"]))
    met = MetUrls()
    met.add([f"http://localhost/{number}" for number in range(600)], range(600))  # grows
    met.pages_of(["http://localhost/"])
    memory = Memory(np.arange(2), np.zeros(2, dtype=np.int64))
    memory.learn_of(np.arange(2), 0.0)
    memory.begin_cycle()
    chosen, none = top_k(np.zeros(2), memory, 1), np.zeros(1)
    memory.record(Visits(chosen, none, np.full(1, Outcome.FIRST, dtype=np.uint8), chosen, chosen, none))
