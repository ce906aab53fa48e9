"""Measured energy in the place of estimates: for jobs that had their nodes to themselves, where it is plausible.

What Slurm calls the energy of a job is that of its nodes while it ran, so jobs that shared a node are each charged with
all of it. A sensor that is read too seldom, or was set back, shows less than empty nodes draw, or more than any can.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from planner.domain.cluster import Cluster
from planner.domain.day_summary import Measured
from planner.domain.horizon import Horizon
from planner.domain.situation import StartedJob
from planner.units import rounded

MOST_NODE_W = 20_000.0
"""No node draws more than this [W]."""
SHARED = "they shared a node"
TOO_LITTLE = "it is less than their nodes draw when empty"
TOO_MUCH = f"it is more than {MOST_NODE_W / 1000:g} kW per node"

Stay = tuple[Sequence[int | str], int, int | None]
"""The nodes of a job, by number or by name, its start and its end; None: it still runs."""


def with_measured_power(
    runs: Sequence[StartedJob], cluster: Cluster, horizon: Horizon
) -> tuple[tuple[StartedJob, ...], Measured, Counter[str]]:
    """The runs with measured power where that counts, how much it is, and why other measurements do not count."""
    shared = sharing([(run.nodes, run.start_unix, run.end_unix) for run in runs])
    refused: Counter[str] = Counter()
    found, measured = [], Measured()
    for place, run in enumerate(runs):
        power_w, why = _power_w(run, cluster, is_shared=place in shared)
        refused[why] += bool(why)
        if power_w is None:
            found.append(run)
            continue
        hours = run.seconds_within(horizon.start_unix, horizon.end_unix) / 3600
        measured = Measured(
            measured.jobs + 1,
            measured.kwh + power_w * hours / 1000,
            measured.estimated_kwh + run.job.power_w * hours / 1000,
        )
        found.append(replace(run, job=replace(run.job, power_w=power_w)))
    measured = replace(measured, kwh=rounded(measured.kwh), estimated_kwh=rounded(measured.estimated_kwh))
    return tuple(found), measured, +refused


def mean_power_w(energy_j: float, ran_s: int, idle_w: float, nodes: int) -> tuple[float | None, str]:
    """The mean power of a job that had its nodes to itself, or why its energy is no measurement of it.

    ``idle_w`` is what its nodes draw together when empty.
    """
    # Seconds are whole: a short job may have run for almost one more or less than its times say.
    power_w = energy_j / max(1, ran_s)
    if power_w < idle_w:
        return None, TOO_LITTLE
    return (power_w, "") if power_w <= MOST_NODE_W * nodes else (None, TOO_MUCH)


def sharing(stays: Sequence[Stay]) -> set[int]:
    """Places of the stays during which another job was on one of their nodes."""
    by_node: dict[int | str, list[tuple[int, float, int]]] = defaultdict(list)
    for place, (nodes, start_unix, end_unix) in enumerate(stays):
        end = float("inf") if end_unix is None else end_unix
        for node in set(nodes):
            by_node[node].append((start_unix, end, place))
    found: set[int] = set()
    for on_node in by_node.values():
        longest = (0, 0.0, -1)
        for stay in sorted(on_node):
            if stay[0] < longest[1]:
                found |= {stay[2], longest[2]}
            longest = max(longest, stay, key=lambda each: each[1])
    return found


def _power_w(run: StartedJob, cluster: Cluster, *, is_shared: bool) -> tuple[float | None, str]:
    """The mean power that was measured, or why it does not count; neither where nothing was measured."""
    if run.energy_j is None or run.end_unix is None:
        return None, ""
    if is_shared:
        return None, SHARED
    nodes = set(run.nodes)
    idle_w = sum(cluster.classes[cluster.class_index(node)].idle_w for node in nodes)
    return mean_power_w(run.energy_j, run.end_unix - run.start_unix, idle_w, len(nodes))
