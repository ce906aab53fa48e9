"""The study run, or gone on with: replays, then tables and page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from planner.runs.figures import Row
from planner.store.folder import held
from planner.studies.deadlines.cells import PERCENTS, POLICIES, Cell, Choice, cell_files
from planner.studies.deadlines.replays import measured_bytes
from planner.studies.deadlines.rows import draw_rows, rows_of
from planner.studies.deadlines.show import write_tables
from planner.studies.kept import OnDone, Task, code_mark, piece, replays_of
from planner.studies.trace_files import trace_name

MAKERS = ("cells", "replays")
"""Modules of the study that can change a piece; the others only show."""

SEEDS = 5


@dataclass(frozen=True)
class Study:
    """What to run and how; ``workers`` is the number of processes."""

    traces: Sequence[Path]
    folder: Path
    policies: Sequence[str] = POLICIES
    percents: Sequence[float] = PERCENTS
    seeds: int = SEEDS
    choice: Choice = field(default_factory=Choice)
    workers: int = 1

    def cells(self) -> dict[Cell, Path]:
        """Every cell with the file of its trace."""
        names = [trace_name(path) for path in self.traces]
        return cell_files(self.traces, names, self.policies, self.percents, self.seeds)

    def run(self, *, fresh: bool = False, on_done: OnDone = lambda name: None) -> list[Row]:
        """The rows of the table; everything that is missing is made, and all of it shown in files."""
        with held(self.folder):
            found = replays_of(self.folder, self.cells(), self._task, self.workers, fresh=fresh, on_done=on_done)
            draws = draw_rows(found)
            rows = rows_of(draws)
            write_tables(rows, draws, found, self.choice, self.folder)
            return rows

    def _task(self, path: Path, cell: Cell, mark: str) -> Task:
        facts = {"trace": mark, "choice": asdict(self.choice), "draws": [asdict(each) for each in cell.draws]}
        kept = piece(self.folder, "replays", cell.name, facts, code_mark(tuple(f"deadlines/{each}" for each in MAKERS)))
        return Task(cell.name, kept, partial(measured_bytes, path, self.choice, cell))
