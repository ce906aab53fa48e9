"""Groups of jobs that draw alike, from the most specific to the least: the hierarchy in which power is learned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.domain.cluster import CORES
from planner.power.asked import Asked

MEMORY = "memory_gb"

LEVELS: tuple[tuple[str, ...], ...] = (
    ("user", "account", "name", "partition", "request"),
    ("user", "name", "partition", "size"),
    ("user", "name", "size"),
    ("user", "size"),
    ("partition", "request"),
    ("partition", "size"),
    ("size",),
    ("cores",),
)
"""What jobs of one group have in common, level by level.

``size`` is the number of units and the job's total of every resource but memory, ``request`` also its memory and its
requested time. Jobs of one user come before jobs of one size: people repeat themselves. There is no level for all jobs:
their mean is a worse guess than a site's constant.
"""

Key = tuple[str, ...]


def level_name(level: int) -> str:
    """How people read a level: ``user + size``."""
    return " + ".join(LEVELS[level])


def keys_of(asked: Asked) -> list[tuple[int, Key]]:
    """The groups that a job belongs to, the most specific first; levels for which it lacks something are left out."""
    texts = _texts(asked)
    return [
        (level, tuple(texts[name] for name in names))
        for level, names in enumerate(LEVELS)
        if all(texts[name] for name in names)
    ]


def _texts(asked: Asked) -> Mapping[str, str]:
    """What a job has of everything that levels are made of, empty where it lacks it."""
    totals: dict[str, float] = {}
    for group in asked.units:
        for name, amount in group.amounts:
            totals[name] = totals.get(name, 0.0) + group.count * amount
    units = f"{asked.unit_count}x"
    size = _listed({name: total for name, total in totals.items() if name != MEMORY})
    return {
        "user": asked.user,
        "account": asked.account,
        "name": asked.name,
        "partition": asked.partition,
        "request": f"{units} {_listed(totals)} {asked.requested_s} s" if asked.requested_s else "",
        "size": f"{units} {size}",
        "cores": f"{totals.get(CORES, 0.0):.6g}",
    }


def _listed(totals: Mapping[str, Any]) -> str:
    """Totals as text that is the same for jobs that ask for the same, whatever the rounding of their units."""
    return " ".join(f"{name}={total:.6g}" for name, total in sorted(totals.items()))
