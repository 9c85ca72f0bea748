"""urls: one parser and one normal form, scope, traps, and the index of known URLs."""
