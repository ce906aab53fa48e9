"""How long the jobs of written days waited: from when each could first start, which need not be its submission."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

import numpy as np

from planner.domain.columns import Ints
from planner.domain.dependency import parse_dependencies
from planner.domain.horizon import Horizon
from planner.store.write_tables import Table

Came = dict[str, tuple[int, int]]
"""Start and end of jobs [Unix seconds]."""


def waits_of(schedule: Table, horizon: Horizon, came: Came) -> Ints:
    """Seconds that each job of a schedule.csv waited, in its order; `came` is about the jobs of earlier days.

    A job could first start when it was submitted, when the begin that its user asked for had come, and when all that it
    waits for had come first. A job that no day knows any more had come first by the midnight of this one.
    ValueError where a cell cannot be read.
    """
    ids, start_s, end_s = (_cells(schedule, name) for name in ("job_id", "start_s", "end_s"))
    origin = horizon.start_unix
    starts = [origin + int(text) for text in start_s]
    known = came | {job: (start, origin + int(end)) for job, start, end in zip(ids, starts, end_s, strict=True)}
    ready = [_unix(text) for text in _cells(schedule, "submit_time")]
    for row, begin in enumerate(_cells(schedule, "begin_time")):
        if begin:
            ready[row] = max(ready[row], _unix(begin))
    for row, needed in enumerate(_cells(schedule, "dependency")):
        if needed:
            ready[row] = max(ready[row], _come_first(needed, known, origin))
    return np.maximum(np.array(starts, dtype=np.int64) - np.array(ready, dtype=np.int64), 0)


def take_in(came: Came, schedule: Table, horizon: Horizon) -> None:
    """Add the jobs of a day to those of earlier ones."""
    cells = zip(*(_cells(schedule, name) for name in ("job_id", "start_s", "end_s")), strict=True)
    origin = horizon.start_unix
    came.update({job: (origin + int(start), origin + int(end)) for job, start, end in cells})


def _come_first(text: str, known: Mapping[str, tuple[int, int]], gone_unix: int) -> int:
    """When all that a job waits for had come first [Unix seconds]."""
    return max(
        known[each.job_id][each.waits_for_end] if each.job_id in known else gone_unix
        for each in parse_dependencies(text)
    )


def _cells(schedule: Table, name: str) -> list[str]:
    """The cells of a column; none where the table has no such column."""
    if name not in schedule.columns:
        return []
    at = schedule.columns.index(name)
    return [row[at] for row in schedule.rows]


def _unix(text: str) -> int:
    return int(dt.datetime.fromisoformat(text).timestamp())
