"""``plan study dispatchers``: dispatchers for large machines with node classes, published figures beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner import defaults
from planner.bounds import DISPATCH_STEPS, EVALUATIONS, QUEUE_JOBS, QUEUE_NODES
from planner.cli.day import NoRemarksOption, open_scenario, solve_time
from planner.cli.simulate import require_engines
from planner.cli.study import show_study
from planner.cli.study_output import named_or_all
from planner.cli.terminal import TaskBar
from planner.errors import InputError
from planner.online.search_options import USUAL_SEARCH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from planner.bounds import Bounds

MOST_WORKERS = 2
PARTS = ("replays", "queues")


def dispatchers(
    jobs: Annotated[
        list[Path] | None, typer.Argument(metavar="[JOBS]...", help="Jobs to replay: CSV, Parquet or SWF.")
    ] = None,
    scenario: Annotated[
        str, typer.Option("--scenario", "-s", help="The machine of all jobs, or by commas one for each file.")
    ] = "eurora",
    policies: Annotated[
        str | None, typer.Option("--policies", "-p", metavar="LIST", help="By commas; default all of the study.")
    ] = None,
    estimates: Annotated[str | None, typer.Option("--estimates", "-e", metavar="LIST", help="By commas.")] = None,
    first: Annotated[int | None, typer.Option("--jobs", min=1, help="Only the first jobs of each file.")] = None,
    engine: Annotated[
        str, typer.Option(metavar="NAME", help="CP engine of hcp19 and pcp19; see `plan show engines`.")
    ] = defaults.ROUND_ENGINE,
    time_limit: Annotated[
        str, typer.Option(metavar="TIME", help="What it gets in a dispatch at first; up to 16 times that.")
    ] = f"{defaults.ROUND_TIME_S:g}s",
    dispatch_steps: Annotated[
        int,
        typer.Option(min=1, max=int(DISPATCH_STEPS.high), help="Steps of pcp21 and pcp21s in a dispatch, at first."),
    ] = defaults.DISPATCH_STEPS,
    evaluations: Annotated[
        int, typer.Option(min=0, max=int(EVALUATIONS.high), help="Orders that order-... tries per waiting job.")
    ] = USUAL_SEARCH.evaluations,
    cell_time: Annotated[
        str, typer.Option(metavar="TIME", help="CPU time after which a replay is stopped, and shown as such.")
    ] = "10m",
    part: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="replays, queues (made-up ones), or both by commas; both is the default."),
    ] = None,
    nodes: Annotated[
        str | None, typer.Option(metavar="LIST", help="Sizes of the machines of made-up queues, by commas.")
    ] = None,
    queues: Annotated[str | None, typer.Option(metavar="LIST", help="Lengths of made-up queues, by commas.")] = None,
    workers: Annotated[int, typer.Option(min=1, max=MOST_WORKERS, help="Processes side by side.")] = 1,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start anew instead of going on.")] = False,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where results go, below OUT/studies/dispatchers.")] = Path(
        "reports"
    ),
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables for a document.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    quiet: NoRemarksOption = False,
) -> None:
    """Dispatchers for large machines with node classes: slowdown, waits, and what a dispatch takes.

    Replays of the same jobs under each of them, beside the papers of 2019 and 2021, and made-up queues on machines that
    grow. An interrupted study goes on where it stopped.

    Examples: plan study dispatchers replay.csv kit.csv -s eurora,kit-forhlr2 -e actual --jobs 1000;
    plan study dispatchers --part queues
    """
    from planner.domain.result import Trial
    from planner.online.estimates import estimate_named
    from planner.online.policies import policy_named
    from planner.studies.dispatchers.cells import ESTIMATES, NODES, POLICIES, QUEUES, Limits
    from planner.studies.dispatchers.run import Study
    from planner.studies.dispatchers.show import queue_lines, replay_lines
    from planner.studies.operation.tables import group_title, groups_of
    from planner.studies.trace_files import trace_files

    wanted = list(dict.fromkeys(policy_named(name) for name in named_or_all(policies, POLICIES)))
    believed = list(dict.fromkeys(estimate_named(name).name for name in named_or_all(estimates, ESTIMATES)))
    parts = _parts(part, has_jobs=bool(jobs))
    limits = Limits(
        engine,
        solve_time(time_limit, "--time-limit"),
        dispatch_steps,
        evaluations,
        solve_time(cell_time, "--cell-time"),
    )
    for policy in wanted:
        if policy.needs_prices:
            raise InputError(f"policy {policy.name!r} plans for money, and this study has no prices")
    require_engines(wanted, engine)
    paths = trace_files(jobs or ()) if "replays" in parts else []
    names = _machines(scenario, len(paths))
    trials = [Trial(path, open_scenario(name, ())) for path, name in zip(paths, names, strict=True)]
    folder = out.resolve() / "studies" / "dispatchers"
    grows = "queues" in parts
    study = Study(
        trials,
        folder,
        [policy.name for policy in wanted],
        believed,
        limits,
        first,
        _sizes(nodes, NODES, "--nodes", QUEUE_NODES) if grows else (),
        _sizes(queues, QUEUES, "--queues", QUEUE_JOBS) if grows else (),
        workers,
    )
    with TaskBar("dispatchers", study.cell_count(), quiet=quiet) as bar:
        replays, made_up = study.run(fresh=fresh, on_done=bar.advance)
    titled = {group_title(group[0]): replay_lines(group) for group in groups_of(replays)}
    if made_up:
        titled["One dispatch of made-up queues"] = queue_lines(made_up)
    content = {"replays": replays, "queues": made_up}
    show_study(folder / "dispatchers.md", content, titled, as_json=as_json, markdown=markdown)


def _parts(text: str | None, *, has_jobs: bool) -> list[str]:
    """The parts that are asked for; without jobs only made-up queues are there to be asked for."""
    parts = named_or_all(text, PARTS if has_jobs else ("queues",))
    unknown = next((name for name in parts if name not in PARTS), None)
    if unknown is not None or not parts:
        raise InputError(f"unknown part {unknown or ''!r} of the study; known: {', '.join(PARTS)}")
    if "replays" in parts and not has_jobs:
        raise InputError("nothing to replay; give a file of jobs, or --part queues")
    return parts


def _machines(text: str, count: int) -> list[str]:
    """A scenario for each file."""
    names = named_or_all(text, ())
    if len(names) == 1:
        return names * count
    if len(names) != count:
        raise InputError(f"--scenario names {len(names)} machines for {count} files of jobs; name one, or one for each")
    return names


def _sizes(text: str | None, usual: Sequence[int], option: str, bounds: Bounds) -> list[int]:
    try:
        sizes = [int(each) for each in named_or_all(text, [str(size) for size in usual])]
    except ValueError as error:
        raise InputError(f"{option}: cannot read {text!r} as whole numbers; write 64,300") from error
    for size in sizes:
        bounds.require(option, size)
    return list(dict.fromkeys(sizes))
