"""Sample workloads: a site's day of jobs, drawn from published models, for a first run without own data."""

from planner.inputs.sample.workload import generate_jobs

__all__ = ["generate_jobs"]
