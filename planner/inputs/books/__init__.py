"""What really ran on a day, from Slurm's accounts or from a table."""
