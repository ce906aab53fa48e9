"""A kept replay settled and measured over the days of its group, and the clairvoyant bound beside it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from planner.domain.horizon import Horizon
from planner.metrics.registry import measure, metric_named
from planner.online.replay import Replay
from planner.runs.clairvoyant import clairvoyant_bound
from planner.runs.replay_ledger import origin_of, settle_window, sum_of_days
from planner.runs.simulate import outcome_of
from planner.studies.operation.cells import Cell
from planner.studies.operation.replays import read_replay
from planner.studies.operation.sites import Ground, load_of, scenario_of_group, source_of

METRICS = ("wait", "wait95", "max-wait", "bsld", "awf", "p2sf", "held", "max-hold", "broken")


def days_taken(ground: Ground, cell: Cell, kept: Path) -> int:
    """How many calendar days a replay takes, from the first day of submission to the day on which its last job ends."""
    source = source_of(ground, cell.group.site, cell.group.load)
    result, _ = read_replay(kept, source, cell)
    zone = scenario_of_group(ground, cell.group).zone
    last = Horizon.of_unix(int(result.end_s.max()) + origin_of(source.trace) - 1, zone).day
    return (last - ground.days_of(cell.group.site).first).days + 1


def settled_bytes(ground: Ground, cell: Cell, kept: Path, days: int) -> bytes:
    """Money, energy and metrics of a kept replay, over so many days and up to the last day of submission."""
    group, submitted = cell.group, ground.days_of(cell.group.site)
    scenario, source = scenario_of_group(ground, group), source_of(ground, group.site, group.load)
    result, cpu_s = read_replay(kept, source, cell)
    settled = settle_window(scenario, source.jobs, result, first_day=submitted.first, days=days)
    values = measure(outcome_of(result), [metric_named(name) for name in METRICS], "none")
    until_s = Horizon(submitted.last, scenario.zone).end_unix - origin_of(source.trace)
    told = {
        "jobs": len(source.trace),
        "days": days,
        "load": load_of(source, scenario, submitted),
        "cpu_s": cpu_s,
        "totals": dict(sum_of_days(settled)),
        "submitted_totals": dict(sum_of_days(settled[: len(submitted)])),
        "profit_by_day_eur": [totals.profit_eur for _, totals in settled],
        "utilisation_fraction": _busy_fraction(result, until_s),
        "metrics": {name: None if math.isnan(value) else value for name, value in values.items()},
    }
    return json.dumps(told, indent=1).encode()


def bound_bytes(ground: Ground, cell: Cell, kept: Path, days: int, *, later_h: int, time_limit_s: float) -> bytes:
    """The clairvoyant bound for the starts of a kept replay and so many hours more."""
    group = cell.group
    scenario, source = scenario_of_group(ground, group), source_of(ground, group.site, group.load)
    result, _ = read_replay(kept, source, cell)
    bound = clairvoyant_bound(
        scenario,
        source.jobs,
        source.trace,
        result.start_s + later_h * 3600,
        first_day=ground.days_of(group.site).first,
        days=days,
        time_limit_s=time_limit_s,
    )
    told = {"profit_eur": bound.profit_eur, "slack_eur": bound.slack_eur, "solve_s": bound.solve_s}
    return json.dumps(told, indent=1).encode()


def read_piece(path: Path) -> dict[str, Any]:
    """What a kept piece says."""
    told: dict[str, Any] = json.loads(path.read_bytes())
    return told


def _busy_fraction(result: Replay, until_s: int) -> float:
    """Part of the machine that jobs use from the first second until another."""
    used_s = np.clip(result.end_s, 0, until_s) - np.clip(result.start_s, 0, until_s)
    return float(result.trace.processors_of @ used_s) / (result.trace.machine.processors * until_s)
