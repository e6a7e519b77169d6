"""A run in stages: session, collect, evaluate."""
