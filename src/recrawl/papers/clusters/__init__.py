"""clusters: cluster-level sampling and search results (Tan et al. 2007)."""
