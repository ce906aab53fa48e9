"""``plan simulate``: on-line policies replayed on a trace, with metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner import defaults
from planner.bounds import PERCENT, PROCESSORS, SEED
from planner.cli import complete
from planner.cli.day import NoRemarksOption, SettingsOption, open_scenario, parse_day, require_days, solve_time
from planner.cli.terminal import ReplayBar, listed, say, say_json
from planner.errors import InputError
from planner.online.search_options import OfflineSearch

if TYPE_CHECKING:
    from planner.runs.simulate import ReplayRun


def simulate(
    jobs: Annotated[
        Path | None,
        typer.Argument(metavar="[JOBS]", help="A trace: SWF, CSV or Parquet; else the jobs of the scenario."),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            "-p",
            metavar="NAME",
            autocompletion=complete.policies,
            help="easy, list, saf-list, order-af, ...; may be repeated, or by commas.",
        ),
    ] = None,
    estimate: Annotated[
        list[str] | None,
        typer.Option(
            "--estimate", "-e", metavar="NAME", help="actual, requested, actual*0.5, or a predictor; may be repeated."
        ),
    ] = None,
    processors: Annotated[
        int | None, typer.Option(min=1, max=int(PROCESSORS.high), help="One pool of this size; else the SWF header's.")
    ] = None,
    scenario: Annotated[
        str | None,
        typer.Option(
            "--scenario",
            "-s",
            metavar="NAME",
            help="The cluster of a scenario instead.",
            autocompletion=complete.scenarios,
        ),
    ] = None,
    first: Annotated[
        str | None,
        typer.Option("--from", metavar="YYYY-MM-DD", help="First day of the scenario's jobs, also yesterday."),
    ] = None,
    last: Annotated[
        str | None, typer.Option("--to", metavar="YYYY-MM-DD", help="Last day; the first one if not given.")
    ] = None,
    settings: SettingsOption = None,
    metrics: Annotated[
        str | None, typer.Option(metavar="LIST", help="By commas; see `plan show metrics`. all: every one.")
    ] = None,
    trim: Annotated[
        str,
        typer.Option(
            metavar="none|steady|last",
            help="none; steady: without warm-up and cool-down; last: without the job that ends last.",
        ),
    ] = "none",
    correction: Annotated[
        str, typer.Option(metavar="WORD", help="Of an outlived estimate: request, steps, double.")
    ] = "request",
    round_estimates: Annotated[
        bool, typer.Option("--round-estimates", help="Round actual*0.5 and the like up to whole seconds.")
    ] = False,
    partition: Annotated[str | None, typer.Option(help="Only SWF jobs of these partitions; numbers by commas.")] = None,
    deadlines: Annotated[float, typer.Option(min=0, max=100, help="Percent of jobs that get a deadline.")] = 0.0,
    seed: Annotated[
        int, typer.Option(min=0, max=int(SEED.high), help="Draws the jobs with a deadline, and changes of order.")
    ] = 0,
    engine: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            autocompletion=complete.engines,
            help="CP engine of cp-..., hcp19 and pcp19; see `plan show engines`.",
        ),
    ] = defaults.ROUND_ENGINE,
    time_limit: Annotated[
        str, typer.Option(metavar="TIME", help="What it gets in each round: 1s, 20s; twice that if it finds nothing.")
    ] = f"{defaults.ROUND_TIME_S:g}s",
    offline: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LIST", help="Also a schedule that knows all jobs ahead, best for af, awf, bsld or p2sf; by commas."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for metrics.csv, and jobs.csv and .swf of each run.")
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="HTML page of the metrics and of how long jobs waited, to write."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    quiet: NoRemarksOption = False,
) -> None:
    """Replay a trace under on-line policies and measure what happened.

    Examples: plan simulate KTH-SP2.swf.gz -p list,easy -e actual,requested --metrics bsld,p2sf;
    plan simulate --scenario sample --from 2024-06-01 --to 2024-06-07 -p easy,hold --set rules.max_delay=6h
    """
    from planner.metrics.outcome import TRIMMING
    from planner.metrics.registry import DEFAULT, METRICS, MONEY
    from planner.online.estimates import estimate_named
    from planner.online.offline import offline_objective
    from planner.online.policies import policy_named
    from planner.text_files import require_other

    PERCENT.require("--deadlines", deadlines)
    if page is not None:
        require_other(page, "--page", jobs)
    if processors is not None and scenario is not None:
        raise InputError("give --processors or --scenario, not both: one pool, or the scenario's cluster")
    partitions = numbers_of(partition, "--partition")
    if scenario is not None and partitions:
        raise InputError("--partition is for one pool; a scenario's own rules say which jobs it takes")
    if jobs is None and (scenario is None or first is None):
        raise InputError("give a trace, or --scenario and --from: the days whose submissions are replayed")
    if jobs is not None and (first is not None or last is not None):
        raise InputError("--from and --to choose among the scenario's own jobs; a trace is replayed whole")
    require_days(first, last)
    if offline and scenario is not None:
        raise InputError("--offline plans one pool of processors, not a scenario's cluster; give --processors instead")
    objectives = [offline_objective(name) for name in listed(offline, "")]
    policies = [policy_named(name) for name in listed(policy, "easy")]
    limit_s = solve_time(time_limit, "--time-limit")
    from planner.methods import with_engine

    policies, not_run = with_engine(policies, engine)
    if not_run:
        say(not_run, err=True)
    names = listed([metrics] if metrics else None, ",".join(DEFAULT))
    if names == ["all"]:
        names = [*METRICS, *(MONEY if scenario is not None else ())]

    from planner.inputs.traces import read_cluster, read_pool, read_window
    from planner.runs.one_day import require_order
    from planner.runs.simulate import Conduct, Measurement, RoundEngine, simulate_offline
    from planner.runs.simulate import simulate as replay_all

    resolved = None if scenario is None else open_scenario(scenario, tuple(settings or ()))
    usual = "requested" if resolved is None else resolved.rules.estimate
    estimates = [estimate_named(name) for name in listed(estimate, usual)]
    if round_estimates:
        estimates = [each.rounded() for each in estimates]
    measured = Measurement.named(names, trim, resolved)
    conduct = Conduct(correction, deadline_percent=deadlines, seed=seed)
    used = RoundEngine(engine, limit_s)
    if jobs is None and resolved is not None and first is not None:
        begin = parse_day(first, resolved.zone)
        end = begin if last is None else parse_day(last, resolved.zone)
        require_order(begin, end)
        source = read_window(resolved, begin, end)
    elif jobs is not None and resolved is not None:
        source = read_cluster(jobs, resolved)
    else:
        assert jobs is not None
        source = read_pool(jobs, processors, partitions=partitions)
    if not quiet:
        say("\n".join(source.intake.lines()), err=True)
    with ReplayBar(quiet=quiet) as bar:
        runs = replay_all(
            source,
            policies,
            estimates,
            measured,
            conduct=conduct,
            engine=used,
            on_run=bar.update,
        )
        if objectives:
            search = OfflineSearch(seed=seed)
            runs += simulate_offline(source, objectives, measured, search, conduct=conduct, on_run=bar.update)
    rows = [run.row() for run in runs]
    full_rows = [row | run.engine_row() for row, run in zip(rows, runs, strict=True)]
    done_with = asdict(conduct) | used.row(policies)
    if out is not None:
        from planner.store.folder import filled
        from planner.store.replay_files import write_batsim_jobs, write_replay_swf, write_rows

        with filled(out) as place:
            for run in runs:
                stem = f"{run.policy}.{run.estimate}".replace("*", "x")
                write_batsim_jobs(run.replay, place / f"{stem}.jobs.csv")
                note = ", ".join(filter(None, (conduct.changed(), run.remark)))
                write_replay_swf(run.replay, place / f"{stem}.swf", note)
            write_rows([row | done_with for row in full_rows], place / "metrics.csv")
    size = f"{len(source.trace):,} jobs on {source.trace.machine.processors:,.0f} processors"
    if page is not None:
        write_page(page, f"Replay of {Path(source.trace.source).name}", [f"{TRIMMING[trim]}; {size}"], runs)
    if as_json:
        text: dict[str, object] = {"trace": source.intake.as_dict(), "trimming": trim, **done_with, "runs": full_rows}
        if late := [row for run in runs for row in run.late_rows()]:
            text["late"] = late
        if objectives:
            text["offline"] = {"steps": OfflineSearch.steps, "seconds": OfflineSearch.seconds}
        say_json(text)
        return
    say(table_text(rows))
    if not quiet:
        for run in runs:
            if run.remark:
                say(run.remark)
        changed = f"; {conduct.changed()}" if conduct.changed() else ""
        say(f"{TRIMMING[trim]}; {size}{changed}")
        for line in filter(None, (run.engine_line(used) for run in runs)):
            say(line)


def numbers_of(text: str | None, option: str) -> tuple[int, ...]:
    """Numbers by commas, in order and each once; none where nothing was given."""
    if text is None:
        return ()
    try:
        found = tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError as error:
        raise InputError(f"{option}: cannot read {text!r} as numbers; write 1 or 1,3") from error
    return found


def write_page(path: Path, title: str, notes: list[str], runs: Sequence[ReplayRun]) -> None:
    """Write the page of replays."""
    from planner.metrics.registry import METRICS
    from planner.pages.replay import replay_page
    from planner.store.replay_files import write_text

    waits = [
        (f"{run.policy}, {run.estimate}", (run.replay.start_s - run.replay.ready_s)[run.replay.is_started])
        for run in runs
    ]
    remarks = [run.remark for run in runs if run.remark]
    meanings = {name: metric.meaning for name, metric in METRICS.items()}
    late = [row for run in runs for row in run.late_rows()]
    text = replay_page(title, [*notes, *remarks], [run.row() for run in runs], meanings, waits, late)
    write_text(path, text)


def table_text(rows: Sequence[Mapping[str, object]]) -> str:
    """Lines of a table in columns: words to the left, numbers to the right."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[_cell(row.get(name, "")) for name in columns] for row in rows]
    widths = [max(len(name), *(len(line[k]) for line in cells)) for k, name in enumerate(columns)]
    words = [all(isinstance(row.get(name, ""), str) for row in rows) for name in columns]
    lines = [columns, *cells]
    return "\n".join(
        "  ".join(
            text.ljust(width) if word else text.rjust(width)
            for text, width, word in zip(line, widths, words, strict=True)
        ).rstrip()
        for line in lines
    )


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4f}" if abs(value) < 1000 else f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
