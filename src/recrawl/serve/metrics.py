"""Metrics for Prometheus, read from the crawl's counters when they are asked for: no state but the histogram.

| metric | meaning |
|---|---|
| recrawl_visits_total{outcome} | visits of all cycles |
| recrawl_fetches_total{kind} | failed fetches by typed kind, and good ones, since this server began |
| recrawl_changes_found_total | visits that found a change |
| recrawl_pages{state} | known pages: fetched, waiting, barred |
| recrawl_hosts{state} | hosts: ok, paused, blocked |
| recrawl_cycle_budget, recrawl_cycle_left, recrawl_cycle_seconds | the last cycle |
| recrawl_expected_fresh_ratio, recrawl_expected_age_seconds | objectives for a service level; estimates |
| recrawl_expected_calibration_ratio | changes found over changes that the estimate expected of the last visits |
| recrawl_fetch_seconds | histogram of how long answers took, since this server began |
| recrawl_feed_lag{sink}, recrawl_delivery_failures_total{sink}, recrawl_delivery_dead{sink} | deliveries |
| recrawl_workers_alive | workers of a fleet whose lease is not over; not there for a crawl in a file |
| recrawl_signal_trust{host} | share of announcements that were right; the 20 hosts with the most |
"""

from __future__ import annotations

import bisect
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from recrawl.clock import DAY_S
from recrawl.eligibility import Bar
from recrawl.live.feed import failure
from recrawl.live.store import Store
from recrawl.serve.dashboard_data import Estimates
from recrawl.visits import Outcome

BUCKETS_S = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 60.0)
MOST_HOSTS = 20


class CrawlMetrics:
    """Collects a crawl's metrics. Answers are counted from visit to visit, so that none is counted twice."""

    def __init__(self, estimates: Estimates) -> None:
        self._estimates = estimates
        self._visit = -1
        self._counts = [0] * (len(BUCKETS_S) + 1)
        self._sum_s = 0.0
        self._kinds: Counter[str] = Counter()

    def text(self, store: Store, sinks: list[dict[str, Any]], workers: list[dict[str, Any]] | None = None) -> bytes:
        """Return the metrics in Prometheus's text format; `workers` are those of a fleet that are alive."""
        registry = CollectorRegistry(auto_describe=False)
        found = [*self._crawl(store), *self._answers(store), *_deliveries(sinks)]
        if workers is not None:
            found.append(_gauge("workers_alive", "Workers whose lease is not over", "", {"": len(workers)}))
        registry.register(_Collected(found))
        return generate_latest(registry)

    def _crawl(self, store: Store) -> Iterator[Metric]:
        status, barred = store.status(), sum(store.count_barred().values())
        names = [outcome.name.lower() for outcome in Outcome]
        yield _counter("visits", "Visits by outcome", "outcome", {name: status[name] for name in names})
        yield _counter("changes_found", "Visits that found a change", "", {"": status["changed"]})
        states = {"fetched": status["fetched"], "waiting": status["pages"] - status["fetched"], "barred": barred}
        yield _gauge("pages", "Known pages; barred ones are also counted as fetched or waiting", "state", states)
        yield _gauge("hosts", "Hosts by state", "state", _host_states(store))
        cycle = status["cycle"]
        if cycle is not None:
            last_s = time.time() - cycle["at"] * DAY_S
            yield _gauge("cycle_budget", "Visits of the last cycle's budget", "", {"": cycle["budget"]})
            yield _gauge("cycle_left", "Visits left of it", "", {"": max(0, cycle["budget"] - cycle["visits"])})
            yield _gauge("cycle_seconds", "Seconds since the last cycle was due", "", {"": last_s})
        yield from self._expected(store)
        trust = {name: right / (right + wrong) for name, right, wrong in store.signal_trust(MOST_HOSTS)}
        yield _gauge("signal_trust", "Share of announcements that were right", "host", trust)

    def _expected(self, store: Store) -> Iterator[Metric]:
        found = self._estimates.of(store)
        if found is None:
            return
        yield _gauge("expected_fresh_ratio", "Estimated share of copies that equal their pages", "", {"": found.fresh})
        yield _gauge("expected_age_seconds", "Estimated mean age of copies", "", {"": found.age_days * DAY_S})
        if found.calibration is not None:
            said = "Changes found over changes expected of the last visits: 1 is calibrated"
            yield _gauge("expected_calibration_ratio", said, "", {"": found.calibration})

    def _answers(self, store: Store) -> Iterator[Metric]:
        newest = store.newest_visit()
        for elapsed_s, outcome, note in store.answers_after(self._visit):
            if elapsed_s > 0:
                self._counts[bisect.bisect_left(BUCKETS_S, elapsed_s)] += 1
                self._sum_s += elapsed_s
            self._kinds["ok" if outcome != Outcome.FAILED else failure(note)["kind"]] += 1
        self._visit = newest
        total, buckets = 0, []
        for most, count in zip((*map(str, BUCKETS_S), "+Inf"), self._counts, strict=True):
            total += count
            buckets.append((most, float(total)))
        yield HistogramMetricFamily("recrawl_fetch_seconds", "How long answers took", buckets, self._sum_s)
        yield _counter("fetches", "Fetches by kind since this server began", "kind", dict(self._kinds))


class _Collected:
    """Metrics that were collected, as the registry wants them."""

    def __init__(self, metrics: list[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> list[Metric]:
        """Return them."""
        return self._metrics


def _host_states(store: Store) -> dict[str, int]:
    states = {"ok": 0, "paused": 0, "blocked": 0}
    for reason, count in store.host_states().items():
        states["ok" if not reason else "paused" if reason == Bar.PAUSED else "blocked"] += count
    return states


def _deliveries(sinks: list[dict[str, Any]]) -> Iterator[Metric]:
    for name, said, key in (
        ("feed_lag", "Visits recorded after the last one that a sink has been offered", "behind"),
        ("delivery_dead", "Events that were put aside", "dead"),
    ):
        yield _gauge(name, said, "sink", {sink["name"]: sink[key] for sink in sinks})
    failures = {sink["name"]: sink["tries"] for sink in sinks}
    yield _counter("delivery_failures", "Failed tries since the last success", "sink", failures)


def _gauge(name: str, said: str, label: str, values: Mapping[str, float]) -> Metric:
    return _filled(GaugeMetricFamily(f"recrawl_{name}", said, labels=[label] if label else []), label, values)


def _counter(name: str, said: str, label: str, values: Mapping[str, float]) -> Metric:
    return _filled(CounterMetricFamily(f"recrawl_{name}", said, labels=[label] if label else []), label, values)


def _filled(family: Any, label: str, values: Mapping[str, float]) -> Metric:
    for key, value in values.items():
        family.add_metric([key] if label else [], value)
    return family
