"""The rows of the study's tables: ours as percentages, and every published figure with ours beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planner.runs.figures import Row
from planner.studies.metrics.cells import BASE, ESTIMATES, Cell, distorted, factors, predicted_runs
from planner.studies.published import METRICS, POLICIES, POLICY_CHANGES, PREDICTED, PREDICTORS, published_trace

Found = Mapping[Cell, Mapping[str, Any]]
ROUNDING = {"percent against list": 0.5, "percent against requested": 0.05, "R2": 0.005}
"""Half of the last digit of published figures, by their unit."""


def policy_rows(found: Found, trace: str, trim: str, unrequested: str) -> list[Row]:
    """A row per estimate and policy, List-REG first, in percent against it."""
    runs = [(estimate, policy) for estimate in ESTIMATES for policy in (BASE, *POLICIES)]
    rows = []
    for estimate, policy in runs:
        base = found[Cell(trace, BASE, estimate, unrequested)]
        told = found[Cell(trace, policy, estimate, unrequested)]
        rows.append(_row("policies", told, base, _names(trace, policy, estimate, unrequested), trim))
    return rows


def predictor_rows(found: Found, trace: str, trim: str, unrequested: str) -> list[Row]:
    """A row per policy and estimate, requested times first, in percent against them."""
    rows = []
    for policy, estimate in predicted_runs():
        base = found[Cell(trace, policy, "requested", unrequested)]
        told = found[Cell(trace, policy, estimate, unrequested)]
        rows.append(_row("predictors", told, base, _names(trace, policy, estimate, unrequested), trim))
    return rows


def distortion_rows(found: Found, trace: str, trim: str, unrequested: str, steps: int) -> list[Row]:
    """A row per policy and factor, in percent against the actual runtimes."""
    rows = []
    for policy in PREDICTED:
        base = found[Cell(trace, policy, "actual", unrequested)]
        for factor in factors(steps):
            told = found[Cell(trace, policy, distorted(factor), unrequested)]
            names = _names(trace, policy, distorted(factor), unrequested)
            rows.append(_row("distortion", told, base, names, trim) | {"factor": factor})
    return rows


def _names(trace: str, policy: str, estimate: str, unrequested: str) -> Row:
    return {"trace": trace, "policy": policy, "estimate": estimate, "unrequested": unrequested}


def _row(part: str, told: Mapping[str, Any], base: Mapping[str, Any], names: Row, trim: str) -> Row:
    """Figures of a run, and each metric in percent against another run."""
    values, others = told["trims"][trim], base["trims"][trim]
    row: Row = {"part": part, **names, "trim": trim, "jobs": told["jobs"], "processors": told["processors"]}
    for name in METRICS:
        row[name] = values[name]
        row[f"{name}_percent"] = 100 * (values[name] / others[name] - 1) if others[name] else None
    return row | {"r2": values["r2"], "under": values["under"], "cpu_s": told["cpu_s"], "factor": None}


def published_rows(rows: Sequence[Row]) -> list[Row]:
    """Every published figure of the runs in the rows, with ours, and whether they agree within rounding."""
    found: list[Row] = []
    for row in rows:
        trace = published_trace(row["trace"])
        run = row["policy"], row["estimate"]
        if trace is None:
            continue
        if row["part"] == "policies":
            for metric, value in POLICY_CHANGES.get((trace, run[1], run[0]), {}).items():
                found.append(_beside("II", row, metric, "percent against list", value, row[f"{metric}_percent"]))
        elif row["part"] == "predictors" and (trace, *run) in PREDICTORS:
            said = PREDICTORS[trace, *run]
            if said.change_percent is not None:
                ours = row[f"{said.metric}_percent"]
                found.append(_beside("III", row, said.metric, "percent against requested", said.change_percent, ours))
            if said.r2 is not None:
                found.append(_beside("IV", row, "r2", "R2", said.r2, row["r2"]))
    return found


def _beside(table: str, row: Row, metric: str, unit: str, published: float, ours: float) -> Row:
    names = {name: row[name] for name in ("trace", "policy", "estimate", "trim", "unrequested")}
    return {
        "table": table,
        **names,
        "metric": metric,
        "unit": unit,
        "published": published,
        "ours": ours,
        "difference": ours - published,
        "within_rounding": "yes" if abs(ours - published) <= ROUNDING[unit] + 1e-9 else "no",
    }


def agreement(rows: Sequence[Row]) -> list[Row]:
    """How many published figures agree within rounding, by table and trace, and the largest difference."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["table"], row["trace"]), []).append(row)
    return [
        {
            "table": table,
            "trace": trace,
            "trim": group[0]["trim"],
            "unrequested": group[0]["unrequested"],
            "figures": len(group),
            "within_rounding": sum(row["within_rounding"] == "yes" for row in group),
            "largest_difference": max(abs(row["difference"]) for row in group),
        }
        for (table, trace), group in groups.items()
    ]
