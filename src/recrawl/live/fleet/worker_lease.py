"""A worker session's lease as the worker sees it: the database's clock ends it, the monotonic clock stops the asking.

A session asks for nothing from two thirds of the lease on, counted from before the last renewal was sent. So whoever
takes over, after the whole lease, never asks a host that this session may still ask; assumed is that no process stands
still for a third of the lease between the check and the request.
"""

from __future__ import annotations

from recrawl.clock import Clock
from recrawl.live.fleet.store_fleet import FleetTables


class WorkerLease:
    """Joined when made."""

    def __init__(self, fleet: FleetTables, name: str, lease_s: float, clock: Clock) -> None:
        self.lease_s = lease_s
        self._clock = clock
        sent_s = clock.monotonic_s()
        self.worker = fleet.join(name, lease_s)
        self._renewed_s = sent_s

    def is_due(self) -> bool:
        """Whether it is time to renew."""
        return self._clock.monotonic_s() >= self._renewed_s + self.lease_s / 3

    def is_late(self) -> bool:
        """Whether nothing may be asked until the lease is renewed; looked at right before each request."""
        return self._clock.monotonic_s() >= self._renewed_s + self.lease_s * 2 / 3

    def renew(self, fleet: FleetTables) -> None:
        """Renew; LeaseLostError if the lease is over by the database's clock."""
        sent_s = self._clock.monotonic_s()
        fleet.renew(self.worker, self.lease_s)
        self._renewed_s = sent_s
