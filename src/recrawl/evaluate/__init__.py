"""evaluate: crawls of recordings, compared policy by policy with paired statistics."""
