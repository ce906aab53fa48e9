"""Whether a situation can be true of a cluster, and where it contradicts the plan before it.

Nodes are known and up, have room for what has started, and nobody shares a node with who has it alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from planner.domain.cluster import Cluster
from planner.domain.columns import Ints, node_columns, unit_amount
from planner.domain.ever_fits import Fit, require_fit
from planner.domain.job import counting_key
from planner.domain.situation import Situation, StartedJob
from planner.errors import InputError
from planner.printable import shortened
from planner.units import MILLI, utc_text


class Stay(NamedTuple):
    """A job on a node from a start until an end; ``exclusive`` says that nobody else may be there."""

    node: int
    start: int
    end: int
    job: str
    exclusive: bool


def meetings(stays: Iterable[Stay]) -> list[tuple[Stay, Stay]]:
    """Stays that begin while another goes on, with that other one, where one of them is exclusive.

    Of each stay one meeting is enough, with who stays longest. A job is on a node once, with however many units.
    """
    found = []
    longest: dict[tuple[int, bool], Stay] = {}
    for stay in sorted(set(stays)):
        for alone in (False, True):
            before = longest.get((stay.node, alone))
            if before is not None and before.end > stay.start and (alone or stay.exclusive):
                found.append((before, stay))
                break
        for alone in (False, True) if stay.exclusive else (False,):
            before = longest.get((stay.node, alone))
            if before is None or before.end < stay.end:
                longest[stay.node, alone] = stay
    return found


MOST_NAMED = 4
"""Jobs that a message names."""
_WORDS = {"down": "down", "maintenance": "in maintenance"}
"""States of a node on which nothing can run."""


def require_possible(snapshot: Situation, cluster: Cluster) -> None:
    """InputError, with the snapshot's source, when no machine of this kind can be in the state that it describes.

    The whole past is looked at, from the earliest start: the books of the day are made of it. The power limit is not:
    what runs, runs, whatever it was thought to draw.
    """
    try:
        _require_known_nodes(snapshot, cluster)
        fit = Fit(cluster)
        for each in snapshot.started:
            require_fit(each.job, fit)
        _require_up(snapshot, cluster)
        _require_room(snapshot, cluster)
        _require_alone(snapshot, cluster)
    except InputError as error:
        raise InputError(f"{snapshot.source}: {error}") from None


def _require_known_nodes(snapshot: Situation, cluster: Cluster) -> None:
    last = cluster.node_count - 1
    for each in snapshot.started:
        unknown = next((node for node in each.nodes if not 0 <= node <= last), None)
        if unknown is not None:
            raise InputError(f"job {each.job.id} is on node {unknown}; the nodes are 0 to {last}")
    for outage in snapshot.outages:
        if not 0 <= outage.node <= last:
            raise InputError(f"node {outage.node} is said to be {outage.state}; the nodes are 0 to {last}")


def _require_up(snapshot: Situation, cluster: Cluster) -> None:
    """What a drained node runs may end; on one that is down or in maintenance nothing can run."""
    state = {
        outage.node: _WORDS[outage.state]
        for outage in snapshot.outages
        if outage.state in _WORDS and outage.holds_at(snapshot.moment_unix)
    }
    for each in snapshot.running:
        node = next((node for node in each.nodes if node in state), None)
        if node is not None:
            raise InputError(
                f"job {each.job.id} runs on node {cluster.node_name(node)}, which is {state[node]};"
                " correct the state of one of them"
            )


def _require_room(snapshot: Situation, cluster: Cluster) -> None:
    """At every second since the earliest start, what jobs hold of a node is within what it has."""
    too_much = overused(snapshot, cluster)
    if too_much:
        raise InputError(f"{too_much}; correct their nodes, times or sizes")


def overused(snapshot: Situation, cluster: Cluster) -> str:
    """The first node of which jobs held more than it has at some second, in words; empty where there is none."""
    if not snapshot.started:
        return ""
    started = snapshot.started
    capacity = node_columns(cluster).capacity
    unit_job = np.repeat(np.arange(len(started)), [each.job.unit_count for each in started])
    unit_node = np.array([node for each in started for node in each.nodes], dtype=np.int64)
    amount = _unit_amounts(started, cluster)
    start = np.array([each.start_unix for each in started], dtype=np.int64)[unit_job]
    # A running job holds its nodes at the moment itself.
    now = snapshot.moment_unix + 1
    end = np.array([now if each.end_unix is None else each.end_unix for each in started], dtype=np.int64)[unit_job]
    node, moment, used = _use(unit_node, start, end, amount)
    over = used - capacity[node]
    wrong = np.flatnonzero(np.any(over > 0, axis=1))
    if not len(wrong):
        return ""
    first = wrong[np.lexsort((node[wrong], moment[wrong]))[0]]
    resource = int(np.argmax(over[first]))
    holds = (unit_node == node[first]) & (start <= moment[first]) & (moment[first] < end) & (amount[:, resource] > 0)
    jobs = [started[job].job.id for job in np.unique(unit_job[holds])]
    has, held, many = (
        value / MILLI for value in (capacity[node[first], resource], used[first, resource], over[first, resource])
    )
    return (
        f"node {cluster.node_name(int(node[first]))} has {has:g} {cluster.resources[resource]}, but {_named(jobs)}"
        f" {held:g} from {utc_text(int(moment[first]))}, {many:g} too many"
    )


def _require_alone(snapshot: Situation, cluster: Cluster) -> None:
    """A job that has its nodes for itself has one unit on each, and meets nobody there."""
    if not any(each.job.exclusive for each in snapshot.started):
        return
    for each in snapshot.started:
        node = next((node for node in each.nodes if each.nodes.count(node) > 1), None) if each.job.exclusive else None
        if node is not None:
            raise InputError(
                f"job {each.job.id} has its nodes for itself, but several units on {cluster.node_name(node)};"
                " make one unit of them, or correct its nodes"
            )
    now = snapshot.moment_unix + 1
    met = meetings(
        Stay(node, each.start_unix, now if each.end_unix is None else each.end_unix, each.job.id, each.job.exclusive)
        for each in snapshot.started
        for node in each.nodes
    )
    if met:
        first, second = min(met, key=lambda pair: (pair[1].start, pair[1].node))
        alone, other = (first, second) if first.exclusive else (second, first)
        raise InputError(
            f"job {shortened(alone.job, 40)} has its nodes for itself, but job {shortened(other.job, 40)} is on"
            f" {cluster.node_name(second.node)} too from {utc_text(second.start)}; correct their nodes or times"
        )


def _unit_amounts(started: Sequence[StartedJob], cluster: Cluster) -> Ints:
    """What each unit of each job asks of each resource."""
    groups = [group for each in started for group in each.job.units]
    known = {group.amounts: unit_amount(group, cluster) for group in groups}
    return np.repeat(np.array([known[group.amounts] for group in groups]), [group.count for group in groups], axis=0)


def _use(unit_node: Ints, start: Ints, end: Ints, amount: Ints) -> tuple[Ints, Ints, Ints]:
    """Node and moment of every change, and what is held there from then on."""
    nodes, moments = np.concatenate([unit_node, unit_node]), np.concatenate([start, end])
    order = np.lexsort((moments, nodes))
    nodes, moments = nodes[order], moments[order]
    # The changes of every node add up to nothing, so one running sum serves all of them.
    used = np.cumsum(np.concatenate([amount, -amount])[order], axis=0)
    last = np.append((nodes[1:] != nodes[:-1]) | (moments[1:] != moments[:-1]), True)
    return nodes[last], moments[last], used[last]


def _named(jobs: Sequence[str]) -> str:
    names = [shortened(job, 40) for job in jobs[:MOST_NAMED]]
    if len(jobs) == 1:
        return f"job {names[0]} holds"
    if len(jobs) > MOST_NAMED:
        return f"jobs {', '.join(names)} and {len(jobs) - MOST_NAMED} more hold"
    return f"jobs {', '.join(names[:-1])} and {names[-1]} hold"


class PlannedRun(NamedTuple):
    """What a plan believed of a job: from when to when, and on which node each unit."""

    start_unix: int
    end_unix: int
    nodes: tuple[int, ...]


def situation_conflicts(
    situation: Situation, schedule: Mapping[str, PlannedRun], deferred: Collection[str], cluster: Cluster
) -> list[str]:
    """Every contradiction between a situation and the plan before it in a sentence, by job id.

    ``schedule`` are the jobs that were planned to run, ``deferred`` those that were planned to wait. New jobs, jobs
    that started earlier than planned and jobs that were withdrawn are news, not conflicts. A job on other nodes and
    since another time has two.
    """
    pending = {job.id for job in situation.pending}
    withdrawn = {job.id for job in situation.withdrawn}
    started = {each.job.id: each for each in situation.started}
    known = pending | withdrawn | started.keys() | {each.job_id for each in situation.left_alone}
    conflicts: list[str] = []
    for identity in sorted({*schedule, *deferred}, key=lambda each: (counting_key(each), each)):
        planned = schedule.get(identity)
        if planned is None:
            if identity not in known:
                conflicts.append(f"job {identity} was planned to wait but is gone")
        elif identity not in known:
            conflicts.append(f"job {identity} was planned to run from {utc_text(planned.start_unix)} but is gone")
        elif identity in pending:
            if planned.start_unix < situation.moment_unix:
                start = utc_text(planned.start_unix)
                conflicts.append(f"job {identity} was planned to start at {start} but is still pending")
        elif identity in started:
            conflicts += _differences(started[identity], planned, cluster)
    return conflicts


def _differences(found: StartedJob, planned: PlannedRun, cluster: Cluster) -> list[str]:
    job, runs = f"job {found.job.id}", "runs" if found.is_running else "ran"
    conflicts = []
    # Equal units may change places: what counts is how many are on each node.
    if Counter(found.nodes) != Counter(planned.nodes):
        was, is_now = cluster.node_list(planned.nodes), cluster.node_list(found.nodes)
        conflicts.append(f"{job} was planned on {was} but {runs} on {is_now}")
    if found.start_unix > planned.start_unix:
        since = f"{runs} since" if found.is_running else "ran from"
        start = utc_text(planned.start_unix)
        conflicts.append(f"{job} was planned from {start} but {since} {utc_text(found.start_unix)}")
    return conflicts
