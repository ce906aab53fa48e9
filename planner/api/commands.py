"""The commands for scripts: `plan --day`, now, run, book, compare, report and simulate, with the same defaults.

Each does what the command of the same name does, writes the same files, and gives back what they say. ``on_progress``
is told in a line what is done; ``print`` will do.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from planner import defaults
from planner.api.results import CompareResult, DayResult, ReplayResult, ReportResult, RunResult
from planner.api.steps import as_settings
from planner.domain.result import Trial
from planner.errors import InputError
from planner.methods import Params
from planner.runs.book import book_asked
from planner.runs.bounds_over_days import whole_run
from planner.runs.check_request import (
    asked_day,
    asked_now,
    asked_runs,
    open_scenario,
    params_of,
    parse_day,
    refuse_contradictions,
)
from planner.runs.compare import compare_runs
from planner.runs.one_day import plan_from
from planner.runs.parallel_calls import TaskEngine
from planner.runs.report import Range, days_range, month_range, report_on, reported_scenario, require_asked, zone_of
from planner.runs.run_days import run_days
from planner.runs.simulate_request import AskedReplay, replays
from planner.scenario.schema import Scenario

Told = Callable[[str], None]
Day = str | dt.date
Settings = Mapping[str, object] | None
Named = str | Path | None


def _silent(line: str) -> None:
    """Nobody listens."""


def plan(
    day: Day,
    scenario: Named = None,
    settings: Settings = None,
    *,
    method: str | None = None,
    time_limit_s: float = defaults.TIME_LIMIT_S,
    iterations: int | None = None,
    bound_time_s: float = defaults.BOUND_TIME_S,
    seed: int | None = None,
    jobs: str | Path | None = None,
    snapshot: str | Path | None = None,
    nodes: str | Path | None = None,
    fresh: bool = False,
    out: str | Path = "reports",
    also: Sequence[str] = (),
    workers: int = 0,
    engine: str | None = None,
    rebook: bool = False,
    on_progress: Told = _silent,
) -> DayResult:
    """Plan a day and write its folder, as `plan --day` does."""
    table, of_nodes, queue = _path(snapshot), _path(nodes), _path(jobs)
    refuse_contradictions(table, of_nodes, queue, fresh=fresh)
    chosen = open_scenario(scenario, as_settings(settings), seed, queue)
    params = params_of(
        chosen,
        method=method,
        time_limit_s=time_limit_s,
        iterations=iterations,
        bound_time_s=bound_time_s,
        workers=workers,
        engine=engine,
        also=also,
        rebook=rebook,
    )
    asked = asked_day(chosen, parse_day(day, chosen.zone), fresh=fresh, snapshot=table, nodes=of_nodes)
    return DayResult.of(plan_from(chosen, _watched(params, on_progress), asked, Path(out) / chosen.name))


def now(
    scenario: Named = None,
    settings: Settings = None,
    *,
    at: str | None = None,
    snapshot: str | Path | None = None,
    nodes: str | Path | None = None,
    hours: float = 24.0,
    method: str | None = None,
    time_limit_s: float = defaults.TIME_LIMIT_S,
    iterations: int | None = None,
    bound_time_s: float = defaults.BOUND_TIME_S,
    seed: int | None = None,
    jobs: str | Path | None = None,
    out: str | Path = "reports",
    also: Sequence[str] = (),
    workers: int = 0,
    engine: str | None = None,
    rebook: bool = False,
    apply: bool = False,
    on_progress: Told = _silent,
) -> DayResult:
    """Plan what is left of the day from a moment on, as `plan now` does.

    ``apply``: then hold and release jobs in Slurm; ``applied`` of the result says what became of it.
    """
    chosen, asked = asked_now(
        scenario,
        as_settings(settings),
        seed,
        _path(jobs),
        at=at,
        snapshot=_path(snapshot),
        nodes=_path(nodes),
        hours=hours,
    )
    params = params_of(
        chosen,
        method=method,
        time_limit_s=time_limit_s,
        iterations=iterations,
        bound_time_s=bound_time_s,
        workers=workers,
        engine=engine,
        also=also,
        rebook=rebook,
        from_moment=True,
    )
    done = plan_from(chosen, _watched(params, on_progress), asked, Path(out) / chosen.name)
    if not apply:
        return DayResult.of(done)
    from planner.slurm.send_changes import apply_plan, forget_after

    became = apply_plan(done.folder, yes=True)
    forget_after(done.folder, chosen.slurm.keep_days, became)
    for line in (*became.remarks, became.line):
        on_progress(line)
    return DayResult.of(done, became)


def run(
    first: Day,
    last: Day,
    scenario: Named = None,
    settings: Settings = None,
    *,
    until_empty: bool = False,
    method: str | None = None,
    time_limit_s: float = defaults.TIME_LIMIT_S,
    iterations: int | None = None,
    bound_time_s: float = defaults.BOUND_TIME_S,
    run_bound_time_s: float = defaults.RUN_BOUND_TIME_S,
    seed: int | None = None,
    jobs: str | Path | None = None,
    fresh: bool = False,
    page: bool = True,
    out: str | Path = "reports",
    also: Sequence[str] = (),
    workers: int = 0,
    engine: str | None = None,
    rebook: bool = False,
    on_progress: Told = _silent,
) -> RunResult:
    """Plan day after day, each from what the last one left, as `plan run` does."""
    chosen = open_scenario(scenario, as_settings(settings), seed, _path(jobs))
    params = params_of(
        chosen,
        method=method,
        time_limit_s=time_limit_s,
        iterations=iterations,
        bound_time_s=bound_time_s,
        workers=workers,
        engine=engine,
        also=also,
        rebook=rebook,
        page=page,
    )
    low, high = parse_day(first, chosen.zone), parse_day(last, chosen.zone)
    folder, summaries = Path(out) / chosen.name, []
    watched = _watched(params, on_progress)
    for done in run_days(chosen, watched, low, high, folder, until_empty=until_empty, fresh=fresh):
        summaries.append(done.summary)
        on_progress(f"{done.day} {'planned' if done.planned is not None else 'kept'}")
    limit_s = run_bound_time_s if bound_time_s > 0 else 0.0
    return RunResult.of(folder, summaries, whole_run(chosen, low, high, folder, limit_s, summaries, fresh=fresh))


def book(
    day: Day,
    scenario: Named = None,
    settings: Settings = None,
    *,
    sacct: str | Path | None = None,
    table: str | Path | None = None,
    out: str | Path = "reports",
    also: Sequence[str] = (),
    rebook: bool = False,
    on_progress: Told = _silent,
) -> DayResult:
    """Settle a day that is over as it happened, as `plan book` does."""
    on_progress(f"booking {day}")
    done = book_asked(
        day,
        scenario,
        as_settings(settings),
        sacct=_path(sacct),
        table=_path(table),
        out=Path(out),
        also=also,
        rebook=rebook,
        on_remark=on_progress,
    )
    return DayResult.of(done)


def compare(
    scenarios: Sequence[str | Path],
    first: Day,
    last: Day | None = None,
    settings: Settings = None,
    *,
    methods: Sequence[str] = (defaults.METHOD,),
    policies: Sequence[str] = ("easy",),
    baseline: str | None = None,
    carbon_weights: Sequence[float] | None = None,
    waiting: Sequence[float] | None = None,
    members: bool = False,
    invest: float | None = None,
    time_limit_s: float = defaults.TIME_LIMIT_S,
    iterations: int | None = None,
    bound_time_s: float = 0.0,
    seed: int | None = None,
    jobs: str | Path | None = None,
    out: str | Path = "reports",
    engine: str | None = None,
    processes: int = 0,
    backend: str = "processes",
    address: str | None = None,
    on_progress: Told = _silent,
) -> CompareResult:
    """Plan the same days in several scenarios and set them beside EASY, as `plan compare` does.

    No ``methods``: policies alone.
    """
    opened, replayed = asked_runs(
        scenarios, methods, policies, as_settings(settings), seed, _path(jobs), carbon_weights, waiting
    )
    low = parse_day(first, opened[0].zone)
    how = params_of(
        opened[0],
        method=methods[0] if methods else defaults.METHOD,
        time_limit_s=time_limit_s,
        iterations=iterations,
        engine=engine,
        bound_time_s=bound_time_s,
        page=False,
        baselines=False,
    )
    found = compare_runs(
        opened,
        methods,
        low,
        low if last is None else parse_day(last, opened[0].zone),
        Path(out),
        how=how,
        policies=replayed,
        baseline=baseline,
        by_member=members,
        invest_eur=invest,
        engine=TaskEngine(backend, address, processes),
        on_done=lambda name: on_progress(f"{name} done"),
    )
    return CompareResult(found.folder, found.content)


def report(
    first: Day | None = None,
    last: Day | None = None,
    *,
    month: str | None = None,
    by: str = "account",
    scenario: str | None = None,
    out: str | Path = "reports",
    planned: bool = False,
    also: Sequence[str] = (),
    statements: bool = False,
    on_progress: Told = _silent,
) -> ReportResult:
    """Report costs over written days, as `plan report` does: of one day, of several, of a month, or of all."""
    require_asked(by, also)
    name = reported_scenario(Path(out), scenario)
    asked: Range = (None, None, "all days") if month is None else month_range(month)
    if first is not None:
        if month is not None:
            raise InputError("give a first day, or a month; not both")
        zone = zone_of(Path(out) / name)
        low, high = (parse_day(each, zone) for each in (first, last or first))
        asked = days_range(low, high)
    done = report_on(
        name, asked, by, Path(out), planned=planned, also=also, with_statements=statements, on_remark=on_progress
    )
    return ReportResult.of(done)


def simulate(
    jobs: str | Path | None = None,
    policies: Sequence[str] = ("easy",),
    estimates: Sequence[str] = (),
    *,
    processors: int | None = None,
    scenario: str | Path | Scenario | None = None,
    settings: Settings = None,
    first: Day | None = None,
    last: Day | None = None,
    metrics: Sequence[str] = (),
    trim: str = "none",
    correction: str = "request",
    round_estimates: bool = False,
    partitions: Sequence[int] = (),
    deadlines: float = 0.0,
    seed: int = 0,
    engine: str = defaults.ROUND_ENGINE,
    time_limit_s: float = defaults.ROUND_TIME_S,
    offline: Sequence[str] = (),
    out: str | Path | None = None,
    page: str | Path | None = None,
    on_progress: Told = _silent,
) -> ReplayResult:
    """Replay a trace, or a scenario's jobs from a first day on, under on-line policies, as `plan simulate` does.

    On one pool of ``processors``, else as many as an SWF header says, or on the cluster of a ``scenario``. Names are
    those of `plan show policies` and `plan show metrics`.
    """
    asked = AskedReplay(
        _path(jobs),
        policies,
        estimates,
        processors,
        scenario,
        first,
        last,
        as_settings(settings),
        metrics,
        trim=trim,
        correction=correction,
        round_estimates=round_estimates,
        partitions=tuple(partitions),
        deadlines=deadlines,
        seed=seed,
        engine=engine,
        time_limit_s=time_limit_s,
        offline=offline,
    )
    found = replays(asked, on_remark=on_progress, on_run=lambda title, n, all_: on_progress(f"{title}: {n} of {all_}"))
    if out is not None:
        found.write(Path(out))
    if page is not None:
        found.write_page(Path(page))
    return ReplayResult(found)


def _watched(params: Params, told: Told) -> Params:
    """The same parameters with somebody told what is done."""

    def tried(trial: Trial) -> None:
        told(f"{trial.name}: worth {trial.profit_eur:,.2f}")

    def bounded(profit_eur: float) -> None:
        told(f"no plan earns more than {profit_eur:,.2f}")

    return params if told is _silent else replace(params, on_step=told, on_trial=tried, on_bound=bounded)


def _path(given: str | Path | None) -> Path | None:
    return None if given is None else Path(given)
