"""The study run, or gone on with: replays, then money and metrics, then bounds, then tables, picture and page."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from planner.domain.horizon import Horizon
from planner.metrics.registry import measure, metric_named
from planner.online.replay import Replay
from planner.runs.clairvoyant import TIME_S, clairvoyant_bound
from planner.runs.figures import Row
from planner.runs.replay_ledger import origin_of, settle_window, sum_of_days
from planner.runs.simulate import outcome_of
from planner.store.folder import held
from planner.studies.kept import IDLE_ROOMS, OnDone, Task, clear, code_mark, make_missing, piece, scenario_facts
from planner.studies.operation.cells import STATIC, Cell, SiteGroup, baseline_of
from planner.studies.operation.replays import read_replay, replay_bytes, replay_facts, replay_name
from planner.studies.operation.rows import rows_of
from planner.studies.operation.show import write_tables
from planner.studies.operation.sites import Ground, load_of, scenario_of_group, source_of

METRICS = ("wait", "wait95", "max-wait", "bsld", "awf", "p2sf", "held", "max-hold", "broken")


def days_taken(ground: Ground, cell: Cell, kept: Path) -> int:
    """How many calendar days a replay takes, from the first day of submission to the day on which its last job ends."""
    source = source_of(ground, cell.group.site, cell.group.load)
    result, _ = read_replay(kept, source, cell)
    zone = scenario_of_group(ground, cell.group).zone
    last = Horizon.of_unix(int(result.end_s.max()) + origin_of(source.trace) - 1, zone).day
    return (last - ground.days_of(cell.group.site).first).days + 1


def settled_bytes(ground: Ground, cell: Cell, kept: Path, days: int) -> bytes:
    """Money, energy and metrics of a kept replay, over so many days and up to the last day of submission."""
    group, submitted = cell.group, ground.days_of(cell.group.site)
    scenario, source = scenario_of_group(ground, group), source_of(ground, group.site, group.load)
    result, cpu_s = read_replay(kept, source, cell)
    settled = settle_window(scenario, source.jobs, result, first_day=submitted.first, days=days)
    values = measure(outcome_of(result), [metric_named(name) for name in METRICS], "none")
    until_s = Horizon(submitted.last, scenario.zone).end_unix - origin_of(source.trace)
    told = {
        "jobs": len(source.trace),
        "days": days,
        "load": load_of(source, scenario, submitted),
        "cpu_s": cpu_s,
        "totals": dict(sum_of_days(settled)),
        "submitted_totals": dict(sum_of_days(settled[: len(submitted)])),
        "profit_by_day_eur": [totals.profit_eur for _, totals in settled],
        "utilisation_fraction": _busy_fraction(result, until_s),
        "metrics": {name: None if math.isnan(value) else value for name, value in values.items()},
    }
    return json.dumps(told, indent=1).encode()


def bound_bytes(ground: Ground, cell: Cell, kept: Path, days: int, *, later_h: int, time_limit_s: float) -> bytes:
    """The clairvoyant bound for the starts of a kept replay and so many hours more."""
    group = cell.group
    scenario, source = scenario_of_group(ground, group), source_of(ground, group.site, group.load)
    result, _ = read_replay(kept, source, cell)
    bound = clairvoyant_bound(
        scenario,
        source.jobs,
        source.trace,
        result.start_s + later_h * 3600,
        first_day=ground.days_of(group.site).first,
        days=days,
        time_limit_s=time_limit_s,
    )
    told = {"profit_eur": bound.profit_eur, "slack_eur": bound.slack_eur, "solve_s": bound.solve_s}
    return json.dumps(told, indent=1).encode()


def read_piece(path: Path) -> dict[str, Any]:
    """What a kept piece says."""
    told: dict[str, Any] = json.loads(path.read_bytes())
    return told


def _busy_fraction(result: Replay, until_s: int) -> float:
    """Part of the machine that jobs use from the first second until another."""
    used_s = np.clip(result.end_s, 0, until_s) - np.clip(result.start_s, 0, until_s)
    return float(result.trace.processors_of @ used_s) / (result.trace.machine.processors * until_s)


MAKERS = ("made_from", "sites", "moved_years", "static_plans", "replays", "settled")
"""Modules of the study that can change a piece; the others only choose and show."""


def code() -> str:
    """A mark of the code that can change a piece."""
    return code_mark(tuple(f"operation/{name}" for name in MAKERS), (*IDLE_ROOMS, "cp"))


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
