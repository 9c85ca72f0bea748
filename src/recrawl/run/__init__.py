"""run: a live crawl as a directory that survives kill -9, steered by the same loop and policies as a simulation."""
