"""Work side by side: calls that do not need each other, in processes of this machine (joblib) or on a Dask cluster.

Days follow each other, but scenarios, methods, policies and the cells of a study do not, so each run of days, each
replay and each cell is one call. Calls write where the user asked, so a cluster must share that folder with us; a call
that is begun again, because its worker died, keeps the days that are already there.
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
from typing import Any, TypeVar

from planner.domain.day_summary import DaySummary
from planner.errors import InputError, OutputError, PlannerError, SolverError
from planner.methods import Params
from planner.runs.progress import UNCOUNTED, DayCount
from planner.runs.run_days import run_days
from planner.scenario.schema import Scenario

Answer = TypeVar("Answer")

BACKENDS = ("processes", "dask")
RETRIES = 3
"""How often a call is begun again after its worker died."""
LOOK_S = 0.5
"""How often a process looks whether the one that began it lives [s]."""
ANSWER_S = 10
"""How long a Dask scheduler may take to answer [s]."""


@dataclass(frozen=True)
class Failure:
    """An error of a call as plain data: not every error survives the way between processes."""

    exit_code: int
    text: str


@dataclass(frozen=True)
class TaskEngine:
    """Where calls run. ``workers`` 0 is one process per core of this machine."""

    backend: str = "processes"
    address: str | None = None
    workers: int = 0

    def __post_init__(self) -> None:
        if self.backend not in BACKENDS:
            raise InputError(f"unknown backend {self.backend!r}; known: {', '.join(BACKENDS)}")
        if (self.backend == "dask") != (self.address is not None):
            raise InputError("--backend dask and --address HOST:PORT go together; give both or neither")

    def side(self, calls: int) -> int:
        """How many of so many calls run side by side; on a cluster as many as it has workers, at least one."""
        if self.backend == "dask":
            return max(1, calls)
        return max(1, min(self.workers or len(os.sched_getaffinity(0)), calls))

    def threads(self, calls: int) -> int:
        """How many threads each of so many calls may have; 0: as many as it likes. It changes no answer."""
        if self.backend == "dask":
            return 1
        side = self.side(calls)
        return 0 if side <= 1 else max(1, len(os.sched_getaffinity(0)) // side)


Outcome = list[DaySummary]
"""Summaries of the days of a run, in order."""


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
    count: DayCount = UNCOUNTED

    def with_threads(self, threads: int) -> RunTask:
        """The same with so many threads, unless it says itself how many."""
        return replace(self, params=replace(self.params, workers=self.params.workers or threads))

    def run(self) -> Outcome:
        """Plan its days, or keep those that stand, wherever this is."""
        days = run_days(
            self.scenario, self.params, self.first, self.last, self.folder, until_empty=self.until_empty, fresh=True
        )
        counted = self.count.timed(days, lambda done: "kept" if done.planned is None else "planned")
        return [done.summary for done in counted]

    def require_here(self, outcome: Outcome) -> None:
        """OutputError where a worker wrote its days to a folder that is not ours."""
        folders = [self.folder / summary.day.isoformat() for summary in outcome]
        missing = [folder for folder in folders if not folder.is_dir()]
        if missing:
            raise not_shared(missing[0])


def not_shared(path: Path) -> OutputError:
    """The error of a worker that writes elsewhere."""
    return OutputError(
        f"{path} was written by a worker that does not share this folder with us;"
        " choose a folder with --out that all workers can reach by the same path"
    )


def run_tasks(
    tasks: Sequence[RunTask], engine: TaskEngine, on_done: Callable[[RunTask], None] | None = None
) -> list[Outcome]:
    """Run all tasks and return their outcomes in the same order; the first error ends it, and finished days stand."""
    shared = [task.with_threads(engine.threads(len(tasks))) for task in tasks]
    calls = [(task.name, task.run) for task in shared]
    outcomes = run_calls(calls, engine, None if on_done is None else lambda number: on_done(tasks[number]))
    for task, outcome in zip(tasks, outcomes, strict=True):
        task.require_here(outcome)
    return outcomes


def run_calls(
    calls: Sequence[tuple[str, Callable[[], Answer]]], engine: TaskEngine, on_done: Callable[[int], None] | None = None
) -> list[Answer]:
    """The answers of named calls in their order; the first error ends it, with the name of its call.

    ``on_done`` is called with the number of each call that is done, as they come.
    """
    answers: dict[int, Answer] = {}
    guarded = [partial(_guarded, number, call) for number, (_, call) in enumerate(calls)]
    begin = _on_dask if engine.backend == "dask" else _on_processes
    for number, answer in begin(guarded, engine):
        if isinstance(answer, Failure):
            error = PlannerError(f"{calls[number][0]}: {answer.text}")
            error.exit_code = answer.exit_code
            raise error
        answers[number] = answer
        if on_done is not None:
            on_done(number)
    return [answers[number] for number in range(len(calls))]


def _guarded(number: int, call: Callable[[], Answer]) -> tuple[int, Answer | Failure]:
    try:
        return number, call()
    except PlannerError as error:
        return number, Failure(error.exit_code, str(error))


def _on_processes(calls: Sequence[Callable[[], Answer]], engine: TaskEngine) -> Iterator[Answer]:
    """The answers as they come, from processes of this machine; of one, in turn from this one."""
    processes = engine.side(len(calls))
    if processes <= 1:
        for call in calls:
            yield call()
        return
    from joblib import Parallel, delayed

    os.environ["PYTHONSAFEPATH"] = "1"  # for the processes: none loads code of the current folder
    pool = Parallel(n_jobs=processes, backend="loky", return_as="generator_unordered")
    with warnings.catch_warnings():
        # A process that has grown by a few hundred megabytes is replaced between two calls, which loses nothing.
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given")
        # After an error the other calls are given up, as they should be.
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


def _on_dask(calls: Sequence[Callable[[], Answer]], engine: TaskEngine) -> Iterator[Answer]:
    """The answers as they come, from the workers of a cluster."""
    try:
        from distributed import Client, as_completed
    except ImportError as error:
        raise SolverError("the dask backend is not installed; pip install 'hpc-day-planner[dask]'") from error
    try:
        client: Any = Client(engine.address, timeout=ANSWER_S, set_as_default=False)
    except (OSError, ValueError) as error:
        problem = f"cannot reach a Dask scheduler at {engine.address}"
        raise InputError(f"{problem}; start one with `dask scheduler`, or correct --address") from error
    with client:
        if not client.scheduler_info()["workers"]:
            raise InputError(
                f"the Dask scheduler at {engine.address} has no workers; start some with `dask worker {engine.address}`"
            )
        futures = [client.submit(call, pure=False, retries=RETRIES) for call in calls]
        try:
            for future in as_completed(futures, loop=client.loop):
                yield future.result()
        except OSError as error:
            raise SolverError(f"the Dask cluster at {engine.address} was lost: {error}; run again to go on") from error
        finally:
            client.cancel(futures, force=True)
