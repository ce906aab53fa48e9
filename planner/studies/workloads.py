"""What the papers say of the logs themselves: their size, load, anomalies, sizes of jobs and hours of submission."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from planner.errors import InputError
from planner.inputs.jobs.read import is_swf
from planner.inputs.jobs.swf_file import SwfTrace, read_swf_trace
from planner.pages.charts import Line, lines
from planner.runs.compare_results import Row
from planner.studies.report import CURVES, PAIR_WIDTH, StudyReport, StudySection, numbers, pair, table_of, words
from planner.studies.study import StudyCell, TraceStudy

DAY_S = 86400
MONTH_S = 365.25 / 12 * DAY_S
POINTS = 60
"""Points of the curves by job area."""


@dataclass(frozen=True, kw_only=True)
class WorkloadStudy(TraceStudy):
    """The logs of the papers as their tables describe them: size, load, anomalies, and when jobs are submitted.

    An interrupted study goes on where it stopped.
    """

    name = "workloads"
    title = "The logs of the papers"
    reading = (
        "Table I of the metrics paper, Table 1 of the paper on planning the queue, Table 1 and figure 1 of the deadline"
        " paper, and the upper half of figure 3 of the metrics paper, of the files as they stand. A job can be used if"
        " it has a runtime and processors.",
    )

    def cells(self) -> list[StudyCell]:
        """One for each log."""
        return [
            StudyCell(trace, {"trace": trace}, workload_figures, {"path": path, "processors": self.processors})
            for trace, path in self.named_traces().items()
        ]

    def report(self, found: Sequence[Row]) -> StudyReport:
        """The tables, then jobs by hour and by area."""
        rows = [{name: value for name, value in told.items() if not isinstance(value, list)} for told in found]
        hours = [
            {"trace": told["trace"], "hour": hour, "jobs_per_day": jobs}
            for told in found
            for hour, jobs in enumerate(told["by_hour"])
        ]
        areas = [
            {"trace": told["trace"], "area_s": area, "jobs_fraction": jobs, "area_fraction": part}
            for told in found
            for area, jobs, part in told["by_area"]
        ]
        size = [words("log", "trace"), numbers("jobs", "", "jobs"), numbers("that can be used", "", "usable")]
        size += [numbers("processors", "", "processors"), numbers("utilisation", "%", "utilisation_percent", 1)]
        size += [(words("", "year")[0], lambda row: str(row["year"])), numbers("months", "", "months", 1)]
        odd = [
            words("log", "trace"),
            numbers("no runtime", "jobs", "no_runtime"),
            numbers("no processors", "jobs", "no_processors"),
        ]
        odd += [numbers("more processors than asked", "jobs", "wider_than_asked")]
        odd += [numbers("longer than asked", "jobs", "longer_than_asked")]
        odd += [numbers("by over a minute", "jobs", "longer_by_a_minute")]
        drawn = [
            Line(told["trace"], CURVES[k % len(CURVES)], list(enumerate(told["by_hour"])))
            for k, told in enumerate(found)
        ]
        figures = [lines("Submissions by the hour of the day", drawn, across="hour", up="jobs a day", width=PAIR_WIDTH)]
        for told in found:
            points = [
                Line(name, colour, [(area / 3600, 100 * row[place]) for area, *row in told["by_area"] if area > 0])
                for place, (name, colour) in enumerate((("of jobs", "a5"), ("of areas", "a1")))
            ]
            title = f"{told['trace']}: jobs up to an area"
            figures.append(lines(title, points, across="processor hours", up="% of all", width=PAIR_WIDTH))
        tables = [table_of("Size and load", rows, size), table_of("Anomalies", rows, odd)]
        files = {"workloads.csv": rows, "hours.csv": hours, "areas.csv": areas}
        return StudyReport(rows, files, [StudySection("The logs", [*tables, pair(figures)])])


def workload_figures(path: Path, processors: int | None) -> dict[str, Any]:
    """What is told of a log."""
    if not is_swf(path):
        raise InputError(f"{path}: not a log in the Standard Workload Format")
    swf = read_swf_trace(path)
    size = processors or swf.header_integer("MaxProcs") or swf.header_integer("MaxNodes") or 0
    column = swf.columns
    runtime, asked_s, used = column["runtime_s"], column["requested_s"], column["used_procs"]
    width = np.where(column["requested_procs"] > 0, column["requested_procs"], used)
    usable = (runtime > 0) & (width > 0)
    area = (runtime * width)[usable]
    submit = column["submit_s"]
    last = float((submit + np.maximum(column["wait_s"], 0) + np.maximum(runtime, 0)).max())
    span_s = last - float(submit.min())
    by_size = np.sort(area)
    part = np.cumsum(by_size) / by_size.sum()
    places = np.unique(np.linspace(0, len(by_size) - 1, POINTS).astype(int))
    end = dt.datetime.fromtimestamp((swf.header_integer("UnixStartTime") or 0) + last, dt.UTC)
    return {
        "jobs": len(swf),
        "usable": int(usable.sum()),
        "processors": size,
        "utilisation_percent": 100 * float(area.sum()) / (size * span_s) if size else None,
        "year": end.year,
        "months": float(submit.max() - submit.min()) / MONTH_S,
        "no_runtime": int((runtime <= 0).sum()),
        "no_processors": int((used <= 0).sum()),
        "wider_than_asked": int((used > column["requested_procs"]).sum()),
        "longer_than_asked": int((runtime > asked_s).sum()),
        "longer_by_a_minute": int((runtime > asked_s + 60).sum()),
        "area_of_smallest_80_percent": 100 * float(part[int(0.8 * len(part)) - 1]),
        "area_of_largest_5_percent": 100 * float(1 - part[int(0.95 * len(part)) - 1]),
        "by_hour": _by_hour(swf, usable),
        "by_area": [[float(by_size[k]), (int(k) + 1) / len(part), float(part[k])] for k in places],
    }


def _by_hour(swf: SwfTrace, usable: np.ndarray[Any, np.dtype[np.bool_]]) -> list[float]:
    """Mean submissions of a day in each hour of it, in the log's own time zone."""
    moments = (swf.header_integer("UnixStartTime") or 0) + swf.columns["submit_s"][usable]
    name = swf.header_text("TimeZoneString")
    try:
        zone: dt.tzinfo = ZoneInfo(name) if name else dt.UTC
    except (KeyError, ValueError, OSError):
        zone = dt.UTC
    days = np.unique(moments // DAY_S)
    shifts = {day: dt.datetime.fromtimestamp(float(day) * DAY_S, zone).utcoffset() for day in days.tolist()}
    shift_s = np.array([shifts[day].total_seconds() for day in (moments // DAY_S).tolist()])  # type: ignore[union-attr]
    hour = ((moments + shift_s) % DAY_S // 3600).astype(int)
    return [round(float(count) / max(1, len(days)), 3) for count in np.bincount(hour, minlength=24)]
