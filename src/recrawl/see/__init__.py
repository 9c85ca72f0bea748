"""see: bytes to what a page says, and what changed between two versions. Pure functions, no input or output."""
