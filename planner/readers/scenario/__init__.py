"""Scenario files: a strict loader, layers, and a checked schema."""
