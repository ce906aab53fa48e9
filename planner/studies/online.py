"""Published experiments on on-line policies, run end to end: the metrics paper's tables, and deadlines."""

from __future__ import annotations

from planner.inputs.traces import Source
from planner.online.estimates import estimate_named
from planner.online.policies import policy_named
from planner.runs.simulate import Conduct, Measured, OnRun, Run, simulate
from planner.studies.published import METRICS, POLICIES, PREDICTIONS, RUNS, published_change

PREDICTORS = ("requested", "actual", "last2", "hierarchy", "survival-2", "survival-3", "survival-4", "data", "cvh")
PREDICTED_POLICIES = ("list", "easy", "easy-sjbf")
FACTORS = ("0.5", "0.75", "1", "1.25", "1.5", "2")
DEADLINE_POLICIES = ("deadline", "conservative", "easy")
ROUNDING = 1e-12
"""Relative difference that comes from the order in which numbers are added."""

Rows = list[dict[str, object]]


def policy_rows(source: Source, *, on_run: OnRun | None = None) -> Rows:
    """Percent change against List-REG of each policy and metric, with actual and requested times, published beside."""
    rows: Rows = []
    measured = Measured.named(list(METRICS))
    policies = [policy_named(name) for name in ("list", *POLICIES)]
    for estimate in ("actual", "requested"):
        base, *others = simulate(source, policies, [estimate_named(estimate)], measured, on_run=on_run)
        rows.append({"policy": "list", "estimate": estimate, **_absolute(base)})
        for run in others:
            row: dict[str, object] = {"policy": run.policy, "estimate": estimate}
            for name in METRICS:
                row[name] = _percent(run.values[name], base.values[name])
                published = published_change(len(source.trace), estimate, run.policy, name)
                if published is not None:
                    row[f"{name} published"] = f"{published:+d} %"
            rows.append(row)
    return rows


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


def predictor_rows(source: Source, *, on_run: OnRun | None = None) -> Rows:
    """Metrics of each policy with each predictor, as percent change against requested times, with its accuracy."""
    rows: Rows = []
    measured = Measured.named([*METRICS, "r2", "under"])
    for name in PREDICTED_POLICIES:
        runs = simulate(source, [policy_named(name)], [estimate_named(e) for e in PREDICTORS], measured, on_run=on_run)
        rows += [_against(run, runs[0], {"policy": name, "estimate": run.estimate}) for run in runs]
    return rows


def distortion_rows(source: Source, *, on_run: OnRun | None = None) -> Rows:
    """Metrics when actual runtimes are known only times a factor, as percent change against knowing them."""
    rows: Rows = []
    measured = Measured.named([*METRICS, "r2", "under"])
    for name in ("list", "easy"):
        estimates = [estimate_named("actual" if factor == "1" else f"actual*{factor}") for factor in FACTORS]
        runs = simulate(source, [policy_named(name)], estimates, measured, on_run=on_run)
        exact = runs[FACTORS.index("1")]
        for factor, run in zip(FACTORS, runs, strict=True):
            rows.append(_against(run, exact, {"policy": name, "factor": factor}))
    return rows


def deadline_rows(
    source: Source, percents: list[float], *, estimate: str = "requested", seed: int = 0, on_run: OnRun | None = None
) -> Rows:
    """Wait and stretch of regular and of all jobs under DBF, CBF and EASY, for shares of jobs with a deadline."""
    from planner.metrics.measures import mean_stretch, mean_wait
    from planner.runs.simulate import outcome_of

    rows: Rows = []
    measured = Measured.named(["wait", "stretch", "deadlines", "misses", "usage"])
    policies = [policy_named(name) for name in DEADLINE_POLICIES]
    for percent in percents:
        runs = simulate(
            source,
            policies,
            [estimate_named(estimate)],
            measured,
            conduct=Conduct(deadline_percent=percent, seed=seed),
            on_run=on_run,
        )
        for run in runs:
            regular = outcome_of(run.replay)
            regular = regular.where(regular.deadline_s < 0)
            rows.append(
                {
                    "deadline jobs": f"{percent:g} %",
                    "policy": run.policy,
                    "wait": run.values["wait"],
                    "stretch": run.values["stretch"],
                    "wait regular": mean_wait(regular),
                    "stretch regular": mean_stretch(regular),
                    "deadlines": int(run.values["deadlines"]),
                    "misses": int(run.values["misses"]),
                    "usage": run.values["usage"],
                }
            )
    return rows


def _absolute(run: Run) -> dict[str, object]:
    """Values of the run that others are compared with."""
    return {name: f"= {run.values[name]:,.2f}" for name in METRICS}


def _against(run: Run, base: Run, row: dict[str, object]) -> dict[str, object]:
    row |= (
        {name: _percent(run.values[name], base.values[name]) for name in METRICS} if run is not base else _absolute(run)
    )
    return row | {"r2": run.values["r2"], "under": run.values["under"]}


def _percent(value: float, base: float) -> str:
    return f"{100 * (value / base - 1):+.2f} %" if base else ""
