"""Compiled loops of the bound."""
