"""The published experiment on 23 days of CEA Curie."""
