"""Importance weights of pages, from what is visible when a crawl begins."""

from __future__ import annotations

import difflib

import numpy as np

from recrawl.columns import FloatArray
from recrawl.errors import UnknownNameError
from recrawl.recording.recording import Recording

IMPORTANCES = ("uniform", "inlinks")


def importance_of(recording: Recording, name: str) -> FloatArray | None:
    """Return a weight for every page, None if all count the same.

    uniform   all pages count the same
    inlinks   1 + the pages of the recording that link to the page when the window opens, itself not counted; a page
              born later has nothing that could be seen by then, and weighs 1 unless something links to it already
    """
    if name == "uniform":
        return None
    if name != "inlinks":
        near = difflib.get_close_matches(name.lower(), IMPORTANCES, n=1, cutoff=0.4)
        hint = f"; did you mean {near[0]!r}?" if near else f"; it is one of {', '.join(IMPORTANCES)}"
        raise UnknownNameError(f"unknown importance {name!r}{hint}")
    links = recording.links
    counts = links.at(recording.start) & (links.target_page >= 0) & (links.target_page != links.page)
    return np.asarray(1.0 + np.bincount(links.target_page[counts], minlength=len(recording)), dtype=np.float64)
