"""A small Scrapy project for a process of its own: `python scrapy_project.py '{"SETTING": value}' START_URL`.

Items go to the file of the setting ITEMS as soon as they are through, a JSON line each.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import scrapy
from scrapy.core.scheduler import Scheduler
from scrapy.crawler import CrawlerProcess


class OwnScheduler(Scheduler):
    """A project's own scheduler: notes what it was given."""

    def enqueue_request(self, request: Any) -> bool:
        with open(os.environ["OWN_SCHEDULER"], "a") as file:
            file.write(f"{request.url}\n")
        return bool(super().enqueue_request(request))


class WriteAtOnce:
    """A pipeline that writes and flushes every item; with DIE_AFTER it ends the process the hard way after some."""

    count = 0

    @classmethod
    def from_crawler(cls, crawler: Any) -> WriteAtOnce:
        made = cls()
        made.path = crawler.settings["ITEMS"]  # type: ignore[attr-defined]
        made.die_after = crawler.settings.getint("DIE_AFTER")  # type: ignore[attr-defined]
        return made

    def process_item(self, item: Any, *_: Any) -> Any:
        with open(self.path, "a") as file:  # type: ignore[attr-defined]
            file.write(json.dumps(item) + "\n")
        WriteAtOnce.count += 1
        if WriteAtOnce.count == self.die_after:  # type: ignore[attr-defined]
            os.kill(os.getpid(), 9)
        return item


class Pages(scrapy.Spider):
    """Follows all links of a site; an item per page."""

    name = "pages"
    passed = ""

    def parse(self, response: Any) -> Any:
        yield {"url": response.url}
        for link in response.css("a::attr(href)").getall() if self.settings.getbool("FOLLOW", True) else ():
            yield response.follow(link, callback=self.parse_deep)
        if self.passed:
            yield scrapy.Request(self.passed, meta={"recrawl": False}, callback=self.parse_passed)

    def parse_deep(self, response: Any) -> Any:
        yield from self.parse(response)

    def parse_passed(self, response: Any) -> Any:
        yield {"passed": response.url}


def main() -> None:
    """Run the spider."""
    settings = {
        "ADDONS": {"recrawl.scrapy.Addon": 500},
        "ITEM_PIPELINES": {WriteAtOnce: 300},
        "LOG_LEVEL": "WARNING",
        "ROBOTSTXT_OBEY": False,
        "TELNETCONSOLE_ENABLED": False,
        **json.loads(sys.argv[1]),
    }
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(Pages)
    process.crawl(crawler, start_urls=sys.argv[2:3], passed=sys.argv[3] if len(sys.argv) > 3 else "")
    process.start()
    stats = crawler.stats.get_stats()
    print(stats["finish_reason"])
    print(json.dumps({name: value for name, value in stats.items() if name.startswith("recrawl/")}))


def run_in(environment: dict[str, str], words: list[str], out: str, err: str) -> None:
    """Run as the command does, in a process that has imported everything already; what it prints goes to files."""
    for stream, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["scrapy_project.py", *words]
    sys.modules["__main__"] = sys.modules[__name__]
    main()
    sys.stdout.flush()


if __name__ == "__main__":
    main()
