"""The data of the figure of nodes over time: every job with the runs of nodes that it holds, and its share of them."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import Any

from planner.domain.cluster import CORES, Cluster
from planner.domain.job import UnitGroup
from planner.domain.node_text import parse_unit_nodes
from planner.inputs.jobs.unit_groups import parse_unit_groups
from planner.pages.formats import money
from planner.pages.series import column, numbers, rounded
from planner.store.write_tables import Table

COLOURS = 8
"""Accounts with a colour of their own; the others share one."""

LEAST = 15
"""A job without cores is drawn this high [thousandths of a node]."""


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
        "classes": [
            {"name": each.name, "first": first, "count": each.count, "digits": len(str(each.count))}
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


def _spans(groups: tuple[UnitGroup, ...], nodes: tuple[int, ...], cluster: Cluster) -> list[int]:
    """Runs of nodes held alike: first node, count and share of cores in thousandths, one after the other."""
    shares: dict[int, float] = {}
    asked = chain.from_iterable([group.amount(CORES)] * group.count for group in groups)
    cores = [node_class.capacity[CORES] for node_class in cluster.classes]
    for amount, node in zip(asked, nodes, strict=True):
        shares[node] = shares.get(node, 0.0) + amount / cores[cluster.class_index(node)]
    runs: list[int] = []
    for node in sorted(shares):
        share = max(LEAST, min(1000, round(1000 * shares[node])))
        if runs and runs[-3] + runs[-2] == node and runs[-1] == share:
            runs[-2] += 1
        else:
            runs += [node, 1, share]
    return runs


def _short(nodes: str) -> str:
    return nodes if len(nodes) <= 60 else nodes[:57] + "…"
