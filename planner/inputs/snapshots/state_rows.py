"""What a row of a snapshot says about its job: its state, its times and its nodes, each where the state asks for it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal, get_args

from planner.bounds import ENERGY_J
from planner.domain.cluster import Cluster
from planner.domain.job import Job
from planner.domain.node_text import parse_node_list, parse_unit_nodes
from planner.errors import InputError
from planner.inputs.jobs.table_rows import Row, row_time
from planner.scenario.words import guess

WrittenState = Literal["pending", "running", "done", "cancelled"]
"""States that a table may name."""

_KNOWN = "pending, running, done or cancelled"

TIMES = {"start": ("start_time", "start_unix"), "end": ("end_time", "end_unix")}
PLACES = ("nodes", "unit_nodes")
ENERGY = "energy_j"
STATE_COLUMNS = ("state", *TIMES["start"], *TIMES["end"], *PLACES, ENERGY)
"""Columns besides those of job tables."""


@dataclass(frozen=True)
class StateRow:
    """A job with what its row says; ``withdrawn`` was cancelled before it started.

    ``nodes`` are those that the row names, sorted, and ``unit_nodes`` that of each unit, None where it does not say.
    """

    job: Job
    row: Row
    state: Literal["pending", "running", "done", "cancelled", "withdrawn"]
    start_unix: int | None = None
    end_unix: int | None = None
    nodes: tuple[int, ...] = ()
    unit_nodes: tuple[int, ...] | None = None
    energy_j: float | None = None

    @property
    def start_key(self) -> tuple[object, ...]:
        """What started jobs are sorted by: the one that started first, then the one submitted first."""
        return self.start_unix, *self.job.submission_key


def state_row(job: Job, row: Row, cluster: Cluster, repaired: Counter[str], *, has_states: bool) -> StateRow:
    """A row read; FileFormatError when its cells do not go with its state.

    ``has_states``: some row of the table has a state, so that all must. Without any, every job is pending.
    """
    if not has_states:
        filled = next((column for column in STATE_COLUMNS if column in row), None)
        if filled is not None:
            raise row.error(f"column {filled} is filled, but no job has a state", f"fill state with {_KNOWN}")
        return StateRow(job, row, "pending")
    state = _state(row)
    start, end = (row_time(row, *TIMES[which], repaired) for which in ("start", "end"))
    has_nodes = any(column in row for column in PLACES)
    if state == "pending":
        _require_empty(row, state, *STATE_COLUMNS[1:])
        return StateRow(job, row, "pending")
    if state == "cancelled" and start is None:
        _require_empty(row, "cancelled before it started", ENERGY)
        if has_nodes:
            raise row.error("the job is cancelled and has nodes but no start", "fill start_time or start_unix")
        return StateRow(job, row, "withdrawn")
    if start is None:
        raise row.error(f"the job is {state} but has no start", "fill start_time or start_unix")
    if state == "running":
        _require_empty(row, state, *TIMES["end"], ENERGY)
    elif end is None:
        raise row.error(f"the job is {state} but has no end", "fill end_time or end_unix")
    if not has_nodes:
        raise row.error(f"the job is {state} but has no nodes", "fill nodes or unit_nodes")
    nodes, unit_nodes = _nodes(row, cluster)
    energy_j = float(row.number(ENERGY, ENERGY_J)) if ENERGY in row else None
    return StateRow(job, row, state, start, end, nodes, unit_nodes, energy_j)


def _state(row: Row) -> WrittenState:
    if "state" not in row:
        raise row.error("the job has no state, others have", f"fill state with {_KNOWN}")
    word = row.text("state").strip().lower()
    for known in get_args(WrittenState):
        if word == known:
            return known  # type: ignore[no-any-return]
    hint = guess(word, get_args(WrittenState))
    raise row.bad("state", _KNOWN, hint or "correct the value")


def _require_empty(row: Row, state: str, *columns: str) -> None:
    filled = next((column for column in columns if column in row), None)
    if filled is not None:
        raise row.error(f"the job is {state} but column {filled} is filled", "leave it empty, or correct the state")


def _nodes(row: Row, cluster: Cluster) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    """The nodes that a row names, and that of each unit where it says so."""
    try:
        named = parse_node_list(row.text("nodes"), cluster) if "nodes" in row else None
        if "unit_nodes" not in row:
            assert named is not None
            return named, None
        units = parse_unit_nodes(row.text("unit_nodes"))
    except InputError as error:
        raise row.error(str(error), "") from error
    unknown = next((node for node in units if node >= cluster.node_count), None)
    if unknown is not None:
        raise row.error(f"unit_nodes has node {unknown}; the nodes are 0 to {cluster.node_count - 1}", "correct it")
    used = tuple(sorted(set(units)))
    if named is not None and named != used:
        raise row.error(
            f"unit_nodes are {cluster.node_list(used)}, nodes are {cluster.node_list(named)}", "leave one of them empty"
        )
    return used, units
