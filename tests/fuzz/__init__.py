"""Inputs constructed from the command tree and the schema, and mutated: `python -m tests.fuzz --count 12000`."""
