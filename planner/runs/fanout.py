"""Runs side by side: days follow each other, but scenarios and methods do not, so each run of days is one task.

Tasks go to processes of this machine (joblib), or to a Dask cluster that the user already has. They write their days
where the user asked, so a cluster must share that folder with us; a task that is begun again, because its worker died,
keeps the days that are already there.
"""

from __future__ import annotations

import datetime as dt
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from planner.domain.day_summary import DaySummary
from planner.errors import InputError, OutputError, PlannerError, SolverError
from planner.methods import Params
from planner.runs.rolling import run_days
from planner.scenario.schema import Scenario

Answer = TypeVar("Answer")

BACKENDS = ("processes", "dask")
RETRIES = 3
"""How often a task is begun again after its worker died."""
LOOK_S = 0.5
"""How often a process looks whether the one that began it lives [s]."""
ANSWER_S = 10
"""How long a Dask scheduler may take to answer [s]."""


@dataclass(frozen=True)
class RunTask:
    """A run of days by one method in one scenario, from nothing; ``name`` is for messages."""

    name: str
    scenario: Scenario
    params: Params
    first: dt.date
    last: dt.date
    folder: Path
    until_empty: bool = False


@dataclass(frozen=True)
class Failure:
    """An error of a task as plain data: not every error survives the way between processes."""

    exit_code: int
    text: str


@dataclass(frozen=True)
class TaskEngine:
    """Where tasks run. ``workers`` 0 is one process per core of this machine."""

    backend: str = "processes"
    address: str | None = None
    workers: int = 0

    def __post_init__(self) -> None:
        if self.backend not in BACKENDS:
            raise InputError(f"unknown backend {self.backend!r}; known: {', '.join(BACKENDS)}")
        if (self.backend == "dask") != (self.address is not None):
            raise InputError("--backend dask and --address HOST:PORT go together; give both or neither")


Outcome = list[DaySummary]
"""Summaries of the days of a task, in order."""


def run_tasks(
    tasks: Sequence[RunTask], engine: TaskEngine, on_done: Callable[[RunTask], None] | None = None
) -> list[Outcome]:
    """Run all tasks and return their outcomes in the same order; the first error ends it, and finished days stand."""
    outcomes: dict[int, Outcome] = {}
    begin = _on_dask if engine.backend == "dask" else _on_processes
    for number, outcome in begin(tasks, engine):
        if isinstance(outcome, Failure):
            error = PlannerError(f"{tasks[number].name}: {outcome.text}")
            error.exit_code = outcome.exit_code
            raise error
        _require_here(tasks[number], outcome)
        outcomes[number] = outcome
        if on_done is not None:
            on_done(tasks[number])
    return [outcomes[number] for number in range(len(tasks))]


def do_task(number: int, task: RunTask) -> tuple[int, Outcome | Failure]:
    """Run one task, wherever that is."""
    try:
        days = run_days(
            task.scenario, task.params, task.first, task.last, task.folder, until_empty=task.until_empty, fresh=True
        )
        return number, [done.summary for done in days]
    except PlannerError as error:
        return number, Failure(error.exit_code, str(error))


def _on_processes(tasks: Sequence[RunTask], engine: TaskEngine) -> Iterator[tuple[int, Outcome | Failure]]:
    cores = len(os.sched_getaffinity(0))
    processes = min(engine.workers or cores, len(tasks))
    shared = tasks if processes <= 1 else [_with_threads(task, max(1, cores // processes)) for task in tasks]
    yield from side_by_side([partial(do_task, number, task) for number, task in enumerate(shared)], processes)


def side_by_side(calls: Sequence[Callable[[], Answer]], processes: int) -> Iterator[Answer]:
    """The answers of calls as they come, from so many processes of this machine; of one, in turn from this one."""
    if min(processes, len(calls)) <= 1:
        for call in calls:
            yield call()
        return
    from joblib import Parallel, delayed

    os.environ["PYTHONSAFEPATH"] = "1"  # for the processes: none loads code of the current folder
    pool = Parallel(n_jobs=min(processes, len(calls)), backend="loky", return_as="generator_unordered")
    with warnings.catch_warnings():
        # A process that has grown by a few hundred megabytes is replaced between two tasks, which loses nothing.
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given")
        # After an error the other tasks are given up, as they should be.
        warnings.filterwarnings("ignore", message=r"\d+ tasks which were still being processed")
        yield from pool(delayed(_call_beside)(call, os.getpid()) for call in calls)


def _call_beside(call: Callable[[], Answer], parent: int) -> Answer:
    """The answer of a call in a process that lives no longer than the one that began it."""
    threading.Thread(target=_die_with, args=(parent,), daemon=True).start()
    return call()


def _die_with(parent: int) -> None:
    """End this process once the one that began it is gone: its days would stand in the way of a rerun.

    It ends as if killed, which leaves every day whole.
    """
    while os.getppid() == parent:
        time.sleep(LOOK_S)
    os._exit(1)


def _on_dask(tasks: Sequence[RunTask], engine: TaskEngine) -> Iterator[tuple[int, Outcome | Failure]]:
    try:
        from distributed import Client, as_completed
    except ImportError as error:
        raise SolverError("the dask backend is not installed; pip install 'hpc-day-planner[dask]'") from error
    try:
        client = Client(engine.address, timeout=ANSWER_S, set_as_default=False)
    except (OSError, ValueError) as error:
        problem = f"cannot reach a Dask scheduler at {engine.address}"
        raise InputError(f"{problem}; start one with `dask scheduler`, or correct --address") from error
    with client:
        futures = [
            client.submit(do_task, number, _with_threads(task, 1), pure=False, retries=RETRIES)
            for number, task in enumerate(tasks)
        ]
        try:
            for future in as_completed(futures, loop=client.loop):
                yield future.result()
        except OSError as error:
            raise SolverError(f"the Dask cluster at {engine.address} was lost: {error}; run again to go on") from error
        finally:
            client.cancel(futures, force=True)


def _with_threads(task: RunTask, threads: int) -> RunTask:
    """Tasks that run side by side share the cores; the number of threads changes no answer."""
    return replace(task, params=replace(task.params, workers=task.params.workers or threads))


def _require_here(task: RunTask, outcome: Outcome) -> None:
    folders = [task.folder / summary.day.isoformat() for summary in outcome]
    missing = [folder for folder in folders if not folder.is_dir()]
    if missing:
        raise OutputError(
            f"{missing[0]} was written by a worker that does not share this folder with us;"
            " choose a folder with --out that all workers can reach by the same path"
        )
