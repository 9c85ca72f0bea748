"""evaluate: measures as values, statistics, comparisons, tables and plots."""
