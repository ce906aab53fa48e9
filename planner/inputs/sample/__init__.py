"""Sample workloads: a site's day of jobs, drawn from published models, for a first run without own data."""
