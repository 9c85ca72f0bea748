"""Deliver what a crawl found: events to files, webhooks, commands and other packages' sinks."""
