"""Recordings of real pages: the small one that every clone has, and larger ones where they lie beside the project."""

from __future__ import annotations

from pathlib import Path

THREE_SITES = Path(__file__).parents[1] / "data" / "three-sites"
_BESIDE = Path(__file__).parents[3] / "shared" / "data"
GITWEB_MINI = _BESIDE / "gitweb-mini"
GITWEB = _BESIDE / "gitweb"

# A test that holds for any real recording runs on each of these; it is never skipped.
REAL_RECORDINGS = [folder for folder in (THREE_SITES, GITWEB_MINI) if folder.is_dir()]
