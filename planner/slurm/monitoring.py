"""What monitoring wants to know of a run of `plan now`, as a text file that Prometheus' node_exporter reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from planner.domain.result import Hold
from planner.errors import OutputError
from planner.inputs.slurm.queue import Queue
from planner.slurm.journal import saved_since
from planner.store.folder import put
from planner.text_files import read_bytes
from planner.units import SECONDS_PER_HOUR

METRICS = {
    "held_jobs": "jobs that are held for cheaper hours, tasks of arrays one by one",
    "held_core_hours": "cores of held jobs times their time limits",
    "promised_delay_left_seconds": "how much longer the held job may be held whose promise ends first; 0 without one",
    "saved_today": "expected savings of holds that ended since midnight, in the money of the site",
    "saved_this_month": "expected savings of holds that ended since the first of the month, in the money of the site",
    "broken_promises": "jobs of today that start later than until when they might be held",
    "last_plan_timestamp_seconds": "when the last plan was made",
    "last_run_timestamp_seconds": "when the last run ended, well or not",
    "last_exit_code": "exit code of the last run",
}
"""Every metric by its name, without the name of the program before it."""
_LINE = re.compile(r"planner_([a-z_]+) (-?[0-9.e+-]+)")


def held_metrics(
    holds: Mapping[str, Hold], queue: Queue, journal: Path, broken: int, zone: str, now_unix: int
) -> dict[str, float]:
    """The metrics of a run that went well, but for its exit code."""
    jobs = [job for job in queue.of_state("pending") if job.label in holds or job.array in holds]
    core_s = sum((job.request.cpus or 1) * (job.limit_s or 0) for job in jobs)
    midnight = datetime.fromtimestamp(now_unix, ZoneInfo(zone)).replace(hour=0, minute=0, second=0, microsecond=0)
    since = [int(each.timestamp()) for each in (midnight, midnight.replace(day=1))]
    today, month = (saved_since(journal, each, now_unix) for each in since)
    return {
        "held_jobs": len(jobs),
        "held_core_hours": round(core_s / SECONDS_PER_HOUR, 3),
        "promised_delay_left_seconds": max(0, min((each.latest_unix - now_unix for each in holds.values()), default=0)),
        "saved_today": round(today, 6),
        "saved_this_month": round(month, 6),
        "broken_promises": broken,
        "last_plan_timestamp_seconds": now_unix,
    }


def write_metrics(path: Path, found: Mapping[str, float], code: int, now_unix: int) -> None:
    """Write a file of metrics in one step; what this run does not know stays as the last one had it.

    OutputError when it cannot be written.
    """
    known = {**_last(path), **found, "last_run_timestamp_seconds": now_unix, "last_exit_code": code}
    lines = []
    for name, text in METRICS.items():
        if name in known:
            lines += [
                f"# HELP planner_{name} {text}",
                f"# TYPE planner_{name} gauge",
                f"planner_{name} {known[name]:.15g}",
            ]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        put(path, ("\n".join(lines) + "\n").encode("ascii"))
        path.chmod(0o644)
    except OSError as error:
        raise OutputError(f"{path}: metrics cannot be written ({error.strerror or error})") from error


def _last(path: Path) -> dict[str, float]:
    try:
        return {name: float(value) for name, value in _LINE.findall(read_bytes(path).decode("ascii"))}
    except ValueError:  # not there, or nothing of ours
        return {}
