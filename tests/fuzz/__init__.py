"""Mutated inputs of every kind, and whole commands run on them: `python -m tests.fuzz --count 10000`."""
