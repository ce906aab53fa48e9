"""Readers of weather files, and the sunlight in them."""
