"""Where tests write their files: on a disk in memory, where there is one.

Crawls put each group of visits on disk before they go on. A disk may take five milliseconds to do that, which is more
than all else that a test of a planner does; a kill of a process, unlike that of a machine, loses nothing on either.
"""

from __future__ import annotations

import os
import shutil
import tempfile

MEMORY, ROOM_BYTES = "/dev/shm", 3 << 30


def fast_folder(otherwise: str) -> str:
    """Return the folder of the disk in memory, if it has room and programs may run from it."""
    if not (os.path.isdir(MEMORY) and os.access(MEMORY, os.W_OK | os.X_OK)):
        return otherwise
    if os.statvfs(MEMORY).f_flag & os.ST_NOEXEC or shutil.disk_usage(MEMORY).free < ROOM_BYTES:
        return otherwise
    return MEMORY


def use_memory_disk() -> None:
    """Have this process and those that it starts make their temporary files there, unless TMPDIR says where."""
    if "TMPDIR" not in os.environ:
        os.environ["TMPDIR"] = tempfile.tempdir = fast_folder(tempfile.gettempdir())
