"""The study run, or gone on with: replays, then money and metrics, then bounds, then tables, picture and page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from planner.runs.clairvoyant import TIME_S
from planner.runs.figures import Row
from planner.store.folder import held
from planner.studies.kept import OnDone, Task, clear, make_missing, piece, scenario_facts
from planner.studies.operation.cells import STATIC, Cell, SiteGroup, baseline_of
from planner.studies.operation.made_from import code
from planner.studies.operation.replays import replay_bytes, replay_facts, replay_name
from planner.studies.operation.rows import rows_of
from planner.studies.operation.settled import bound_bytes, days_taken, read_piece, settled_bytes
from planner.studies.operation.show import write_tables
from planner.studies.operation.sites import Ground, scenario_of_group


@dataclass(frozen=True)
class OperationStudy:
    """What to run and how: ``bound_time_s`` 0 leaves bounds out, ``workers`` is the number of processes."""

    cells: Sequence[Cell]
    ground: Ground
    folder: Path
    bound_time_s: float = TIME_S
    workers: int = 1

    def piece_count(self) -> int:
        """How many pieces there are, kept or to be made."""
        replays = len({replay_name(cell) for cell in self.cells})
        return replays + len(self.cells) + len(self._bounded())

    def run(self, *, fresh: bool = False, on_done: OnDone = lambda name: None) -> list[Row]:
        """The rows of the table; everything that is missing is made, and all of it shown in files."""
        with held(self.folder):
            if fresh:
                clear(self.folder / "pieces")
            replays = self._replays(on_done)
            days = {group: self._days(group, replays) for group in self._groups()}
            settled = self._settled(replays, days, on_done)
            # Bounds take as long as all the rest: until they are done, the tables stand without them.
            write_tables(rows_of(self.cells, settled, {}), self.folder)
            rows = rows_of(self.cells, settled, self._bounds(replays, days, on_done))
            write_tables(rows, self.folder)
            return rows

    def _days(self, group: SiteGroup, replays: dict[Cell, Path]) -> int:
        """Calendar days that are settled: until all jobs are done under every policy; day plans leave work over."""
        cells = [cell for cell in self.cells if cell.group == group and cell.policy not in STATIC]
        return max(days_taken(self.ground, cell, replays[cell]) for cell in cells)

    def _groups(self) -> list[SiteGroup]:
        return list(dict.fromkeys(cell.group for cell in self.cells))

    def _bounded(self) -> list[tuple[SiteGroup, int]]:
        """Groups and hours for which EASY's starts are bounded."""
        pairs = [(cell.group, cell.max_delay_h) for cell in self.cells] if self.bound_time_s > 0 else []
        return list(dict.fromkeys((group, hours) for group, hours in pairs if hours is not None))

    def _replays(self, on_done: OnDone) -> dict[Cell, Path]:
        paths = {
            cell: piece(self.folder, "replays", replay_name(cell), replay_facts(self.ground, cell), code())
            for cell in self.cells
        }
        make_missing(
            (Task(replay_name(cell), path, partial(replay_bytes, self.ground, cell)) for cell, path in paths.items()),
            self.workers,
            on_done,
        )
        return paths

    def _settled(self, replays: dict[Cell, Path], days: dict[SiteGroup, int], on_done: OnDone) -> dict[Cell, Any]:
        tasks = {
            cell: Task(
                cell.name,
                piece(self.folder, "settled", cell.name, self._facts(cell, replays[cell], days), code()),
                partial(settled_bytes, self.ground, cell, replays[cell], days[cell.group]),
            )
            for cell in self.cells
        }
        make_missing(tasks.values(), self.workers, on_done)
        return {cell: read_piece(task.path) for cell, task in tasks.items()}

    def _bounds(
        self, replays: dict[Cell, Path], days: dict[SiteGroup, int], on_done: OnDone
    ) -> dict[tuple[SiteGroup, int], Any]:
        tasks = {(group, hours): self._bound(group, hours, replays, days) for group, hours in self._bounded()}
        make_missing(tasks.values(), self.workers, on_done)
        return {pair: read_piece(task.path) for pair, task in tasks.items()}

    def _bound(self, group: SiteGroup, later_h: int, replays: dict[Cell, Path], days: dict[SiteGroup, int]) -> Task:
        name, cell = f"{group.name}/easy-and-{later_h}h/bound", baseline_of(group)
        facts = {**self._facts(cell, replays[cell], days), "later_h": later_h, "time_s": self.bound_time_s}
        make = partial(
            bound_bytes,
            self.ground,
            cell,
            replays[cell],
            days[group],
            later_h=later_h,
            time_limit_s=self.bound_time_s,
        )
        return Task(name, piece(self.folder, "bounds", name, facts, code()), make)

    def _facts(self, cell: Cell, replay: Path, days: dict[SiteGroup, int]) -> dict[str, Any]:
        return {
            "replay": replay.name,
            "days": days[cell.group],
            **scenario_facts(scenario_of_group(self.ground, cell.group)),
        }
