"""Figures along the axis of a page: what the script draws, and the series of a day that they show."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from planner.domain.cluster import CORES, Cluster
from planner.domain.columns import Floats, Ints
from planner.domain.horizon import Horizon
from planner.domain.job import UnitGroup
from planner.domain.node_lists import parse_unit_nodes
from planner.inputs.jobs.unit_groups import parse_unit_groups
from planner.pages.markup import Html, el, money
from planner.store.read_tables import unix_of
from planner.store.write_tables import Table


@dataclass(frozen=True)
class Panel:
    """A figure: its id, its title, how to read it aloud, and its layers as the script takes them."""

    id: str
    title: str
    aloud: str
    layers: list[dict[str, Any]]
    height: int = 150
    zero: bool = True
    extra: dict[str, Any] = field(default_factory=dict)

    def spec(self) -> dict[str, Any]:
        """The figure for the script."""
        return {"id": self.id, "height": self.height, "zero": self.zero, "layers": self.layers, **self.extra}

    def html(self) -> Html:
        """The element that the script draws in."""
        marks = [
            el(
                "span",
                el("i", class_=_mark(layer), style=f"--c:var(--{layer['colour']})"),
                layer["name"],
            )
            for layer in self.layers
        ]
        label = f"{self.title}. {self.aloud} Arrow keys read it step by step; plus and minus zoom; 0 shows all."
        plot = el(
            "div", class_="plot", role="application", tabindex=0, aria_label=label, style=f"height:{self.height}px"
        )
        return el("figure", el("figcaption", self.title, el("span", marks, class_="legend")), plot, id=self.id)


def _mark(layer: dict[str, Any]) -> str | None:
    if layer["kind"] == "stack":
        return None
    dash = layer.get("dash")
    return {"2 3": "dash dots", "10 3 2 3": "dash mixed"}.get(str(dash), "dash") if dash else "thin"


def layer(
    kind: str, grid: str, name: str, colour: str, values: Sequence[float | None], unit: str, digits: int, **more: Any
) -> dict[str, Any]:
    """One layer: ``stack``, ``step`` or ``line`` over the steps of a grid; None is a gap in a step or line."""
    named = {"kind": kind, "grid": grid, "name": name, "colour": colour, "values": list(values)}
    return {**named, "unit": unit, "digits": digits, **more}


MINUTE_S = 60
MARK_S = 1800
"""Distance of the marks that say what the wall clock shows [s]; clocks change by whole multiples of it."""


def numbers(table: Table, name: str) -> Floats:
    """The cells of a column of numbers."""
    return np.array(table.column(name), dtype=np.float64)


def temperature_digits(temperature_c: Floats) -> int:
    """Decimals that temperatures are shown with: none where all are whole, as steps of a PUE table mostly are."""
    return 0 if bool(np.all(temperature_c == np.round(temperature_c))) else 1


def clock_axis(horizon: Horizon) -> dict[str, Any]:
    """The day as an axis: its length, and the minutes of the wall clock at each mark."""
    marks = range(0, horizon.length_s + 1, MARK_S)
    moments = [horizon.to_datetime(offset_s) for offset_s in marks]
    clock = [1440 * (m.date() - horizon.day).days + 60 * m.hour + m.minute for m in moments]
    return {"kind": "clock", "lo": 0, "hi": horizon.length_s, "least": 120, "mark_s": MARK_S, "clock": clock}


def days_between(first: dt.date, last: dt.date) -> list[str]:
    """Every day from one to another."""
    return [(first + dt.timedelta(days=k)).isoformat() for k in range((last - first).days + 1)]


def days_payload(days: Sequence[str], panels: Sequence[Panel]) -> dict[str, Any]:
    """Figures with a bar or a point for each day, as the script takes them."""
    return {
        "axis": {"kind": "days", "lo": 0, "hi": len(days), "least": 2, "days": days},
        "grids": {"days": list(range(len(days) + 1))},
        "panels": [panel.spec() for panel in panels],
    }


def submitted_s(table: Table, horizon: Horizon) -> Ints:
    """Submit times from midnight [s]."""
    return np.array([unix_of(text) for text in table.column("submit_time")], dtype=np.int64) - horizon.start_unix


def minute_edges(length_s: int) -> Ints:
    """Edges of the day's minutes [s]."""
    return np.append(np.arange(0, length_s, MINUTE_S), length_s)


def mean_work_kw(edges: Ints, start_s: Ints, end_s: Ints, power_w: Floats) -> Floats:
    """Mean power of the jobs between each pair of edges [kW]."""
    at = np.concatenate([start_s, end_s])
    change = np.concatenate([power_w, -power_w])
    order = np.argsort(at, kind="stable")
    at, level = at[order], np.cumsum(change[order])
    if not len(at):
        return np.zeros(len(edges) - 1)
    drawn = np.concatenate([[0.0], np.cumsum(level[:-1] * np.diff(at))])
    by_edge = np.interp(edges, at, drawn)
    return np.asarray(np.diff(by_edge) / np.diff(edges) / 1000, dtype=np.float64)


def count_at(edges: Ints, since_s: Ints, until_s: Ints) -> Ints:
    """How many are there at each edge but the last, of those that come at ``since_s`` and go at ``until_s``."""
    came = np.searchsorted(np.sort(since_s), edges[:-1], side="right")
    gone = np.searchsorted(np.sort(until_s), edges[:-1], side="right")
    return np.asarray(came - gone, dtype=np.int64)


def rounded(values: Sequence[float] | Floats, digits: int) -> list[float]:
    """Values for a page: with as many digits as can be seen."""
    return [round(float(value), digits) + 0.0 for value in values]


LEAST = 15
"""A job without cores is drawn this high [thousandths of a node]."""

WORDS = {"memory_gb": "memory", "gpus": "GPUs"}
"""Resources whose names are not what people call them."""


def ranked_accounts(schedule: Table) -> list[str]:
    """Accounts by what they use, the largest first."""
    used: Counter[str] = Counter()
    for account, hours in zip(schedule.column("account"), numbers(schedule, "core_hours"), strict=True):
        used[account] += hours
    return sorted(used, key=lambda account: (-used[account], account))


def gantt_data(schedule: Table, cluster: Cluster, currency: str, wait_s: list[int]) -> dict[str, Any]:
    """Everything that the figure draws and shows."""
    accounts = ranked_accounts(schedule)
    users = sorted(set(schedule.column("user")))
    account_of = {name: index for index, name in enumerate(accounts)}
    user_of = {name: index for index, name in enumerate(users)}
    spans = [
        _spans(parse_unit_groups(groups, cluster.resources), parse_unit_nodes(nodes), cluster)
        for groups, nodes in zip(schedule.column("unit_groups"), schedule.column("unit_nodes"), strict=True)
    ]
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
            "id": schedule.column("job_id"),
            "name": schedule.column("name"),
            "account": [account_of[name] for name in schedule.column("account")],
            "user": [user_of[name] for name in schedule.column("user")],
            "start": [int(text) for text in schedule.column("start_s")],
            "end": [int(text) for text in schedule.column("end_s")],
            "wait": wait_s,
            "nodes": [_short(text) for text in schedule.column("nodes")],
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
    """Of each resource the part of all that jobs hold, on average between each pair of edges; 0 where there is none."""
    start = np.array(schedule.column("start_s"), dtype=np.int64)
    end = np.array(schedule.column("end_s"), dtype=np.int64)
    asked = [parse_unit_groups(text, cluster.resources) for text in schedule.column("unit_groups")]
    found = {}
    for name in cluster.resources:
        held = np.array([sum(each.count * each.amount(name) for each in groups) for groups in asked], dtype=np.float64)
        # The mean of power in kW of what draws ``held`` W, times 1000, is the mean of what is held.
        found[name] = 1000 * mean_work_kw(edges, start, end, held) / (cluster.total(name) or 1.0)
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
