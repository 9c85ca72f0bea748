"""serve: a crawl over HTTP on this machine: REST for other crawlers' schedules, and pages for people."""
