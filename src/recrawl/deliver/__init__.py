"""Deliver what a crawl found: events handed over to files, webhooks, commands and other packages' sinks, each from its own cursor."""
