"""``plan simulate``: on-line policies replayed on a trace, with metrics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner import defaults
from planner.cli import tab_key
from planner.cli.options import JsonOption, NoRemarksOption, SettingsOption, require_days, solve_time
from planner.cli.terminal import ReplayBar, listed, say, say_json, table_text
from planner.errors import InputError
from planner.limits import PROCESSORS, SEED
from planner.places import full_path

if TYPE_CHECKING:
    from planner.inputs.traces import Source


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
            autocompletion=tab_key.policies,
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
            autocompletion=tab_key.scenarios,
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
            autocompletion=tab_key.engines,
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
    as_json: JsonOption = False,
    quiet: NoRemarksOption = False,
) -> None:
    """Replay a trace under on-line policies and measure what happened.

    Examples: plan simulate KTH-SP2.swf.gz -p list,easy -e actual,requested --metrics bsld,p2sf;
    plan simulate --scenario sample --from 2024-06-01 --to 2024-06-07 -p easy,hold --set rules.max_delay=6h
    """
    if page is not None:
        from planner.text_files import require_other

        require_other(page, "--page", jobs)
    if out is not None and jobs is not None and full_path(jobs).parent == full_path(out):
        raise InputError(f"{jobs}: is in the folder that --out writes; give --out another folder")
    require_days(first, last)
    limit_s = solve_time(time_limit, "--time-limit")
    partitions = numbers_of(partition, "--partition")

    from planner.metrics import TRIMMING
    from planner.online.policies import OfflineSearch
    from planner.runs.simulate_request import AskedReplay, replays

    asked = AskedReplay(
        jobs,
        listed(policy, "easy"),
        listed(estimate, ""),
        processors,
        scenario,
        first,
        last,
        settings or (),
        listed([metrics] if metrics else None, ""),
        trim=trim,
        correction=correction,
        round_estimates=round_estimates,
        partitions=partitions,
        deadlines=deadlines,
        seed=seed,
        engine=engine,
        time_limit_s=limit_s,
        offline=listed(offline, ""),
    )

    def told(source: Source) -> None:
        if not quiet:
            say("\n".join(source.intake.lines()), err=True)

    with ReplayBar(quiet=quiet) as bar:
        found = replays(asked, on_remark=lambda line: say(line, err=True), on_source=told, on_run=bar.update)
    runs, conduct = found.runs, found.conduct
    if out is not None:
        found.write(out)
    if page is not None:
        found.write_page(page)
    if as_json:
        about = {"trace": found.source.intake.as_dict(), "trimming": trim}
        text: dict[str, object] = {**about, **found.done_with, "runs": found.full_rows}
        if late := [row for run in runs for row in run.late_rows()]:
            text["late"] = late
        if asked.offline:
            text["offline"] = {"steps": OfflineSearch.steps, "seconds": OfflineSearch.seconds}
        say_json(text)
        return
    say(table_text(found.rows))
    if not quiet:
        for remark in found.remarks:
            say(remark)
        changed = f"; {conduct.changed()}" if conduct.changed() else ""
        say(f"{TRIMMING[trim]}; {found.size}{changed}")
        for line in filter(None, (run.engine_line(found.engine) for run in runs)):
            say(line)
        say("\n".join(f"  {name}: {meaning}" for name, meaning in found.meanings.items()))


def numbers_of(text: str | None, option: str) -> tuple[int, ...]:
    """Numbers by commas, in order and each once; none where nothing was given."""
    if text is None:
        return ()
    try:
        found = tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError as error:
        raise InputError(f"{option}: cannot read {text!r} as numbers; write 1 or 1,3") from error
    return found
