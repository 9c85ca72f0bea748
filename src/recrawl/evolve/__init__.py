"""evolve: score functions by genetic programming (GP4C), and the genetic algorithm of rank weights."""
