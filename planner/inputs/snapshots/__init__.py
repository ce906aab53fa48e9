"""Snapshots of a site: what waits, runs and has ended at one moment, and which nodes cannot be used."""
