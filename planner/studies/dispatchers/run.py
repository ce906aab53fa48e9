"""The study run, or gone on with: replays and made-up queues, then tables and page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from planner.runs.figures import Row
from planner.scenario.schema import Scenario
from planner.store.folder import held
from planner.store.provenance import digest
from planner.studies.dispatchers.cells import ESTIMATES, POLICIES, USUAL_LIMITS, Cell, Limits, QueueCell
from planner.studies.dispatchers.growth import dispatched_bytes
from planner.studies.dispatchers.replays import measured_bytes
from planner.studies.dispatchers.rows import queue_rows, replay_rows
from planner.studies.dispatchers.show import write_tables
from planner.studies.kept import OnDone, Task, clear, code_mark, made, piece, scenario_facts
from planner.studies.trace_files import trace_name

MAKERS = ("cells", "replays", "growth", "made_queues")
"""Modules of the study that can change a piece; the others only show."""


@dataclass(frozen=True)
class Trial:
    """Jobs and the machine that they are replayed on."""

    jobs: Path
    scenario: Scenario


@dataclass(frozen=True)
class Study:
    """What to run and how: ``jobs`` None is all of each trace, ``workers`` is the number of processes.

    Queues are made up for each number of ``nodes`` and each length in ``queues``.
    """

    trials: Sequence[Trial]
    folder: Path
    policies: Sequence[str] = POLICIES
    estimates: Sequence[str] = ESTIMATES
    limits: Limits = USUAL_LIMITS
    jobs: int | None = None
    nodes: Sequence[int] = ()
    queues: Sequence[int] = ()
    workers: int = 1

    def cell_count(self) -> int:
        """How many cells there are."""
        each = len(self.trials) * len(self.estimates) + len(self.nodes) * len(self.queues)
        return each * len(self.policies)

    def run(self, *, fresh: bool = False, on_done: OnDone = lambda name: None) -> tuple[list[Row], list[Row]]:
        """The rows of replays and of made-up queues; all that is missing is made, and all of it shown in files."""
        with held(self.folder):
            if fresh:
                clear(self.folder / "pieces")
            replays = replay_rows(made(self._replays(), self.workers, on_done))
            queues = queue_rows(made(self._queues(), self.workers, on_done))
            write_tables(replays, queues, self.folder)
            return replays, queues

    def _replays(self) -> dict[Cell, Task]:
        tasks = {}
        for trial in self.trials:
            facts = {
                "trace": digest(trial.jobs),
                "jobs": self.jobs,
                "limits": asdict(self.limits),
                **scenario_facts(trial.scenario),
            }
            for estimate in self.estimates:
                for policy in self.policies:
                    cell = Cell(trial.scenario.name, trace_name(trial.jobs), policy, estimate)
                    make = partial(measured_bytes, trial.jobs, trial.scenario, self.jobs, cell, self.limits)
                    tasks[cell] = Task(cell.name, piece(self.folder, "replays", cell.name, facts, _code()), make)
        return tasks

    def _queues(self) -> dict[QueueCell, Task]:
        cells = [QueueCell(*size, policy) for size in self._sizes() for policy in self.policies]
        facts = {"limits": asdict(self.limits)}
        return {
            cell: Task(
                cell.name,
                piece(self.folder, "queues", cell.name, facts, _code()),
                partial(dispatched_bytes, cell, self.limits),
            )
            for cell in cells
        }

    def _sizes(self) -> list[tuple[int, int]]:
        return [(nodes, jobs) for nodes in self.nodes for jobs in self.queues]


def _code() -> str:
    return code_mark(tuple(f"dispatchers/{each}" for each in MAKERS))
