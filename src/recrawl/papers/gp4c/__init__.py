"""gp4c: evolved score functions against the estimators (Santos et al. 2014)."""
