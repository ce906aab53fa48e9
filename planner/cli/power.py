"""``plan power``: what jobs draw, learned from finished ones, and how well that would have done."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.options import JsonOption, QuietOption, ScenarioOption, SettingsOption
from planner.cli.terminal import aligned, say, say_json
from planner.errors import InputError
from planner.limits import RUN_DAYS, W_PER_CORE
from planner.runs.check_request import open_scenario, parse_day
from planner.units import utc_text

if TYPE_CHECKING:
    from planner.inputs.books.measured_power import Finished
    from planner.power.prediction_errors import ErrorLine
    from planner.scenario.schema import Scenario

app = typer.Typer(help="What jobs draw, learned from finished ones.", no_args_is_help=True)

FromOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--from",
        metavar="FILE",
        help="A table of finished jobs, or what sacct wrote, --json or -P; may be repeated; default: ask Slurm.",
    ),
]
DaysOption = Annotated[
    int | None,
    typer.Option(min=1, max=int(RUN_DAYS.high), help="Days to ask Slurm for, up to the last midnight; default: 30."),
]
OneNodeOption = Annotated[bool, typer.Option("--one-node", help="Leave out jobs of several nodes.")]

DAYS = 30
"""How many days Slurm is asked for."""

NOT_LEARNED = "power.learned=null"
"""What was learned before plays no part in learning anew: the scenario may name a file that is yet to be made."""


@app.callback()
def power() -> None:
    """What jobs draw, learned from finished ones."""


@app.command("learn")
def learn(
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="The file to write, for the key power.learned of a scenario.")
    ],
    files: FromOption = None,
    days: DaysOption = None,
    scenario: ScenarioOption = None,
    settings: SettingsOption = None,
    until: Annotated[
        str | None, typer.Option(metavar="YYYY-MM-DD", help="Only from jobs that ended before this day, also today.")
    ] = None,
    one_node: OneNodeOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Learn what jobs draw from finished jobs with their measured power: tables of them, or Slurm's accounts.

    Learns anew from all that is given; jobs that cannot be learned from are counted on stderr.

    Example: plan power learn --from finished.csv --out scenarios/power.json
    """
    import datetime as dt

    from planner.domain.horizon import Horizon
    from planner.power.learned import level_name
    from planner.runs.power_sources import learned_file, write_learned_power
    from planner.text_files import require_other

    require_other(out, "--out", *(files or ()))
    site = open_scenario(scenario, (*(settings or ()), NOT_LEARNED), slurm=True)
    until_unix = None if until is None else Horizon(parse_day(until, site.zone), site.zone).start_unix
    read = _read(files, days, site, until_unix, one_node, quiet=quiet)
    file = learned_file(read.finished, read.digests, dt.datetime.now(dt.UTC).isoformat(timespec="seconds"))
    write_learned_power(file, out)
    groups = {level_name(level): len(each) for level, each in enumerate(file.learned.groups) if each}
    if as_json:
        facts = {"file": str(out), "jobs": file.jobs, "left_out": dict(file.left_out), "groups": groups}
        say_json({**facts, "first_end_unix": file.first_end_unix, "last_end_unix": file.last_end_unix})
    if as_json or quiet:
        return
    first, last = utc_text(file.first_end_unix), utc_text(file.last_end_unix)
    say(f"learned from {file.jobs:,} jobs that ended from {first} to {last}")
    for name, count in groups.items():
        say(f"  {count:>9,} groups of the same {name}")
    say(f"\n  {out}")


@app.command("errors")
def errors(
    files: FromOption = None,
    days: DaysOption = None,
    scenario: ScenarioOption = None,
    settings: SettingsOption = None,
    constants: Annotated[
        list[float] | None,
        typer.Option("--w-per-core", min=W_PER_CORE.low, max=W_PER_CORE.high, help="A constant to compare with."),
    ] = None,
    skip_days: Annotated[
        int, typer.Option(min=0, max=int(RUN_DAYS.high), help="First days that are learned from but not counted.")
    ] = 1,
    one_node: OneNodeOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show how far learned power is from measured power, beside constants; writes nothing.

    Every job is predicted before it is learned from: on-line when it was submitted, day-ahead at the midnight before.

    Example: plan power errors --from finished.csv --w-per-core 9.5
    """
    from planner.inputs.jobs.power_models import constant_of, limits_of, per_core
    from planner.power.prediction_errors import compared

    site = open_scenario(scenario, (*(settings or ()), NOT_LEARNED), slurm=True)
    read = _read(files, days, site, None, one_node)
    finished, site = read.finished, read.site
    constant = constant_of(site.power, site.seed)
    others = {f"constant, {_named(site)}": constant}
    others |= {f"constant, {watts:g} W per core": per_core(watts) for watts in constants or ()}
    lines = compared(
        finished.jobs,
        zone=site.zone,
        limits=limits_of(site),
        constant=constant,
        others=others,
        skip_days=skip_days,
    )
    if not lines[0].errors.jobs:
        raise InputError(f"no job is left to predict after the first {skip_days} days; give more, or --skip-days 0")
    if as_json:
        say_json({"left_out": dict(finished.left_out), "lines": [line.as_dict() for line in lines]})
    else:
        say(errors_text(lines))


@dataclass(frozen=True)
class _Read:
    """Finished jobs, the SHA-256 of what they were read from by name, and the site with the nodes that they ran on."""

    finished: Finished
    digests: Mapping[str, str]
    site: Scenario


def _read(
    files: list[Path] | None,
    days: int | None,
    site: Scenario,
    until_unix: int | None,
    one_node: bool,
    *,
    quiet: bool = False,
) -> _Read:
    from planner.runs.power_sources import days_before, finished_jobs, live_sources, saved_sources, with_nodes
    from planner.slurm.commands import Slurm
    from planner.store.provenance import hashes

    if files and days is not None:
        raise InputError("--days is for Slurm, which is not asked where --from gives files; leave one of them out")
    if files:
        sources = saved_sources(files, site)
    else:
        last_unix = int(time.time()) if until_unix is None else until_unix
        sources = live_sources(days_before(last_unix, days or DAYS, site.zone), Slurm())
    site, machine = with_nodes(site, sources, Slurm())
    finished = finished_jobs(sources, site, machine, until_unix=until_unix, one_node=one_node)
    if not quiet:
        _tell(sources.repaired, "repaired")
        _tell(finished.left_out, "left out")
    return _Read(finished, {**sources.digests, **hashes(sources.files)}, site)


def _tell(counts: Counter[str], what: str) -> None:
    for reason, count in counts.most_common():
        say(f"{what}: {count:,} jobs: {reason}", err=True)


def _named(site: Scenario) -> str:
    if site.power.w_per_core is not None:
        return f"{site.power.w_per_core:g} W per core"
    low, high = site.power.draw_w_per_core or (0.0, 0.0)
    return f"drawn from {low:g} to {high:g} W per core"


def errors_text(lines: list[ErrorLine]) -> str:
    """The lines as a table for people."""
    heads = ["predictor", "jobs", "MAE [W]", "median error", "R2", "bias"]
    rows = []
    for line in lines:
        said = line.errors
        rows.append(
            [
                f"  {line.predictor}: {line.level}" if line.level else line.predictor,
                f"{said.jobs:,}",
                _shown(said.mae_w, "{:,.1f}"),
                _shown(said.median_relative, "{:.0%}"),
                _shown(said.r2, "{:.2f}"),
                _shown(said.bias, "{:+.1%}"),
            ]
        )
    return "\n".join(aligned([heads, *rows]))


def _shown(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)
