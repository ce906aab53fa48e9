"""The study run, or gone on with: replays, then tables and page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from planner.studies.cp_online.cells import POLICIES, Cell
from planner.studies.cp_online.replays import measured_bytes

from planner.online.search_options import USUAL_SEARCH
from planner.runs.figures import Row
from planner.store.folder import held
from planner.studies.cp_online import rows_of
from planner.studies.dispatchers.cells import ESTIMATES
from planner.studies.kept import OnDone, Task, code_mark, piece, replays_of
from planner.studies.operation.cells import cells_of
from planner.studies.operation.show import write_tables
from planner.studies.study import trace_name

MAKERS = ("cells", "replays")
"""Modules of the study that can change a piece; the others only show."""


@dataclass(frozen=True)
class Study:
    """What to run and how: ``jobs`` None is all of each trace, ``workers`` is the number of processes."""

    traces: Sequence[Path]
    folder: Path
    policies: Sequence[str] = POLICIES
    estimates: Sequence[str] = ESTIMATES
    seeds: int = 1
    evaluations: int = USUAL_SEARCH.evaluations
    processors: int | None = None
    jobs: int | None = None
    workers: int = 1

    def cells(self) -> dict[Cell, Path]:
        """Every cell with the file of its trace."""
        return {
            cell: path
            for path in self.traces
            for cell in cells_of(trace_name(path), self.policies, self.estimates, self.seeds)
        }

    def run(self, *, fresh: bool = False, on_done: OnDone = lambda name: None) -> list[Row]:
        """The rows of the table; everything that is missing is made, and all of it shown in files."""
        with held(self.folder):
            found = replays_of(self.folder, self.cells(), self._task, self.workers, fresh=fresh, on_done=on_done)
            rows = rows_of(found, is_whole=self.jobs is None)
            write_tables(rows, found, self.folder)
            return rows

    def _task(self, path: Path, cell: Cell, mark: str) -> Task:
        facts = {"trace": mark, "processors": self.processors, "jobs": self.jobs, "evaluations": self.evaluations}
        kept = piece(self.folder, "replays", cell.name, facts, code_mark("cp_online", MAKERS))
        make = partial(measured_bytes, path, self.processors, self.jobs, cell, self.evaluations)
        return Task(cell.name, kept, make)
