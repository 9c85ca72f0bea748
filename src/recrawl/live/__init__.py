"""live: a crawl of the live web as a directory that survives kill -9, steered by the one loop of all crawls."""
