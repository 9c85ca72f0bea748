"""measures: what a crawl is judged by, each a value with a name, a direction and a unit."""
