"""``plan study curie23``: the published experiment on 23 days of CEA Curie."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from planner import defaults
from planner.cli import day
from planner.cli.compare import AddressOption, BackendOption, ProcessesOption, TaskBar
from planner.cli.terminal import say, say_json
from planner.units import parse_duration

BOUND_TIME = f"{defaults.STUDY_BOUND_TIME_S:g}s"


def curie23(
    context: typer.Context,
    days: Annotated[int, typer.Option(min=1, max=23, help="Days of submissions.")] = 23,
    scenarios: Annotated[str | None, typer.Option(help="By commas; default all four.")] = None,
    methods: Annotated[str | None, typer.Option(help="By commas; default all of `plan show methods`.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder of the traces; default PLANNER_DATA.")] = None,
    time_limit: Annotated[str, typer.Option(help="Per day, of cp, relaxation and delay: 30s, 5m.")] = day.TIME_LIMIT,
    bound_time: Annotated[str, typer.Option(help="Per day, for the bound; 0 leaves it out.")] = BOUND_TIME,
    bounded: Annotated[str, typer.Option(help="Methods whose days get a bound, by commas.")] = "harvest",
    iterations: day.IterationsOption = None,
    trace_cores: Annotated[
        int, typer.Option(min=9600, help="Cores of the traced machine, from which jobs are scaled.")
    ] = 93_312,
    out: Annotated[Path, typer.Option(help="Where results go, below OUT/studies/curie23.")] = Path("reports"),
    processes: ProcessesOption = 0,
    backend: BackendOption = "processes",
    address: AddressOption = None,
    picture: Annotated[bool, typer.Option(help="Draw the curves, where matplotlib is installed.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    quiet: day.NoRemarksOption = False,
) -> None:
    """Four scenarios by every rule and search over 23 days of CEA Curie, with the published figures beside ours.

    An interrupted study goes on where it stopped.

    A slice of it: plan study curie23 --days 3 --scenarios air-summer --methods est,multisearch
    """
    from planner.methods import METHODS
    from planner.runs.fanout import Engine
    from planner.studies.curie23 import SCENARIOS, StudyChoice, run_study

    choice = StudyChoice(
        days=days,
        scenarios=_listed(scenarios) or SCENARIOS,
        methods=_listed(methods) or tuple(METHODS),
        time_limit_s=parse_duration(time_limit),
        bound_time_s=parse_duration(bound_time),
        iterations=iterations or defaults.ITERATIONS,
        bounded=_listed(bounded),
        trace_cores=trace_cores,
    )
    with TaskBar("curie23", len(choice.scenarios) * len(choice.methods), quiet=quiet) as bar:
        found = run_study(
            choice,
            data,
            out,
            engine=Engine(backend, address, processes),
            command=tuple(context.obj or ()),
            on_done=lambda task: bar.advance(task.name),
        )
    if picture:
        _draw(found.folder, choice.scenarios, days)
    if as_json:
        say_json({"runs": found.runs, "published": found.published})
        return
    for scenario in choice.scenarios:
        here = [row for row in found.runs if row["scenario"] == scenario]
        say(f"{scenario}\n{_runs_text(here, days)}\n")
    say(_published_text(found.published))
    say(f"\n{found.folder}")


def _runs_text(rows: Sequence[dict[str, Any]], days: int) -> str:
    lines = [
        f"{'method':<14}{f'profit day {days}':>14}{'over rule':>11}{'use %':>7}{'days':>8}{'PUE':>7}"
        f"{'gap %':>7}{'s/day':>8}"
    ]
    for row in rows:
        gap = "" if row["bound_eur"] is None else f"{100 * (1 - row['profit_eur'] / row['bound_eur']):.2f}"
        over = "" if row["over_best_rule_percent"] is None else f"{row['over_best_rule_percent']:+.2f} %"
        lines.append(
            f"{row['method']:<14}{row['profit_eur']:>14,.2f}{over:>11}{100 * row['utilisation_fraction']:>7.1f}"
            f"{row['makespan_days']:>8.2f}{row['pue']:>7.3f}{gap:>7}{row['solve_s_per_day']:>8.2f}"
        )
    return "\n".join(lines)


def _published_text(rows: Sequence[dict[str, Any]]) -> str:
    from planner.studies.published import CURIE23_IMPROVED, CURIE23_OVER_CP

    lines = [f"{'best search over best rule':<44}{'ours':>9}{'published':>11}"]
    for row in rows:
        pair = f"{row['scenario']}: {row['best_search']} over {row['best_rule']}"
        percent = row["over_best_rule_percent"]
        ours = "" if percent is None else f"{percent:+.2f} %"
        lines.append(f"{pair[:43]:<44}{ours:>9}{row['published_percent']:>+9.2f} %")
    lines += [f"{row['scenario'] + ': PUE':<44}{row['pue']:>9.3f}{row['published_pue']:>11.2f}" for row in rows]
    for row in rows:
        shorter = "" if row["days_shorter"] is None else f"{row['days_shorter']:.2f}"
        lines.append(f"{row['scenario'] + ': days shorter':<44}{shorter:>9}{row['published_days_shorter']:>11}")
    least, most = CURIE23_OVER_CP
    for row in rows:
        if row["over_cp_percent"] is not None:
            title, ours = f"{row['scenario']}: over the engine's default search", row["over_cp_percent"]
            lines.append(f"{title:<44}{f'{ours:+.2f} %':>9}{f'{least} to {most} %':>16}")
        for method, said in CURIE23_IMPROVED.items():
            if (days := row[f"{method}_improves_percent"]) is not None:
                title = f"{row['scenario']}: days that {method} improves"
                lines.append(f"{title:<44}{f'{days:.1f} %':>9}{f'{said} %':>11}")
    return "\n".join(lines)


def _listed(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def _draw(folder: Path, scenarios: Sequence[str], days: int) -> None:
    import importlib.util

    if importlib.util.find_spec("matplotlib") is None:
        return
    from planner.methods import RULES
    from planner.studies.curves import draw_curves

    for scenario in scenarios:
        table = folder / f"cumulative-{scenario}.csv"
        draw_curves(table, table.with_suffix(".png"), title=scenario, rules=RULES, day=days)
