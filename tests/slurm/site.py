"""A site whose nodes and jobs are those of Slurm."""

from __future__ import annotations

from pathlib import Path

from tests.days import small_table

SITE = """\
description: Nodes and jobs of Slurm
zone: {zone}
jobs: {{source: slurm}}
weather: {{source: constant, temperature_c: 12}}
tariff: {{kind: flat, eur_per_kwh: 0.2}}
cooling: {{table: ../tables/small.csv}}
revenue: {{eur_per_core_hour: 0.05}}
"""
OPEN = "slurm: {partitions: [batch, open], opt_in: {partitions: [batch, open]}}\n"
"""Jobs of both partitions are planned, and may be changed."""


def write_slurm_site(folder: Path, slurm: str, *, zone: str = "UTC") -> Path:
    """Write the site with the section ``slurm:`` as given, under the name that is the default."""
    for name, text in {
        "scenarios/site.yaml": SITE.format(zone=zone) + slurm,
        "tables/small.csv": small_table(),
    }.items():
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder
