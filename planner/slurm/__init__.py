"""The way back to Slurm: begin times of waiting jobs set, verified, and undone."""
