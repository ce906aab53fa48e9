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

NOT_YET = 2**60
"""When a job comes that no day has started [Unix seconds]: later than anything."""


def waits_of(schedule: Table, horizon: Horizon, came: Came) -> Ints:
    """Seconds that each job of a schedule.csv waited, in its order; `came` is about the jobs of earlier days."""
    known = Came(came)
    take_in(known, schedule, horizon)
    waits: Ints = np.maximum(start_unix(schedule, horizon) - ready_unix(schedule, horizon, known), 0)
    return waits


def start_unix(schedule: Table, horizon: Horizon) -> Ints:
    """When each job of a schedule.csv starts [Unix seconds]. ValueError where a cell cannot be read."""
    return np.array([horizon.start_unix + int(text) for text in _cells(schedule, "start_s")], dtype=np.int64)


def ready_unix(table: Table, horizon: Horizon, came: Came) -> Ints:
    """When each job of a schedule.csv or deferred.csv could first start [Unix seconds].

    That is when it was submitted, when the begin that its user asked for had come, and when all that it waits for had
    come first: not at all where a job of the same deferred.csv must. A job that no day knows had come first by the
    midnight of this one. ValueError where a cell cannot be read.
    """
    never = Came({} if "start_s" in table.columns else dict.fromkeys(_cells(table, "job_id"), (NOT_YET, NOT_YET)))
    ready = [_unix(text) for text in _cells(table, "submit_time")]
    for row, begin in enumerate(_cells(table, "begin_time")):
        if begin:
            ready[row] = max(ready[row], _unix(begin))
    for row, needed in enumerate(_cells(table, "dependency")):
        if needed:
            ready[row] = max(ready[row], _come_first(needed, never | came, horizon.start_unix))
    return np.array(ready, dtype=np.int64)


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
