"""Readers of what Slurm says in JSON: its queue, its nodes and reservations, and its accounts of ended jobs."""
