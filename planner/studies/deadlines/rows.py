"""The rows of the study's table: each policy with each share of deadline jobs, its draws together with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, stdev
from typing import Any

from planner.runs.figures import Row
from planner.studies.deadlines.cells import BASE, Cell
from planner.studies.published import DEADLINES, deadline_trace

Found = Mapping[Cell, Mapping[str, Any]]
MEANS = (
    *(f"{figure}_{group}{unit}" for group in ("all", "regular", "deadline") for figure, unit in (
        ("wait", "_s"), ("waiting", "_fraction"), ("wait_of_waiting", "_s"), ("stretch", ""), ("max_stretch", "")
    )),
    *("deadline_jobs", "deadline_jobs_24h", "deadline_jobs_10x", "misses_24h", "misses_10x", "usage", "usage_waited"),
)  # fmt: skip
"""Figures of a draw whose mean and interval are told."""

SURE = 0.95
"""How sure an interval is to hold the mean over all draws."""


def draw_rows(found: Found) -> list[Row]:
    """One row per trace, policy and draw, without the curves."""
    return [
        {"trace": cell.trace, "policy": cell.policy, "percent": told["percent"], "seed": told["seed"]}
        | {name: told[name] for name in MEANS}
        | {"round_ms": piece["round_ms"], "cpu_s": piece["cpu_s"]}
        for cell, piece in found.items()
        for told in piece["draws"]
    ]


def rows_of(draws: Sequence[Row]) -> list[Row]:
    """One row per trace, share and policy: means over the draws, half the width of their intervals, and ratios."""
    groups: dict[tuple[str, float, str], list[Row]] = {}
    for draw in draws:
        groups.setdefault((draw["trace"], draw["percent"], draw["policy"]), []).append(draw)
    order = {key: place for place, key in enumerate(dict.fromkeys(draw["policy"] for draw in draws))}
    traces = list(dict.fromkeys(draw["trace"] for draw in draws))
    rows = []
    for key in sorted(groups, key=lambda key: (traces.index(key[0]), key[1], order[key[2]])):
        group = groups[key]
        row: Row = {"trace": key[0], "percent": key[1], "policy": key[2], "seeds": len(group)}
        for name in (*MEANS, "round_ms"):
            row[name], row[f"{name}_half"] = interval([each[name] for each in group])
        row["regular_of_base"], row["regular_of_base_half"] = _ratio(group, groups.get((key[0], key[1], BASE)))
        rows.append(row)
    return rows


def interval(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    """The mean of some draws, and half the width of its 95 % interval by Student's t; None where it cannot be told."""
    known = [value for value in values if value is not None]
    if not known:
        return None, None
    if len(known) < 2:
        return mean(known), None
    from scipy.stats import t

    return mean(known), float(t.ppf((1 + SURE) / 2, len(known) - 1)) * stdev(known) / len(known) ** 0.5


def _ratio(group: Sequence[Row], base: Sequence[Row] | None) -> tuple[float | None, float | None]:
    """Mean wait of regular jobs as a part of that of the same jobs under conservative backfilling."""
    if base is None:
        return None, None
    others = {row["seed"]: row["wait_regular_s"] for row in base}
    return interval([row["wait_regular_s"] / others[row["seed"]] if others[row["seed"]] else None for row in group])


def published_rows(rows: Sequence[Row]) -> list[Row]:
    """What was published of deadline-based backfilling, with ours; without a published figure the same of others."""
    found: list[Row] = []
    for row in rows:
        if row["policy"] != "deadline" or row["regular_of_base"] is None:
            continue
        most = DEADLINES.get((deadline_trace(row["trace"]), row["percent"]))
        met = "" if most is None else "yes" if row["regular_of_base"] <= most else "no"
        found.append(
            {"trace": row["trace"], "percent": row["percent"], "figure": "wait of regular jobs, part of conservative"}
            | {"published_at_most": most, "ours": row["regular_of_base"], "ours_half": row["regular_of_base_half"]}
            | {"met": met}
        )
    return found
