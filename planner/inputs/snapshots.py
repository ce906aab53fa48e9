"""Reads a situation from tables, CSV or Parquet: jobs with their states, and nodes that cannot be used.

docs/snapshots.md has the columns.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from planner import limits
from planner.domain.cluster import Cluster
from planner.domain.ever_fits import Fit
from planner.domain.horizon import zone_named
from planner.domain.intake import Intake
from planner.domain.job import Job
from planner.domain.node_lists import parse_node_list, parse_unit_nodes
from planner.domain.situation import SINCE_EVER, NodeState, Outage, Situation, StartedJob, outage_key
from planner.domain.situation_check import require_possible
from planner.errors import FileFormatError, InputError
from planner.inputs.deal_units import Dealer, has_choice
from planner.inputs.jobs.job_table import read_job_rows
from planner.inputs.jobs.power_models import power_notes, power_of
from planner.inputs.jobs.read import require_unscaled
from planner.inputs.jobs.unit_groups import unit_shape_of
from planner.inputs.table_cells import Row, read_rows, require_known, row_time
from planner.limits import ENERGY_J
from planner.places import document
from planner.scenario.schema import Scenario
from planner.scenario.words import guess

EARLY_START = "start before submission: kept as written"

WrittenState = Literal["pending", "running", "done", "cancelled"]
"""States that a table may name."""

_KNOWN = "pending, running, done or cancelled"

TIMES = {"start": ("start_time", "start_unix"), "end": ("end_time", "end_unix")}
PLACES = ("nodes", "unit_nodes")
ENERGY = "energy_j"
STATE_COLUMNS = ("state", *TIMES["start"], *TIMES["end"], *PLACES, ENERGY)
"""Columns besides those of job tables."""

NODE_COLUMNS = ("node", "state", "from", "to")
ROUNDED_OUTAGE = "fraction of a second of an outage: rounded to a longer one"
_UP = "up"
_NODE_STATES = (*get_args(NodeState), _UP)


def read_snapshot(
    path: Path | str, *, at_unix: int, scenario: Scenario, nodes_path: Path | None = None, of_books: bool = False
) -> tuple[Situation, Intake]:
    """What is true at a moment, by a table of jobs; of a plain job table every job is pending, but ``of_books``.

    The table has the columns of job tables, and ``state``, ``start_time``, ``end_time``, ``nodes``, ``unit_nodes``;
    that of nodes that cannot be used ``node``, ``state``, ``from``, ``to``. The scenario's ``cluster.down`` counts too.
    InputError where what the tables say together cannot be true of the machine, and where a table of books gives no job
    a state; one without jobs needs the column.
    """
    path = Path(path)
    stateless = FileFormatError(
        path, "no job has a state: that is a queue, not what ran", remedy=f"fill state with {_KNOWN}"
    )

    def accept(columns: list[str]) -> None:
        if of_books and "state" not in columns:
            raise stateless

    limits.UNIX_S.require("the moment of the snapshot", at_unix)
    shape = unit_shape_of(scenario.jobs, scenario.cluster)
    require_unscaled(path, shape)
    power = power_of(scenario)
    found, intake = read_job_rows(
        path,
        unit_cores=shape.unit_cores,
        power=power,
        cluster=scenario.cluster,
        zone=scenario.zone,
        further=STATE_COLUMNS,
        described_in=document("snapshots.md"),
        accept=accept,
    )
    has_states = any("state" in row for _, row in found)
    if of_books and found and not has_states:
        raise stateless
    rows = [state_row(job, row, scenario.cluster, intake.repaired, has_states=has_states) for job, row in found]
    snapshot = Situation(
        moment_unix=at_unix,
        pending=_jobs(rows, "pending"),
        started=_started(rows, scenario.cluster, at_unix),
        withdrawn=_jobs(rows, "withdrawn"),
        outages=_outages(scenario, nodes_path, intake),
        source=str(path),
    )
    require_possible(snapshot, scenario.cluster)
    _tell(snapshot, scenario.cluster, intake)
    intake.notes += power_notes(power, at_unix)
    return snapshot, intake


def _jobs(rows: Sequence[StateRow], state: str) -> tuple[Job, ...]:
    return tuple(sorted((each.job for each in rows if each.state == state), key=lambda job: job.submission_key))


def _started(rows: Sequence[StateRow], cluster: Cluster, at_unix: int) -> tuple[StartedJob, ...]:
    """The started jobs by start; those whose nodes leave a choice are dealt to what the others leave."""
    started = sorted((each for each in rows if each.start_unix is not None), key=lambda each: each.start_key)
    open_rows = [each for each in started if each.unit_nodes is None and has_choice(each.job, each.nodes)]
    dealer = Dealer(cluster, {node for each in open_rows for node in each.nodes})
    waiting = {id(each) for each in open_rows}
    made: dict[str, StartedJob] = {}
    for each in [*(row for row in started if id(row) not in waiting), *open_rows]:
        try:
            made[each.job.id] = _dealt(each, dealer)
            made[each.job.id].require_before(at_unix)
        except FileFormatError:
            raise
        except InputError as error:
            raise each.row.error(str(error), "") from error
        dealer.take(made[each.job.id])
    return tuple(made[each.job.id] for each in started)


def _dealt(row: StateRow, dealer: Dealer) -> StartedJob:
    assert row.start_unix is not None
    nodes = row.unit_nodes
    if nodes is None:
        nodes = dealer.deal(row.job, row.nodes, row.start_unix, row.end_unix)
    return StartedJob(row.job, row.start_unix, nodes, row.end_unix, row.state == "cancelled", row.energy_j)


def _outages(scenario: Scenario, nodes_path: Path | None, intake: Intake) -> tuple[Outage, ...]:
    found = set(scenario.outages)
    if nodes_path is not None:
        found |= read_node_states(nodes_path, scenario.cluster, intake.repaired, scenario.zone)
    return tuple(sorted(found, key=outage_key))


def _tell(snapshot: Situation, cluster: Cluster, intake: Intake) -> None:
    """Count what is odd but no error."""
    early = sum(each.start_unix < each.job.submit_unix for each in snapshot.started)
    if early:
        intake.repaired[EARLY_START] += early
    counts = Counter(each.state for each in snapshot.started)
    intake.notes.append(
        f"{len(snapshot.pending)} pending, {counts['running']} running, {counts['done']} done,"
        f" {counts['cancelled']} cancelled while they ran, {len(snapshot.withdrawn)} before they started"
    )
    fit = Fit(cluster)
    never = [(job, reason) for job in snapshot.pending if (reason := fit.why_never(job)) is not None]
    if never:
        first, reason = never[0]
        intake.notes.append(f"{len(never)} pending can never run here; the first is {first.id}: {reason}")


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


def read_node_states(
    path: Path | str, cluster: Cluster, repaired: Counter[str], zone: str | None = None
) -> set[Outage]:
    """The outages of a table; a node that is up has none. Times without an offset are of the zone."""
    path = Path(path)

    def accept(columns: list[str]) -> None:
        require_known(path, columns, NODE_COLUMNS, document("snapshots.md"))
        for column in ("node", "state"):
            if column not in columns:
                raise FileFormatError(
                    path, f"no column {column}", remedy=f"add it; {document('snapshots.md')} lists all columns"
                )

    _, rows = read_rows(path, zone=None if zone is None else zone_named(zone), accept=accept)
    outages: set[Outage] = set()
    for row in rows:
        outages |= _outages_of_row(row, cluster, repaired)
        limits.OUTAGES.require(f"{path}: the number of outages", len(outages))
    return outages


def _outages_of_row(row: Row, cluster: Cluster, repaired: Counter[str]) -> set[Outage]:
    for column in ("node", "state"):
        if column not in row:
            raise row.error(f"column {column} is empty", "fill it")
    word = row.text("state").strip().lower()
    start, end = _outage_times(row, repaired)
    try:
        nodes = parse_node_list(row.text("node"), cluster)
        for state in get_args(NodeState):
            if word == state:
                return {Outage(node, start, end, state) for node in nodes}
    except InputError as error:
        raise row.error(str(error), "") from error
    if word != _UP:
        raise row.bad(
            "state", f"{', '.join(_NODE_STATES[:-1])} or {_UP}", guess(word, _NODE_STATES) or "correct the value"
        )
    return set()


def _outage_times(row: Row, repaired: Counter[str]) -> tuple[int, int | None]:
    """Start and end in whole seconds, with all of the time that the row says."""
    start = row.moment("from") if "from" in row else None
    end = row.moment("to") if "to" in row else None
    if any(each is not None and each != int(each) for each in (start, end)):
        repaired[ROUNDED_OUTAGE] += 1
    return SINCE_EVER if start is None else math.floor(start), None if end is None else math.ceil(end)
