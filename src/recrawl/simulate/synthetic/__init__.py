"""synthetic: webs drawn from a preset and a seed, as recordings."""
