"""What the store keeps of a version's contents, compared with the version before."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recrawl.features.page_words import hashed
from recrawl.live.store_contents import KeptContents
from recrawl.live.store_visits import VisitRecord
from recrawl.see.change import PAPER, distance_of
from recrawl.see.version_contents import Contents
from recrawl.see.words import Bag, pack_bag
from recrawl.visits import Outcome


def compared_contents(
    record: VisitRecord, contents: Contents, old_bag: Callable[[int], Bag | None]
) -> tuple[KeptContents, float]:
    """Return what is kept of a version, and the size of the change; `old_bag` returns the words of a page's copy."""
    *counts, bag = contents
    packed, old, changed = pack_bag(bag), None, record.outcome == Outcome.CHANGED
    if changed or record.note is not None:  # others are a page's first version
        old = old_bag(record.page)
    vector = None if old is None else hashed(bag.bucket, bag.count).tobytes()
    if old is None or not changed:
        size = float(bag.total) if changed else 0.0
        return KeptContents(tuple(counts), 0, 0, None, None, False, packed, vector), size
    distance = distance_of(old, bag)
    significant = PAPER.holds(distance.p, distance.effect, distance.rewritten)
    p = None if np.isnan(distance.p) else distance.p
    added, removed = distance.added, distance.removed
    kept = KeptContents(tuple(counts), added, removed, distance.cosine, p, significant, packed, vector)
    return kept, float(added + removed)
