"""Reads a snapshot from a table of jobs with their states, CSV or Parquet; docs/snapshots.md has the columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from planner import bounds
from planner.domain.cluster import Cluster
from planner.domain.dealing import Dealer, has_choice
from planner.domain.fit import Fit
from planner.domain.intake import Intake
from planner.domain.job import Job
from planner.domain.possible import require_possible
from planner.domain.situation import Outage, Situation, StartedJob, outage_key
from planner.errors import FileFormatError, InputError
from planner.inputs.jobs.power import power_notes, power_of
from planner.inputs.jobs.read import require_unscaled
from planner.inputs.jobs.table import read_job_rows
from planner.inputs.jobs.unit_groups import unit_shape_of
from planner.inputs.snapshots.node_states import read_node_states
from planner.inputs.snapshots.state_rows import STATE_COLUMNS, StateRow, state_row
from planner.places import document
from planner.scenario.schema import Scenario

EARLY_START = "start before submission: kept as written"


def read_snapshot(
    path: Path | str, *, at_unix: int, scenario: Scenario, nodes_path: Path | None = None
) -> tuple[Situation, Intake]:
    """What is true at a moment, by a table of jobs; of a plain job table every job is pending.

    Parameters
    ----------
    path
        The table: the columns of job tables, and ``state``, ``start_time``, ``end_time``, ``nodes``, ``unit_nodes``.
    at_unix
        The moment [Unix seconds].
    scenario
        The site, whose ``cluster.down`` counts too.
    nodes_path
        A table of nodes that cannot be used: ``node``, ``state``, ``from``, ``to``.

    Raises
    ------
    FileFormatError
        A cell cannot be read, or contradicts another of its row; names line, column, value and remedy.
    InputError
        What the tables say together cannot be true of the machine.
    """
    path = Path(path)
    bounds.UNIX_S.require("the moment of the snapshot", at_unix)
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
    )
    has_states = any("state" in row for _, row in found)
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
