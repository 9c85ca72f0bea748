"""A fleet: one planner and any number of workers on one PostgreSQL database."""
