"""links: look back, look around: which pages will have new links (Dang et al. 2022)."""
