"""A live crawl from Python, of a small living web that this program serves on this machine.

    python examples/live_crawl.py FOLDER

To crawl the real web leave out the server, the clock and the settings: see the README.
"""

import sys
from pathlib import Path

import recrawl
from recrawl.clock import SystemClock
from recrawl.simulate.render import Rendering
from recrawl.simulate.replay import ReplayServer

SETTINGS = """
[crawl]
every = "7d"
budget = "20%"
warmup = 1                # the first cycle visits every page
signals = false
[fetch]
allow_networks = ["127.0.0.0/8"]
connect_to = [["*.replay", "127.0.0.1"]]
[fetch.gate]
min_delay_s = 0.0         # the web is our own
latency_factor = 0.0
"""


class Calendar(SystemClock):
    """The day on the served web; we turn the pages."""

    day = 0.0

    def now(self) -> float:
        return self.day


def main(folder: Path, cycles: int = 6) -> None:
    web = recrawl.synthesize("mixed", pages=60, days=7 * cycles, seed=3)
    calendar = Calendar()
    rendering = Rendering(web)
    with ReplayServer(rendering, calendar.now) as server:
        urls = [rendering.url(page, server.port) for page in range(len(web)) if web.born[page] <= 0]
        with recrawl.Crawl.create(folder, SETTINGS, clock=calendar) as crawl:
            new, _ = crawl.add(*urls)
            print(f"{new} pages to begin with")
            for cycle in range(1, cycles + 1):
                calendar.day = 7.0 * cycle
                crawl.run(cycles=1, policy="learned")
            status = crawl.status()
            print(f"{status['visits']} visits found {status['changed']} changes")
            busiest = crawl.pages(changed=True, limit=1)[0]
            print(crawl.page(busiest["url"]).why)
            print("the policy that fits this history best:", crawl.learn("age,bayes,learned").policy)
            print(crawl.replay("age,learned,oracle", "ChangesFound"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
