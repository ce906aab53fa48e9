"""The data of the figure of nodes over time: every job with the runs of nodes that it holds, and its shares of them."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import Any

import numpy as np

from planner.domain.cluster import CORES, Cluster
from planner.domain.columns import Ints
from planner.domain.job import UnitGroup
from planner.domain.node_text import parse_unit_nodes
from planner.inputs.jobs.unit_groups import parse_unit_groups
from planner.pages.formats import money
from planner.pages.series import column, mean_work_kw, numbers, rounded
from planner.store.write_tables import Table

COLOURS = 8
"""Accounts with a colour of their own; the others share one."""

LEAST = 15
"""A job without cores is drawn this high [thousandths of a node]."""

WORDS = {"memory_gb": "memory", "gpus": "GPUs"}
"""Resources whose names are not what people call them."""


def ranked_accounts(schedule: Table) -> list[str]:
    """Accounts by what they use, the largest first."""
    used: Counter[str] = Counter()
    for account, hours in zip(column(schedule, "account"), numbers(schedule, "core_hours"), strict=True):
        used[account] += hours
    return sorted(used, key=lambda account: (-used[account], account))


def gantt_data(schedule: Table, cluster: Cluster, currency: str, wait_s: list[int]) -> dict[str, Any]:
    """Everything that the figure draws and shows."""
    accounts = ranked_accounts(schedule)
    users = sorted(set(column(schedule, "user")))
    account_of = {name: index for index, name in enumerate(accounts)}
    user_of = {name: index for index, name in enumerate(users)}
    shapes: dict[str, tuple[UnitGroup, ...]] = {}
    spans = []
    for text, units in zip(column(schedule, "unit_groups"), column(schedule, "unit_nodes"), strict=True):
        groups = shapes.setdefault(text, parse_unit_groups(text, cluster.resources))
        spans.append(_spans(groups, parse_unit_nodes(units), cluster))
    return {
        "height": max(260, min(620, 16 * cluster.node_count + 22)),
        "nodes": cluster.node_count,
        "resources": [resource_word(name) for name in cluster.resources],
        "classes": [
            {
                "name": each.name,
                "first": first,
                "count": each.count,
                "digits": len(str(each.count)),
                "has": [int(each.capacity.get(name, 0) > 0) for name in cluster.resources],
            }
            | ({"nodes": list(each.nodes)} if each.nodes else {})
            for each, first in zip(cluster.classes, cluster.first_nodes, strict=False)
        ],
        "accounts": accounts,
        "users": users,
        "money": money(0, currency, 0).replace("0", "#"),
        "jobs": {
            "id": column(schedule, "job_id"),
            "name": column(schedule, "name"),
            "account": [account_of[name] for name in column(schedule, "account")],
            "user": [user_of[name] for name in column(schedule, "user")],
            "start": [int(text) for text in column(schedule, "start_s")],
            "end": [int(text) for text in column(schedule, "end_s")],
            "wait": wait_s,
            "nodes": [_short(text) for text in column(schedule, "nodes")],
            "power": rounded(numbers(schedule, "power_w"), 1),
            "revenue": rounded(numbers(schedule, "revenue_eur"), 2),
            "profit": rounded(numbers(schedule, "profit_eur"), 2),
            "spans": spans,
        },
    }


def resource_word(name: str) -> str:
    """What people call a resource."""
    return WORDS.get(name, name.replace("_", " "))


def use_fractions(
    schedule: Table, cluster: Cluster, edges: Ints
) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Of each resource the part of all that jobs hold, on average between each pair of edges."""
    start = np.array(column(schedule, "start_s"), dtype=np.int64)
    end = np.array(column(schedule, "end_s"), dtype=np.int64)
    asked = [parse_unit_groups(text, cluster.resources) for text in column(schedule, "unit_groups")]
    found = {}
    for name in cluster.resources:
        held = np.array([sum(each.count * each.amount(name) for each in groups) for groups in asked], dtype=np.float64)
        # The mean of power in kW of what draws ``held`` W, times 1000, is the mean of what is held.
        found[name] = 1000 * mean_work_kw(edges, start, end, held) / cluster.total(name)
    return found


def _spans(groups: tuple[UnitGroup, ...], nodes: tuple[int, ...], cluster: Cluster) -> list[int]:
    """Runs of nodes held alike, one after the other: first node, count, share of each resource in thousandths."""
    names = cluster.resources
    shares: dict[int, list[float]] = {}
    asked = chain.from_iterable([group] * group.count for group in groups)
    for group, node in zip(asked, nodes, strict=True):
        capacity = cluster.classes[cluster.class_index(node)].capacity
        held = shares.setdefault(node, [0.0] * len(names))
        for k, name in enumerate(names):
            held[k] += group.amount(name) / capacity[name] if capacity.get(name, 0) > 0 else 0.0
    cores, width = names.index(CORES), 2 + len(names)
    runs: list[int] = []
    for node in sorted(shares):
        parts = [min(1000, round(1000 * share)) for share in shares[node]]
        parts[cores] = max(LEAST, parts[cores])
        if runs and runs[-width] + runs[1 - width] == node and runs[2 - width :] == parts:
            runs[1 - width] += 1
        else:
            runs += [node, 1, *parts]
    return runs


def _short(nodes: str) -> str:
    return nodes if len(nodes) <= 60 else nodes[:57] + "…"
