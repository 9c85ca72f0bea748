"""Machines with network addresses of their own on this one: Linux network namespaces, joined to it by veth pairs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

_NET = f"10.{64 + os.getpid() // 256 % 128}.{os.getpid() % 256}"  # other tests may run at the same time
NETWORK, HERE = f"{_NET}.0/24", f"{_NET}.254"  # where they are, and how they reach this machine


class NetworkMachine(NamedTuple):
    """One of them; commands that begin with `enter` run there."""

    name: str
    address: str
    enter: tuple[str, ...]


def can_make_machines() -> bool:
    """Whether this process may make network namespaces here."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return False
    made = f"probe{os.getpid()}"
    with suppress(subprocess.CalledProcessError):
        _ip("netns", "add", made)
        _ip("netns", "delete", made)
        return True
    return False


@contextmanager
def network_machines(count: int) -> Iterator[list[NetworkMachine]]:
    """Make so many for as long as this lasts; files, and sockets that are files, are those of this machine."""
    made = []
    try:
        _ip("address", "add", f"{HERE}/32", "dev", "lo")
        for i in range(count):
            name, here, there = f"crawl{os.getpid()}-{i}", f"{_NET}.{4 * i + 1}", f"{_NET}.{4 * i + 2}"
            _ip("netns", "add", name)
            made.append(NetworkMachine(name, there, ("ip", "netns", "exec", name)))
            pair = f"rc{os.getpid() % 100_000}x{i}"
            _ip("link", "add", pair, "type", "veth", "peer", "name", "eth0", "netns", name)
            _ip("address", "add", f"{here}/30", "dev", pair)
            _ip("link", "set", pair, "up")
            for words in (
                ("address", "add", f"{there}/30", "dev", "eth0"),
                ("link", "set", "eth0", "up"),
                ("link", "set", "lo", "up"),
                ("route", "add", "default", "via", here),
            ):
                _ip("-n", name, *words)
        yield made
    finally:
        for machine in made:  # the pairs go with them
            _ip("netns", "delete", machine.name)
        with suppress(subprocess.CalledProcessError):
            _ip("address", "delete", f"{HERE}/32", "dev", "lo")


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
