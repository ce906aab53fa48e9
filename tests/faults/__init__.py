"""Runs that are killed, starved or run in odd surroundings: the old result or the new one, whole, and a rerun works."""
