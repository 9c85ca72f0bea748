"""recording: the file format of a crawl history: open, slice, validate, write, summarise."""
