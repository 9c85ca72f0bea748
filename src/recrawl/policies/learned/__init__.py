"""learned: the chance of a change, learned online from the crawl's own visits. The default policy."""
