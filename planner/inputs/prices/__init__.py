"""Readers of what electricity costs and how much carbon it carries."""
