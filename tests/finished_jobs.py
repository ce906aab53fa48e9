"""Finished jobs for tests of learned power: one unit each, with a measured power."""

from __future__ import annotations

from typing import Any

from planner.domain.job import UnitGroup
from planner.power.learned import Asked, FinishedJob


def asked(
    job_id: str = "a", cores: float = 4, count: int = 1, more: dict[str, float] | None = None, **of: Any
) -> Asked:
    """A request of equal units; it asks for an hour unless told otherwise."""
    return Asked(job_id, (UnitGroup.of(count, {"cores": cores, **(more or {})}),), **{"requested_s": 3600} | of)


def finished(submit: int, end: int, power_w: float, job_id: str = "a", **of: Any) -> FinishedJob:
    """A job that was submitted and ended at these moments."""
    return FinishedJob(asked(job_id, **of), submit, end, power_w)
