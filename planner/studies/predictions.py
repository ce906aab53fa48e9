"""The published experiment on predicted runtimes: EASY with estimates and corrections, beside the published values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from planner.pages.markup import plain
from planner.runs.compare_results import Row
from planner.studies.published import PREDICTIONS, RUNS, Campaign
from planner.studies.replay_cells import bsld_figures, source_of
from planner.studies.report import StudyReport, StudySection, StudyTable, grouped, numbers, table_of, words
from planner.studies.study import StudyCell, TraceStudy

ROUNDING = 1e-12
"""Relative difference that comes from the order in which numbers are added."""


@dataclass(frozen=True, kw_only=True)
class PredictionStudy(TraceStudy):
    """EASY and EASY-SJBF with requested, actual and predicted runtimes, and corrections of predictions that fall short.

    The paper of 2015 on learning runtimes: a scheduling round after every event, jobs without a requested time left
    out. Its CEA-Curie has 80640 processors.
    """

    name = "predictions"
    title = "Backfilling with predicted runtimes"
    reading = (
        "The runs of Gaussier, Glesser, Reis and Trystram, \u201cImproving backfilling by using machine learning to"
        " predict running times\u201d (SC 2015), made again: the mean bounded slowdown with a scheduling round after"
        " every event. A correction says what a prediction becomes that its job outlives. By second: the same with at"
        " most one round per second, where waiting jobs are also predicted anew.",
    )

    def cells(self) -> list[StudyCell]:
        """The runs that were published of a trace; all of them where nothing was."""
        found = []
        for trace, path in self.named_traces().items():
            campaign = self._campaign(path)
            for run in RUNS if campaign is None else campaign.bsld:
                labels = {"trace": trace, **dict(zip(("policy", "estimate", "correction"), run, strict=True))}
                given = self.given(path) | {name: labels[name] for name in ("policy", "estimate", "correction")}
                found.append(StudyCell("/".join(labels.values()), labels, bsld_figures, given))
        return found

    def report(self, found: Sequence[Row]) -> StudyReport:
        """A table of each trace."""
        paths = self.named_traces()
        tables = {
            group[0]["trace"]: rows_of(group, self._campaign(paths[group[0]["trace"]]))
            for group in grouped(found, "trace")
        }
        sections = [
            StudySection(trace, [self._jobs(paths[trace]), _table(trace, rows)]) for trace, rows in tables.items()
        ]
        content = {f"{trace} predictions": rows for trace, rows in tables.items()}
        return StudyReport(content, {f"{trace}-predictions.csv": rows for trace, rows in tables.items()}, sections)

    def _campaign(self, path: Path) -> Campaign | None:
        """What was published of a trace, which is known by its jobs and processors."""
        trace = source_of(path, self.processors, self.jobs, unrequested="drop").trace
        return PREDICTIONS.get((len(trace), int(trace.machine.processors)))

    def _jobs(self, path: Path) -> str:
        """How many jobs are replayed on what, and which are left out."""
        source = source_of(path, self.processors, self.jobs, unrequested="drop")
        kept = f"{plain(len(source.trace))} jobs on {plain(source.trace.machine.processors)} processors"
        return "; ".join([kept, *(f"{plain(count)} left out {why}" for why, count in source.intake.dropped.items())])


def rows_of(found: Sequence[Row], campaign: Campaign | None) -> list[Row]:
    """The rows of a trace, with the published values and the differences from them where there are some."""
    rows: list[Row] = []
    for told in found:
        names = ("policy", "estimate", "correction")
        row: Row = {name: told[name] for name in names} | {"bsld": told["event"]}
        if campaign is not None:
            published = campaign.bsld[told["policy"], told["estimate"], told["correction"]]
            off = told["event"] / published - 1
            row |= {"published": published, "of jobs": campaign.jobs}
            row |= {"difference": "none" if abs(off) < ROUNDING else f"{100 * off:+.4f} %"}
        rows.append(row | {"by second": told["second"]})
    return rows


def _table(trace: str, rows: Sequence[Row]) -> StudyTable:
    columns = [words(name, name) for name in ("policy", "estimate", "correction")]
    columns.append(numbers("bsld", "", "bsld", 4))
    if "published" in rows[0]:
        columns += [numbers("published", "", "published", 4), numbers("of jobs", "", "of jobs")]
        columns.append(words("difference", "difference"))
    return table_of(f"{trace} predictions", rows, [*columns, numbers("by second", "", "by second", 4)])
