"""Policies and measures of other packages and files, loaded when a name is asked for that is not built in.

A package names its module under an entry point, and loading it runs the decorators in it:

    [project.entry-points."recrawl.policies"]
    mine = "my_package.policies"

A plug-in that cannot be loaded is one warning, and the others stay usable. A file is named in the spec itself:
`path/to/file.py:name`.
"""

from __future__ import annotations

import importlib.util
import logging
import sys
from hashlib import blake2b
from importlib.metadata import entry_points
from pathlib import Path

from recrawl.errors import InputError

log = logging.getLogger(__name__)
_loaded: dict[Path, float] = {}  # files, and the time of their last change when they were run


def load_packages(group: str) -> None:
    """Load every plug-in of an entry point group; a broken one is a warning that names its package."""
    for point in entry_points(group=group):
        try:
            point.load()
        except Exception as error:
            package = point.dist.name if point.dist else point.value
            reason = " ".join(str(error).split()) or "no reason given"
            log.warning("plug-in %r of %s is left out: %s: %s", point.name, package, type(error).__name__, reason)


def load_file(text: str) -> None:
    """Run a Python file for what it registers, again only when it has changed; InputError where it fails."""
    path = Path(text).expanduser().resolve()
    try:
        changed_at = path.stat().st_mtime
        if _loaded.get(path) == changed_at:
            return
        name = f"recrawl_file_{path.stem}_{blake2b(bytes(path), digest_size=4).hexdigest()}"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None, "a .py file always has a loader"
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # a dataclass looks its module up
        spec.loader.exec_module(module)
    except FileNotFoundError as error:
        if error.filename == str(path):
            raise InputError(f"{text} does not exist") from None
        raise InputError(f"{text} cannot be loaded: {error.strerror}: {error.filename}") from None
    except Exception as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{text} cannot be loaded: {type(error).__name__}: {reason}") from None
    _loaded[path] = changed_at
