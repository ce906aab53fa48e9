"""Writes a snapshot as tables, CSV or Parquet, that read back as the same snapshot, for tests of the reader."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from planner.domain.cluster import Cluster
from planner.domain.node_lists import format_unit_nodes
from planner.domain.situation import SINCE_EVER, NodeState, Situation, StartedJob
from planner.inputs.jobs.job_table import Columns, job_table_columns, write_columns
from planner.units import utc_text


def write_snapshot(
    snapshot: Situation, path: Path | str, *, cluster: Cluster, nodes_path: Path | str | None = None
) -> None:
    """Write the jobs, and to ``nodes_path`` the nodes that cannot be used; ``.csv``, ``.csv.gz`` or ``.parquet``."""
    write_columns(_job_columns(snapshot, cluster), path)
    if nodes_path is not None:
        write_columns(_node_columns(snapshot, cluster), nodes_path)


def _job_columns(snapshot: Situation, cluster: Cluster) -> Columns:
    started = {each.job.id: each for each in snapshot.started}
    found = [started.get(job.id) for job in snapshot.jobs]
    states: dict[str, object] = {job.id: "pending" for job in snapshot.pending}
    states |= {job.id: "cancelled" for job in snapshot.withdrawn}
    states |= {each.job.id: each.state for each in snapshot.started}
    return {
        **job_table_columns(snapshot.jobs),
        "state": [
            states[job.id] if each is None else each.state for job, each in zip(snapshot.jobs, found, strict=True)
        ],
        "start_time": [None if each is None else utc_text(each.start_unix) for each in found],
        "end_time": [None if each is None or each.end_unix is None else utc_text(each.end_unix) for each in found],
        "nodes": [None if each is None else cluster.node_list(each.nodes) for each in found],
        "unit_nodes": [None if each is None else format_unit_nodes(each.nodes) for each in found],
        **_energy(found),
    }


def _energy(found: Sequence[StartedJob | None]) -> Columns:
    """The column of measured energy, only if some job has it."""
    joules: list[object] = [None if each is None or each.energy_j is None else float(each.energy_j) for each in found]
    return {"energy_j": joules} if any(each is not None for each in joules) else {}


def _node_columns(snapshot: Situation, cluster: Cluster) -> Columns:
    """Nodes of equal states and times in one row."""
    rows: dict[tuple[NodeState, int, int | None], list[int]] = defaultdict(list)
    for outage in snapshot.outages:
        rows[outage.state, outage.start_unix, outage.end_unix].append(outage.node)
    return {
        "node": [cluster.node_list(nodes) for nodes in rows.values()],
        "state": [state for state, _, _ in rows],
        "from": [None if start == SINCE_EVER else utc_text(start) for _, start, _ in rows],
        "to": [None if end is None else utc_text(end) for _, _, end in rows],
    }
