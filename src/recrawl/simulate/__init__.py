"""simulate: worlds made of recordings, real and synthetic. Never touches the network."""
