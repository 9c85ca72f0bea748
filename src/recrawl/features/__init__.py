"""features: what two or more methods read of pages: PageRank, importance, semantic vectors, related pages, clusters."""
