"""What the commands give to scripts: where the files are and what they say, shown in a line, or as frames.

Frames are of pandas, with the columns of the files (docs/outputs.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.domain.day_summary import DaySummary
from planner.pages.markup import el
from planner.planning.plan_day import PlannedDay
from planner.runs.bounds_over_days import WholeRun
from planner.runs.one_day import DoneDay
from planner.runs.report import DoneReport
from planner.runs.simulate_request import Replays
from planner.slurm.send_changes import Applied, told_changes
from planner.store.cost_files import report_tables
from planner.store.read_json import read_summary
from planner.store.read_tables import read_table
from planner.store.write_day import columns_of, summarise, tables_of
from planner.store.write_tables import COLUMNS, Table

if TYPE_CHECKING:
    import pandas as pd


class _Shown:
    """Shown as one line, and by notebooks as that line over a table."""

    def _line(self) -> str:
        raise NotImplementedError

    def _rows(self) -> Sequence[dict[str, Any]]:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{self._line()}>"

    def _repr_html_(self) -> str:
        rows = self._rows()
        heads = list(rows[0]) if rows else []
        head = el("tr", [el("th", name.replace("_", " ")) for name in heads])
        body = [el("tr", [el("td", _cell(row[name])) for name in heads]) for row in rows]
        return el("div", el("p", self._line()), el("table", el("thead", head), el("tbody", body)))


def _frame(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}" if abs(value) >= 10 else f"{value:.4g}"
    return "" if value is None else str(value)


@dataclass(frozen=True, repr=False)
class DayResult(_Shown):
    """A day that was planned or booked: its ``folder``, and its ``summary`` as in ``summary.json``.

    ``applied`` has what `plan now --apply --json` says of Slurm besides; None where nothing was to be sent.
    """

    folder: Path
    summary: dict[str, Any]
    applied: dict[str, Any] | None = None

    @classmethod
    def of(cls, done: DoneDay, became: Applied | None = None) -> DayResult:
        """What a command has written, and perhaps sent."""
        sent = None if became is None else told_changes(became.proposal, became.outcomes)
        return cls(done.folder, dict(done.summary.as_dict()), sent)

    def frames(self) -> Frames:
        """The tables of the day as pandas frames."""
        return read_day(self.folder)

    def _line(self) -> str:
        totals, jobs = self.summary["totals"], self.summary["jobs"]
        gap = self.summary["real_gap_fraction" if self.summary["execute"] == "actual" else "gap_fraction"]
        near = "" if gap is None else f", at most {100 * max(0.0, gap):.2f} % below the best possible"
        what = "booked" if self.summary.get("booked") else f"planned by {self.summary['method']}"
        money = f"{totals['profit_eur']:,.2f} {self.summary['currency']}"
        return (
            f"{self.summary['day']} of {self.summary['scenario']}, {what}: profit {money}{near};"
            f" {jobs['started']:,} jobs start, {jobs['deferred']:,} wait; {self.folder}"
        )

    def _rows(self) -> list[dict[str, Any]]:
        return [day_row(self.summary)]


def day_row(summary: dict[str, Any]) -> dict[str, Any]:
    """The figures of a day that people look at first."""
    totals, jobs = summary["totals"], summary["jobs"]
    money = {name: totals[name] for name in ("profit_eur", "revenue_eur", "energy_cost_eur")}
    energy = {"kwh": totals["it_kwh"] + totals["cooling_kwh"], "pue": totals["pue"], "carbon_kg": totals["carbon_kg"]}
    counts = {name: jobs[name] for name in ("started", "finished", "deferred")}
    bound = summary["real_bound_eur" if summary["execute"] == "actual" else "bound_eur"]
    return {"day": summary["day"]} | money | energy | counts | {"bound_eur": bound}


@dataclass(frozen=True, repr=False)
class RunResult(_Shown):
    """Days planned one after the other: their ``folder``, each of them, and what they come to together."""

    folder: Path
    days: tuple[DayResult, ...]
    whole: dict[str, Any]

    @classmethod
    def of(cls, folder: Path, summaries: Sequence[DaySummary], whole: WholeRun) -> RunResult:
        """What a run has written."""
        days = tuple(DayResult(folder / each.day.isoformat(), dict(each.as_dict())) for each in summaries)
        return cls(folder, days, whole.as_dict())

    def frame(self) -> pd.DataFrame:
        """A row for each day."""
        return _frame(self._rows())

    def _line(self) -> str:
        bound = self.whole["bound_eur"]
        most = "" if bound is None else f" of at most {bound:,.2f}"
        span = f"{self.whole['first']} to {self.whole['last']}"
        return f"{len(self.days)} days, {span}: profit {self.whole['profit_eur']:,.2f}{most}; {self.folder}"

    def _rows(self) -> list[dict[str, Any]]:
        return [day_row(each.summary) for each in self.days]


@dataclass(frozen=True, repr=False)
class CompareResult(_Shown):
    """Scenarios, methods and policies side by side: the ``folder``, and all of ``compare.json`` as ``content``."""

    folder: Path
    content: dict[str, Any]

    def frame(self) -> pd.DataFrame:
        """A row for each run, as in ``runs.csv``."""
        return _frame(self.content["runs"])

    def _line(self) -> str:
        runs = self.content["runs"]
        answer = " ".join(self.content.get("answer", []))
        return f"{len(runs)} runs, {self.content['from']} to {self.content['to']}{': ' if answer else ''}{answer}"

    def _rows(self) -> list[dict[str, Any]]:
        names = ("scenario", "method", "profit_eur", "saved_eur", "energy_cost_eur", "kwh", "pue", "started")
        return [{name: row[name] for name in names} for row in self.content["runs"]]


@dataclass(frozen=True, repr=False)
class ReportResult(_Shown):
    """A cost report: the ``files`` that were written, the ``status`` of its days, and its tables as rows."""

    files: tuple[Path, ...]
    status: str
    days: tuple[str, ...]
    tables: dict[str, list[dict[str, Any]]]
    title: str

    @classmethod
    def of(cls, done: DoneReport) -> ReportResult:
        """What a report has written."""
        made = done.report
        tables = {end.removeprefix("-") or "lines": rows for end, rows in report_tables(made).items()}
        title = f"{made.scenario}, {made.asked} by {made.by}"
        return cls(done.files, made.status, tuple(day.day.isoformat() for day in made.days), tables, title)

    def frame(self, table: str = "lines") -> pd.DataFrame:
        """One of the tables: ``lines``, and where there are any ``planned``, ``split`` and ``budgets``."""
        return _frame(self.tables[table])

    def _line(self) -> str:
        profit, billed = (sum(row[name] for row in self.tables["lines"]) for name in ("profit_eur", "revenue_eur"))
        return f"{self.title}, {len(self.days)} days {self.status}: revenue {billed:,.2f}, profit {profit:,.2f}"

    def _rows(self) -> list[dict[str, Any]]:
        left_out = ("kind", "mean_wait_h", "work_kwh", "idle_kwh")
        rows = [{name: row[name] for name in row if name not in left_out} for row in self.tables["lines"]]
        return [{name: float(x) if isinstance(x, Decimal) else x for name, x in row.items()} for row in rows]


@dataclass(frozen=True, repr=False)
class ReplayResult(_Shown):
    """Replays of one trace, a row of metrics for each."""

    replays: Replays

    def frame(self) -> pd.DataFrame:
        """A row for each policy with each estimate."""
        return _frame(self.replays.rows)

    def _line(self) -> str:
        return f"{len(self.replays.runs)} replays of {self.replays.size}"

    def _rows(self) -> list[dict[str, Any]]:
        return self.replays.rows


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
    tables = {name: _day_frame(table) for name, table in tables_of(planned).items()}
    return Frames(**tables, summary=dict(summarise(planned).as_dict()))


def read_day(folder: str | Path) -> Frames:
    """The results of a written day as frames; InputError names a file that is missing or damaged."""
    folder = Path(folder)
    tables = {name: _day_frame(read_table(folder, name)) for name in COLUMNS}
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


def _day_frame(table: Table) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame(columns_of(table))
    return frame.set_index("job_id") if "job_id" in frame else frame
