"""clusters: cluster-level and site-level sampling (Tan et al. 2007, Cho & Ntoulas 2002)."""
