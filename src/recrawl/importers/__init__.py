"""importers: histories of other crawlers, read line by line, as recordings."""
