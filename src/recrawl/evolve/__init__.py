"""evolve: score functions by genetic programming (GP4C)."""
