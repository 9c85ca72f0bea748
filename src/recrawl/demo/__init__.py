"""demo: a living web on this machine, crawled under two policies."""
