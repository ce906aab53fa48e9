"""The rows of the study's tables: each policy on each machine, published figures beside ours; and made-up queues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.runs.figures import Row
from planner.studies.dispatchers.cells import Cell, QueueCell
from planner.studies.published import DISPATCHERS


def replay_rows(found: Mapping[Cell, Mapping[str, Any]]) -> list[Row]:
    """One row per replay."""
    return [_replay_row(cell, told) for cell, told in found.items()]


def _replay_row(cell: Cell, told: Mapping[str, Any]) -> Row:
    stopped, took = told["stopped"], told["dispatch_ms"] or {}
    published = DISPATCHERS.get((cell.machine, cell.estimate, cell.policy))
    return {
        "machine": cell.machine,
        "nodes": told["nodes"],
        "trace": cell.trace,
        "jobs": told["jobs"],
        "estimate": cell.estimate,
        "policy": cell.policy,
        "stretch": told.get("stretch"),
        "wait_s": told.get("wait"),
        "longest_wait_s": told.get("longest_wait"),
        "dispatches": told["dispatches"],
        "dispatch_ms": took.get("mean"),
        "dispatch_95_ms": took.get("most_of_95"),
        "dispatch_most_ms": took.get("most"),
        "published_dispatch_ms": published.dispatch_ms if published else None,
        "cpu_s": told["cpu_s"],
        "published_simulation_s": published.simulation_s if published else None,
        "published_ended": None if published is None else "yes" if published.has_ended else "no",
        "rounds": told["rounds"],
        "ms_per_round": 1000 * told["cpu_s"] / told["rounds"] if told["rounds"] else None,
        **_engine_figures(told["engine"]),
        "ended": "yes" if stopped is None else "no",
        "started_jobs": told["jobs"] if stopped is None else stopped["started"],
        "stopped_at_s": None if stopped is None else stopped["moment_s"],
        "stopped_waiting": None if stopped is None else stopped["waiting"],
    }


def queue_rows(found: Mapping[QueueCell, Mapping[str, Any]]) -> list[Row]:
    """One row per size of machine and queue and policy."""
    return [
        {
            "nodes": cell.nodes,
            "jobs": cell.jobs,
            "policy": cell.policy,
            "queues": told["queues"],
            "dispatch_ms": told["dispatch_ms"],
            "dispatch_most_ms": told["most_ms"],
            "started": told["started"],
            **_engine_figures(told["engine"]),
        }
        for cell, told in found.items()
    ]


def _engine_figures(counts: Mapping[str, int] | None) -> Row:
    """Rounds in which a dispatcher was asked, the part whose plan is proven, and those in which it found nothing."""
    if counts is None:
        return {"asked": None, "proven_fraction": None, "fallbacks": None}
    proven = counts["proven"] / counts["rounds"] if counts["rounds"] else None
    return {"asked": counts["rounds"], "proven_fraction": proven, "fallbacks": counts["fallbacks"]}
