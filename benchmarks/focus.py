"""Focused crawling: downloads a second of the compiled simulator beside plain Python, and the paper's whole evolution.

The web has 200,000 pages with 20 links each on average. The plain simulator is the same algorithm in lists and
dictionaries and must download the same pages. The genetic algorithm runs in the paper's size: a population of 50, 50
generations, three crawls of 10,000 pages an individual, on two threads. An individual that was seen before has the
fitness that it had (the same crawls, the same result); CPU-seconds are of both threads together.
`python -m benchmarks.focus quick` leaves the evolution out.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from recrawl.focus.genetic import GeneticSettings, evolve
from recrawl.focus.mission import Mission
from recrawl.focus.simulator import new_desk, simulate
from recrawl.focus.strategy import BASELINES, PUBLISHED, Strategy
from recrawl.focus.web import open_web
from reference.plain_focus import PlainCrawl

CRAWL, PLAIN_CRAWL, REPEATS, JOBS = 10_000, 2_000, 25, 2


def speed(mission: Mission, strategy: Strategy) -> float:
    """Downloads a second on one core, the best of some crawls."""
    web, seeds = mission.fleet.web, mission.topic.examples
    desk = new_desk(web)
    best = np.inf
    for chance in range(REPEATS):
        began = time.perf_counter()
        simulate(web, desk, seeds, strategy.weights, strategy.within, CRAWL, chance)
        best = min(best, time.perf_counter() - began)
    return CRAWL / best


def plain_speed(mission: Mission, strategy: Strategy) -> float:
    """Downloads a second in plain Python; checks that they are the same pages."""
    web, seeds = mission.fleet.web, mission.topic.examples
    plain = PlainCrawl(web, strategy.weights, strategy.within)
    began = time.perf_counter()
    pages = plain.run(seeds, PLAIN_CRAWL, 0)
    took = time.perf_counter() - began
    same = simulate(web, new_desk(web), seeds, strategy.weights, strategy.within, PLAIN_CRAWL, 0).pages.tolist()
    assert pages == same, "the two simulators differ"
    return len(pages) / took


def main() -> None:
    began = time.perf_counter()
    web = open_web("synthetic")
    took = time.perf_counter() - began
    print(f"web of {len(web):,} pages, {web.graph.links / len(web):.1f} links a page, made in {took:.1f} s")
    mission = Mission.learn(web, "label:popular", jobs=JOBS)
    speed(mission, PUBLISHED)  # compiles
    for strategy in (PUBLISHED, *BASELINES):
        print(f"{strategy.name:16} {speed(mission, strategy):>10,.0f} downloads/s, crawls of {CRAWL:,}")
    slow, fast = plain_speed(mission, PUBLISHED), speed(mission, PUBLISHED)
    print(f"{'plain Python':16} {slow:>10,.0f} downloads/s, a crawl of {PLAIN_CRAWL:,}; compiled: {fast / slow:,.0f} x")
    if "quick" in sys.argv:
        return
    settings = GeneticSettings()
    began, used = time.perf_counter(), time.process_time()
    found, course = evolve(mission.fleet, mission.topic.examples, CRAWL, settings, 0)
    took, used = time.perf_counter() - began, time.process_time() - used
    crawls = course.evaluations * settings.simulations
    bred = settings.population * (settings.generations + 1) * settings.simulations
    print(
        f"evolution of 50 x 50 x 3: {crawls:,} crawls of {CRAWL:,} (of {bred:,}; the others repeat an individual) in "
        f"{used:,.0f} CPU-seconds, {took:,.0f} s on {JOBS} threads, {crawls * CRAWL / used:,.0f} pages per CPU-second"
    )
    print(f"fitness {course.best[0]:.3f} -> {course.best[-1]:.3f}; {found[0].parts[0]}")


if __name__ == "__main__":
    main()
