"""policies: which pages to visit next within a budget; one folder per method."""
