"""see: bytes to what a page says. Pure functions, no input or output."""
