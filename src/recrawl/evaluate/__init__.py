"""evaluate: measures as values, crawls of recordings, statistics, comparisons, tables, plots and the report."""
