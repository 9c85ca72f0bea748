"""search: what fresh copies are worth to a search engine (Tan et al. 2007)."""
