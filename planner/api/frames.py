"""The tables of a day as pandas frames, and its power as a figure."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.planning.plan_day import PlannedDay
from planner.store.read_json import read_summary
from planner.store.read_tables import read_table
from planner.store.summary import summarise
from planner.store.write_day import columns_of, tables_of
from planner.store.write_tables import COLUMNS, Table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Frames:
    """A day as pandas frames, with the columns of its CSV files, and its summary as in ``summary.json``.

    Times are in UTC; ``schedule`` and ``deferred`` are indexed by ``job_id``, ``segments`` counts from 0.
    """

    schedule: pd.DataFrame
    deferred: pd.DataFrame
    segments: pd.DataFrame
    summary: dict[str, Any]


def frames(planned: PlannedDay) -> Frames:
    """A planned day as frames, the same as `read_day` gives once it is written."""
    tables = {name: _frame(table) for name, table in tables_of(planned).items()}
    return Frames(**tables, summary=dict(summarise(planned).as_dict()))


def read_day(folder: str | Path) -> Frames:
    """The results of a written day as frames; InputError names a file that is missing or damaged."""
    folder = Path(folder)
    tables = {name: _frame(read_table(folder, name)) for name in COLUMNS}
    return Frames(**tables, summary=dict(read_summary(folder).as_dict()))


def power_figure(day: Frames, path: str | Path | None = None) -> str:
    """The day's mean IT and cooling power by segment as SVG; also written to ``path`` where one is given."""
    from planner.pages.charts import power_svg

    parts = day.segments
    hours = (parts["end_s"] - parts["start_s"]) / 3600
    edges_h = [*(parts["start_s"] / 3600).tolist(), float(parts["end_s"].iloc[-1]) / 3600]
    curves = {"IT": (parts["it_kwh"] / hours).tolist(), "cooling": (parts["cooling_kwh"] / hours).tolist()}
    text = power_svg(f"{day.summary['scenario']}, {day.summary['day']}", edges_h, curves)
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text


def _frame(table: Table) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame(columns_of(table))
    return frame.set_index("job_id") if "job_id" in frame else frame
