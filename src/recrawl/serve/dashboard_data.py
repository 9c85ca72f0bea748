"""What the dashboard shows, as values: numbers from the store, put into words."""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import Any

from recrawl.clock import DAY_S
from recrawl.eligibility import Bar
from recrawl.live.expected_freshness import ExpectedFreshness, expected_freshness
from recrawl.live.feed import failure
from recrawl.live.store import Store
from recrawl.plan import UNLIMITED, spent_text
from recrawl.serve.rendering import moment
from recrawl.spans import local_of, local_offset_s

KEPT_S = 30.0  # how long an estimate is shown before it is made again
REASONS = {
    Bar.DISALLOWED: "disallowed by robots.txt",
    Bar.OUT_OF_SCOPE: "out of scope by the settings",
    Bar.REFUSED: "its address or port is not one to crawl",
    Bar.REMOVED: "removed by the user",
    Bar.PAUSED: "host paused by the user",
    Bar.HOST_DOWN: "host does not answer; asked once per cycle",
    Bar.LEFT_ALONE: "host asked to be left alone",
    Bar.HOST_FULL: "host can take no more in this cycle",
    Bar.UNDER_WAY: "under way",
}


class Estimates:
    """Keeps the expected freshness for a while: it looks at thousands of pages."""

    def __init__(self) -> None:
        self._last: dict[float | None, tuple[float, ExpectedFreshness | None]] = {}

    def of(self, store: Store, at: float | None = None) -> ExpectedFreshness | None:
        """Return the estimate for a time, now by default; at most KEPT_S seconds old."""
        made_s, last = self._last.get(at, (float("-inf"), None))
        if time.monotonic() - made_s > KEPT_S:
            last = expected_freshness(store, store.status()["pages"], at)
            self._last = {None: self._last.get(None, (float("-inf"), None)), at: (time.monotonic(), last)}
        return last


def numbers(store: Store) -> dict[str, Any]:
    """Return the numbers that move while a crawl runs, as text."""
    status, cycle = store.status(), store.cycles(1)
    shown: dict[str, Any] = {name: f"{status[name]:,}" for name in ("pages", "visits", "hosts")}
    done = sum(cycle[0][name] for name in ("unchanged", "changed", "first", "gone", "failed")) if cycle else 0
    shown |= {"changes": f"{status['changed']:,}", "copies": f"{status['fetched']:,}", "cycle_done": done}
    text = spent_text(done, cycle[0]["budget"]) if cycle else "not started"
    return shown | {"cycle_text": text}


def overview(store: Store, estimates: Estimates, running: bool, cycle_days: float) -> dict[str, Any]:
    """Return what the first page shows."""
    status, cycles, moving = store.status(), store.cycles(1), numbers(store)
    compared = status["changed"] + status["unchanged"]
    states = store.host_states()
    barred = sum(count for reason, count in states.items() if reason)
    return moving | {
        "sentence": _sentence(status, running, cycle_days),
        "cycle": status["cycle"],
        "progress": _progress(cycles[0] if cycles else None, moving, running),
        "rate": f"{100 * status['changed'] / compared:.1f} per 100 visits to known pages" if compared else "",
        **_fresh(store, estimates, _ended_at(status["cycle"], cycle_days)),
        "host_word": f"{barred} paused, down or full" if barred else "all open",
        "barred": barred_reasons(store),
        "changed": store.changed_lately(15),
    }


def _progress(cycle: dict[str, Any] | None, moving: dict[str, Any], running: bool) -> dict[str, Any]:
    state = "done" if cycle is None or cycle["done"] else "under way" if running else "interrupted"
    word = "" if cycle is None else f"{state}, by {cycle['policy']}"
    most = 1 if cycle is None else max(1, moving["cycle_done"] if cycle["budget"] >= UNLIMITED else cycle["budget"])
    return {"text": moving["cycle_text"], "word": word, "most": most, "done": moving["cycle_done"]}


def _sentence(status: dict[str, Any], running: bool, cycle_days: float) -> str:
    cycle = status["cycle"]
    if cycle is None:
        if not status["pages"]:
            return "No page yet. Add some with `recrawl add URL`, then start the crawl with `recrawl run`."
        return "No cycle has begun: `recrawl run` starts the crawl."
    state = "A process is crawling now." if running else "No process is crawling now: `recrawl run` goes on."
    if cycle["done"]:
        return f"{state} The next cycle {due_words(cycle['at'] + cycle_days)}."
    done, left = cycle["visits"], max(0, cycle["budget"] - cycle["visits"])
    spent_s = (time.time() / DAY_S - cycle["at"]) * DAY_S
    if not running or done < 5 or spent_s <= 0:
        return state
    return f"{state} At its pace so far the cycle ends in about {span_words(left * spent_s / done)}."


def due_words(at: float | None) -> str:
    """Say when a cycle is due, or since when."""
    if at is None:
        return "is due at once"
    late_s = (time.time() / DAY_S - at) * DAY_S
    return f"is due {moment(at)}" if late_s <= 0 else f"has been due for {span_words(late_s)}, since {moment(at)}"


def _ended_at(cycle: dict[str, Any] | None, cycle_days: float) -> float | None:
    """Return when the last cycle ended, where a whole cycle or more has been left out since; None otherwise."""
    late = cycle is not None and time.time() / DAY_S > cycle["at"] + 2 * cycle_days
    return cycle["at"] + cycle_days if cycle is not None and late else None


def span_words(seconds: float) -> str:
    """Write a span of time for people: 3 days, 40 minutes."""
    for unit, size in (("days", DAY_S), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"


def _fresh(store: Store, estimates: Estimates, ended_at: float | None) -> dict[str, dict[str, str]]:
    """Return freshness and age of the copies: now, or as the last cycle left them where the crawl stands still."""
    now = estimates.of(store)
    then = estimates.of(store, ended_at)
    if now is None or then is None:
        nothing = {"number": "?", "word": "needs pages that were visited twice"}
        return {"fresh": nothing, "age": nothing}
    fresh = {"number": f"{then.fresh:.0%}", "word": then.sentence}
    age = {"number": span_words(then.age_days * DAY_S), "word": "mean time for which copies have been out of date"}
    if ended_at is not None:
        fresh["word"] = f"when the last cycle ended; now {now.fresh:.0%}. {then.sentence.capitalize()}"
        age["word"] = f"when the last cycle ended; now {span_words(now.age_days * DAY_S)}. The {age['word']}"
    return {"fresh": fresh, "age": age}


def barred_reasons(store: Store) -> list[tuple[str, int]]:
    """Return why pages are not visited now, with how many there are."""
    names = {bar.name.lower().replace("_", "-"): text for bar, text in REASONS.items()}
    counts = {name if isinstance(name, str) else name.name.lower().replace("_", "-"): count
              for name, count in store.count_barred().items()}  # fmt: skip
    return [(names.get(name, name), count) for name, count in sorted(counts.items(), key=lambda item: -item[1])]


def hosts(store: Store, contains: str) -> list[dict[str, Any]]:
    """Return the hosts with the most pages, in words."""
    now = time.time() / DAY_S
    return [_host(row, now) for row in store.hosts_at_work(200, contains)]


def _host(row: dict[str, Any], now: float) -> dict[str, Any]:
    gate = json.loads(row["gate"]) if row["gate"] else {}
    reason = row["reason"] or 0
    compared = row["changed"] + row["unchanged"]
    heard = row["signals_true"] + row["signals_false"]
    free_at = gate.get("saved_at", 0.0) + gate.get("wait_s", 0.0) / DAY_S
    return row | {
        "state": REASONS[Bar(reason)] if reason else ("failing" if gate.get("failures") else "open"),
        "paused": reason == Bar.PAUSED,
        "visits": compared + row["first"] + row["gone"] + row["failed"],
        "per_hundred": f"{100 * row['changed'] / compared:.1f}" if compared else "",
        "delay": f"{gate['delay_s']:.1f} s" if gate else "",
        "crawl_delay": f"{gate['crawl_delay_s']:g} s" if gate.get("crawl_delay_s") else "",
        "allowed": moment(free_at) if free_at > now else "now",
        "trust": f"{row['signals_true']} of {heard}" if heard else "",
    }


def chart_known(store: Store) -> dict[str, Any]:
    """Return pages first visited and visits made, added up by cycle."""
    cycles = store.cycles(500)[::-1]
    known, visits, x = 0, 0, list[float]()
    first, made = list[int](), list[int]()
    for cycle in cycles:
        known += cycle["first"]
        visits += sum(cycle[name] for name in ("unchanged", "changed", "first", "gone", "failed"))
        x.append(round(cycle["at"] * DAY_S + local_offset_s(cycle["at"])))
        first.append(known)
        made.append(visits)
    series = [{"name": "pages with a copy", "values": first}, {"name": "visits", "values": made}]
    zone = local_of(cycles[-1]["at"], "%Z") if cycles else ""
    return {"x": x, "time": True, "label": f"time ({zone})", "series": series}


def chart_found(store: Store) -> dict[str, Any]:
    """Return what the visits of each cycle found."""
    cycles = store.cycles(500)[::-1]
    names = {"changed": "changed", "unchanged": "unchanged", "first": "new", "gone": "gone", "failed": "failed"}
    series = [_outcomes(text, [cycle[name] for cycle in cycles], cycles) for name, text in names.items()]
    return {"x": [cycle["cycle"] for cycle in cycles], "time": False, "label": "cycle", "series": series}


def _outcomes(name: str, values: list[int], cycles: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a series; first visits are not drawn at first where they would flatten all others."""
    others = max((max(cycle["changed"], cycle["unchanged"]) for cycle in cycles), default=0)
    return {"name": name, "values": values, "hidden": name == "new" and bool(others) and max(values) > 3 * others}


def errors(store: Store) -> dict[str, Any]:
    """Return failed visits by kind, the newest of them, and what is known of robots.txt files."""
    rows = store.failures_lately()
    counts: Counter[str] = Counter()
    kinds: dict[str, dict[str, Any]] = {}
    seen: dict[str, set[str]] = {}
    for url, host, at, _, note in rows:
        kind = failure(note)["kind"]
        counts[kind] += 1
        seen.setdefault(kind, set()).add(host)
        kinds.setdefault(kind, {"kind": kind, "at": at, "url": url, "note": note})
    known = [kinds[kind] | {"count": count, "hosts": len(seen[kind])} for kind, count in counts.most_common()]
    records = [json.loads(record) for record in store.robots()[:200]]
    robots = [
        {"origin": one["origin"], "state": _ROBOTS.get(one["state"], one["state"]), "at": one["asked_at"]}
        | {"bytes": len(one.get("text", ""))}
        for one in records
    ]
    return {"kinds": known, "failures": rows[:100], "robots": robots, "barred": barred_reasons(store)}


_ROBOTS = {"rules": "rules", "none": "none: all is allowed", "unreachable": "cannot be reached: nothing is asked"}
