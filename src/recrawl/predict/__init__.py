"""predict: how likely a page has changed, from what was seen of it."""
