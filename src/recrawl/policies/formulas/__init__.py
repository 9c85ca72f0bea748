"""formulas: evolved score functions (GP4C, Santos et al. 2014) as policies."""
