"""Planning and learning beyond one machine: columns in shards, scored side by side and merged exactly."""
