"""experiments: one module a paper: its tables and figures on any recording."""
