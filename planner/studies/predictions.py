"""The published experiment on predicted runtimes, run end to end."""

from __future__ import annotations

from planner.inputs.traces import Source
from planner.online.estimates import estimate_named
from planner.online.policies import policy_named
from planner.runs.simulate import Conduct, Measured, OnRun, simulate
from planner.studies.published import PREDICTIONS, RUNS

ROUNDING = 1e-12
"""Relative difference that comes from the order in which numbers are added."""

Rows = list[dict[str, object]]


def prediction_rows(source: Source, *, on_run: OnRun | None = None) -> Rows:
    """Bounded slowdown of EASY and EASY-SJBF with estimates and corrections, beside the published values.

    A round follows every event. Where nothing is published about a trace, all runs are made. The last column,
    ``by second``, has what the same policy and estimate give with at most one round per second, where waiting jobs are
    also predicted anew.
    """
    campaign = PREDICTIONS.get((len(source.trace), int(source.trace.machine.processors)))
    measured = Measured.named(["bsld"])
    rows: Rows = []
    for policy, estimate, correction in RUNS if campaign is None else campaign.bsld:
        by_event, by_second = (
            simulate(
                source,
                [policy_named(policy)],
                [estimate_named(estimate)],
                measured,
                conduct=Conduct(correction=correction, rounds=rounds),
                on_run=on_run,
            )[0].values["bsld"]
            for rounds in ("event", "second")
        )
        row: dict[str, object] = {"policy": policy, "estimate": estimate, "correction": correction, "bsld": by_event}
        if campaign is not None:
            published = campaign.bsld[policy, estimate, correction]
            off = by_event / published - 1
            row |= {"published": published, "of jobs": campaign.jobs}
            row |= {"difference": "none" if abs(off) < ROUNDING else f"{100 * off:+.4f} %"}
        rows.append(row | {"by second": by_second})
    return rows
