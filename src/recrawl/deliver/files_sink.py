"""files:DIR: the newest text of every page as a file, host/path.md (or .txt), removed when the page is gone.

With git = true the folder is a git repository, with a commit for each cycle that changed something.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from recrawl.deliver.page_files import front_matter, page_path, remove_page, write_page
from recrawl.deliver.sink import DeliveryError, Sink, SinkSetting, add_sink
from recrawl.live.feed import Event

GIT_TIMEOUT_S = 300.0
_GIT = (
    *("-c", "user.name=recrawl", "-c", "user.email=recrawl@localhost", "-c", "commit.gpgsign=false"),
    *("-c", "core.hooksPath=/dev/null", "-c", "core.autocrlf=false"),
)


class FilesSink(Sink):
    """Keeps a folder with the newest text of every page."""

    batch = 20

    def __init__(self, folder: Path, suffix: str, git: bool) -> None:
        self.folder = folder
        self.suffix = suffix
        self.git = git
        self.include = ("markdown",) if suffix == ".md" else ("text",)
        self.types = ("cycle.done",) if git else ()
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".recrawl.part"
        probe.touch()  # raises at once if the folder cannot be written
        probe.unlink()
        if git and not (folder / ".git").exists():
            self._run_git("init", "-q")

    def send(self, events: Sequence[Event]) -> str | None:
        """Write, remove, commit."""
        for event in events:
            if event["type"] == "cycle.done":
                self._commit(event)
            else:
                self._keep(event)
        return None

    def _keep(self, event: Event) -> None:
        path = page_path(event["url"], self.suffix)
        text = event.get(self.include[0])
        if event["type"] == "page.gone" or event.get("why") == "noarchive":
            remove_page(self.folder, path)
        elif text is not None and event["type"] in ("page.new", "page.changed"):
            known = {name: event[name] for name in ("url", "title", "time", "digest")}
            head = front_matter(known | {"cut": event.get("cut")}) if self.suffix == ".md" else ""
            write_page(self.folder, path, f"{head}{text}\n")

    def _commit(self, event: Event) -> None:
        if not self.git:
            return
        self._run_git("add", "-A", ".")
        if self._run_git("status", "--porcelain"):
            date = ("--date", event["time"]) if event["time"] >= "1971" else ()
            self._run_git("commit", "-q", "-m", f"cycle {event['cycle']}", *date)

    def _run_git(self, *words: str) -> bytes:
        command = ["git", *_GIT, *words]
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                capture_output=True,
                timeout=GIT_TIMEOUT_S,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise DeliveryError(f"git {words[0]}: {error}") from None
        if done.returncode:
            raise DeliveryError(f"git {words[0]}: {done.stderr.decode('utf-8', 'replace')}")
        return done.stdout


@add_sink("files", formula="files:DIR", source="a file for each page")
def make_files(setting: SinkSetting, state: str | None) -> Sink:
    """Keep a file for each page."""
    if not setting.target:
        raise ValueError("needs a folder")
    return FilesSink(setting.path, setting.suffix, setting.git)
