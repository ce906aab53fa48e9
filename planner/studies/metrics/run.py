"""The study run, or gone on with: replays, then tables and page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from planner.runs.figures import Row
from planner.store.folder import held
from planner.studies.kept import OnDone, Task, code_mark, piece, replays_of
from planner.studies.metrics.cells import PARTS, TRIM, UNREQUESTED, Cell, cells_of
from planner.studies.metrics.replays import measured_bytes
from planner.studies.metrics.rows import Found, distortion_rows, policy_rows, predictor_rows
from planner.studies.metrics.show import write_tables
from planner.studies.trace_files import trace_name

MAKERS = ("cells", "replays")
"""Modules of the study that can change a piece; the others only show."""

STEPS = 30
"""Steps of the factors of distorted runtimes from 0.5 to 2: 0.05 each."""


@dataclass(frozen=True)
class Study:
    """What to run and how: ``jobs`` None is all of each trace, ``workers`` is the number of processes."""

    traces: Sequence[Path]
    folder: Path
    parts: Sequence[str] = tuple(PARTS)
    trim: str = TRIM
    unrequested: str = UNREQUESTED
    steps: int = STEPS
    processors: int | None = None
    jobs: int | None = None
    workers: int = 1

    def cells(self) -> dict[Cell, Path]:
        """Every cell with the file of its trace."""
        return {
            cell: path
            for part in self.parts
            for path in self.traces
            for cell in cells_of(trace_name(path), part, self.unrequested, self.steps)
        }

    def run(self, *, fresh: bool = False, on_done: OnDone = lambda name: None) -> list[Row]:
        """The rows of all tables; everything that is missing is made, and all of it shown in files."""
        with held(self.folder):
            found = replays_of(self.folder, self.cells(), self._task, self.workers, fresh=fresh, on_done=on_done)
            rows = [row for path in self.traces for part in self.parts for row in self._rows(part, path, found)]
            write_tables(rows, self.folder, is_whole=self.jobs is None)
            return rows

    def _rows(self, part: str, path: Path, found: Found) -> list[Row]:
        trace, rule = trace_name(path), self.unrequested
        if part == "policies":
            return policy_rows(found, trace, self.trim, rule)
        if part == "predictors":
            return predictor_rows(found, trace, self.trim, rule)
        return distortion_rows(found, trace, self.trim, rule, self.steps)

    def _task(self, path: Path, cell: Cell, mark: str) -> Task:
        facts = {"trace": mark, "processors": self.processors, "jobs": self.jobs}
        kept = piece(
            self.folder,
            "replays",
            cell.name.replace("*", "x"),
            facts,
            code_mark(tuple(f"metrics/{each}" for each in MAKERS)),
        )
        return Task(cell.name, kept, partial(measured_bytes, path, self.processors, self.jobs, cell))
