"""One line per job of a replay, with the column names of Batsim."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from planner.online.replay import Replay
from planner.store.one_file import write_csv

BATSIM_COLUMNS = (
    "job_id",
    "workload_name",
    "profile",
    "submission_time",
    "requested_number_of_resources",
    "requested_time",
    "success",
    "final_state",
    "starting_time",
    "execution_time",
    "finish_time",
    "waiting_time",
    "turnaround_time",
    "stretch",
    "allocated_resources",
    "consumed_energy",
    "metadata",
)
"""Columns of Batsim's jobs.csv, in its order."""


def write_batsim_jobs(replay: Replay, path: Path) -> None:
    """Write one line per job as Batsim does; resources are processors of a pool, or the nodes that the job had."""
    write_csv(path, BATSIM_COLUMNS, _batsim_rows(replay))


def _batsim_rows(replay: Replay) -> Iterable[list[object]]:
    trace = replay.trace
    workload = Path(trace.source).name.split(".")[0] or "trace"
    pool = len(trace.machine.capacity) == 1
    columns = zip(
        trace.ids,
        trace.submit_s.tolist(),
        trace.processors_of.tolist(),
        trace.requested_s.tolist(),
        replay.start_s.tolist(),
        trace.runtime_s.tolist(),
        strict=True,
    )
    for job, (identity, submit, width, requested, start, runtime) in enumerate(columns):
        cut = runtime >= requested
        units = replay.node_of_unit[trace.unit_ptr[job] : trace.unit_ptr[job + 1]].tolist()
        nodes = "" if pool else " ".join(map(str, sorted(set(units))))
        energy = f"{trace.power_mw[job] / 1000 * runtime:g}" if trace.power_mw[job] else ""
        state = "COMPLETED_WALLTIME_REACHED" if cut else "COMPLETED_SUCCESSFULLY"
        flow = start + runtime - submit
        yield [
            *(identity, workload, "", submit, f"{width:g}", requested, int(not cut), state, start, runtime),
            *(start + runtime, start - submit, flow, f"{flow / runtime:.6f}", nodes, energy, ""),
        ]
