"""simulate: worlds made of recordings, real and synthetic."""
