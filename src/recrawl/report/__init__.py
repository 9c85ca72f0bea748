"""report: tables, plots and self-contained pages of results."""
