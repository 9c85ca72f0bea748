"""outlinks: what predicts new links (Dang et al. 2022)."""
