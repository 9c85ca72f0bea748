"""remember: pages, visits, versions and links, as columns in memory and tables on disk."""
