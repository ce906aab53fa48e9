"""``plan compare``: scenarios and methods over the same days, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any

import typer

from planner import defaults
from planner.cli import options, tab_key
from planner.cli.terminal import DayBar, listed, say, say_json
from planner.errors import InputError
from planner.limits import WORKERS
from planner.runs.check_request import asked_runs, params_of, parse_day
from planner.units import clock

BackendOption = Annotated[
    str, typer.Option(metavar="processes|dask", help="Where runs are planned: processes of this machine, or dask.")
]
AddressOption = Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Scheduler of --backend dask.")]
ProcessesOption = Annotated[
    int, typer.Option(min=0, max=int(WORKERS.high), help="Runs side by side; 0 is one per core.")
]

COLUMNS = 3
"""Runs beside EASY in one block, so that a line has at most 80 characters."""


def wait_text(seconds: float) -> str:
    """A wait as people say it."""
    return clock(seconds) if seconds else "0"


def _difference(value: float, *, digits: int, unit: str = "") -> str:
    """A difference with its sign; a dash where there is none to see."""
    if not round(value, digits):
        return "-"
    return f"{value:+,.{digits}f}{unit}"


_more = partial(_difference, digits=2)
_percent_more = partial(_difference, digits=2, unit=" %")
_LINES: tuple[tuple[str, str, Callable[[Any], str], str], ...] = (
    ("profit", "profit_eur", lambda v: f"{v:,.2f}", ""),
    ("  against EASY", "saved_eur", _more, ""),
    ("  in percent", "saved_percent", _percent_more, ""),
    ("  of it volume", "saved_volume_eur", _more, "saved_volume_eur"),
    ("", "profit_difference_eur", _more, "profit_difference_eur"),
    ("  in percent", "profit_difference_percent", _percent_more, "profit_difference_percent"),
    ("revenue", "revenue_eur", lambda v: f"{v:,.2f}", ""),
    ("energy cost", "energy_cost_eur", lambda v: f"{v:,.2f}", ""),
    ("  saved", "saved_energy_cost_eur", _more, ""),
    ("  of it cooling", "cooling_cost_eur", lambda v: f"{v:,.2f}", ""),
    ("energy, kWh", "kwh", lambda v: f"{v:,.0f}", ""),
    ("  saved", "saved_kwh", partial(_difference, digits=0), ""),
    ("  of it cooling", "cooling_kwh", lambda v: f"{v:,.0f}", ""),
    ("  of it fees", "fees_eur", lambda v: f"{v:,.2f}", "fees_eur"),
    ("fed in", "feed_in_eur", lambda v: f"{v:,.2f}", "feed_in_eur"),
    ("battery", "battery_eur", lambda v: f"{v:+,.2f}", "battery_eur"),
    ("own solar, kWh", "solar_kwh", lambda v: f"{v:,.0f}", "solar_kwh"),
    ("  curtailed", "curtailed_kwh", lambda v: f"{v:,.0f}", "curtailed_kwh"),
    ("nodes asleep, h", "asleep_h", lambda v: f"{v:,.0f}", "asleep_h"),
    ("CO2, kg", "carbon_kg", lambda v: f"{v:,.0f}", "carbon_kg"),
    ("  saved", "saved_carbon_kg", partial(_difference, digits=0), "carbon_kg"),
    ("PUE", "pue", lambda v: f"{v:.3f}", ""),
    ("utilisation", "utilisation_fraction", lambda v: f"{100 * v:.1f} %", ""),
    ("makespan, h", "makespan_h", lambda v: f"{v:,.1f}", ""),
    ("jobs started", "started", lambda v: f"{v:,}", ""),
    ("still waiting", "deferred", lambda v: f"{v:,}", ""),
    ("mean wait", "mean_wait_s", wait_text, ""),
    ("  of which still wait", "still_waiting", lambda v: f"{v:,}", "still_waiting"),
    ("95 % wait up to", "wait95_s", wait_text, ""),
    ("jobs delayed", "delayed", lambda v: f"{v:,}", ""),
    ("  longest", "longest_delay_s", wait_text, ""),
    ("  broken promises", "broken_promises", lambda v: f"{v:,}", ""),
    ("deadlines missed", "missed_deadlines", lambda v: f"{v:,}", "missed_deadlines"),
    ("limit on profit", "bound_eur", lambda v: f"{v:,.2f}", "bound_eur"),
    ("no plan found on", "days_without_plan", lambda v: f"{v:,} days", "days_without_plan"),
)
"""Label, column, how it is written, and a column that must not be 0 everywhere; none is shown that no run has."""


def compare(
    context: typer.Context,
    scenarios: Annotated[
        list[str],
        typer.Argument(metavar="SCENARIO...", help="Names or files of scenarios.", autocompletion=tab_key.scenarios),
    ],
    date: options.DayOption = None,
    first: options.FirstOption = None,
    last: options.LastOption = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "-m",
            metavar="NAME",
            help="Repeated, or by commas; none: policies alone, which is quick over a year.",
            autocompletion=tab_key.methods,
        ),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            "-p",
            metavar="NAME",
            autocompletion=tab_key.policies,
            help="Replayed on the same jobs beside EASY: hold, list, ...; repeated, or by commas.",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Scenario whose runs those of others are held against, or SCENARIO:METHOD, one run for all as well;"
            " default the first.",
        ),
    ] = None,
    carbon_weights: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="What a tonne of CO2 counts in the plans, by commas: 0,50,200. Each scenario is planned with each"
            " (goal.carbon_weight): the curve of money against CO2.",
        ),
    ] = None,
    waiting: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="What an hour of waiting counts in the plans, by commas: 0,0.003,0.01,0.03. Each scenario is planned"
            " with each (goal.waiting): the frontier of money and waits, with EASY as a point.",
        ),
    ] = None,
    members: Annotated[
        bool, typer.Option("--members", help="Also settle the plans under each member of the forecasts.")
    ] = False,
    invest: Annotated[
        float | None,
        typer.Option(
            metavar="EUR", min=0, help="What the other scenarios cost to have: after how many years it has paid."
        ),
    ] = None,
    time_limit: options.TimeLimitOption = options.TIME_LIMIT,
    seed: options.SeedOption = None,
    jobs: options.JobsOption = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where results go, below OUT/compare.")] = Path("reports"),
    settings: options.SettingsOption = None,
    engine: options.EngineOption = None,
    iterations: options.IterationsOption = None,
    bound_time: options.BoundTimeOption = "0",
    processes: ProcessesOption = 0,
    backend: BackendOption = "processes",
    address: AddressOption = None,
    as_json: options.JsonOption = False,
    quiet: options.NoRemarksOption = False,
) -> None:
    """Plan the same days in several scenarios, by one or more methods, and set the results beside EASY.

    Example: plan compare air-summer hybrid-summer air-winter hybrid-winter --from 2024-06-01 --to 2024-06-07
    """
    first, last = _days(date, first, last)
    limit_s, bound_s = options.solve_time(time_limit, "--time-limit"), options.solve_time(bound_time, "--bound-time")

    methods = listed(method, defaults.METHOD)
    methods = [] if methods == ["none"] else methods
    curves = [None if given is None else listed([given], "") for given in (carbon_weights, waiting)]
    opened, policies = asked_runs(scenarios, methods, listed(policy, "easy"), settings or (), seed, jobs, *curves)
    from_day, to_day = parse_day(first, opened[0].zone), parse_day(last, opened[0].zone)

    from planner.runs.compare import compare_runs
    from planner.runs.parallel_calls import TaskEngine

    how = params_of(
        opened[0],
        method=methods[0] if methods else defaults.METHOD,
        time_limit_s=limit_s,
        iterations=iterations,
        engine=engine,
        bound_time_s=bound_s,
        command=context.obj or (),
        page=False,
        baselines=False,
    )
    with DayBar("comparing", quiet=quiet) as bar:
        done = compare_runs(
            opened,
            methods,
            from_day,
            to_day,
            out,
            how=how,
            policies=policies,
            baseline=baseline,
            by_member=members,
            invest_eur=invest,
            engine=TaskEngine(backend, address, processes),
            on_pace=bar.pace,
        )
    found = done.content
    if bar.kept and not quiet:
        days = sum(row["days"] for row in found["runs"] if row["kind"] == "plan")
        say(f"went on with an earlier comparison: {bar.kept:,} of {days:,} planned days were there and kept", err=True)
    if as_json:
        say_json(found)
        return
    span = f"{from_day}" if from_day == to_day else f"{from_day} to {to_day}"
    for sentence in found["answer"]:
        say(fill(sentence, 80))
    about = _bases_told(found["baseline"], len(opened))
    say("\n" + fill(f"{span}, in {found['currency']}{about}", 80) + "\n")
    if found["pairs"]:
        say(pairs_text(found["pairs"]) + "\n")
    say(compare_text(found["runs"], found["baseline"]))
    if curve := carbon_text(found["runs"]):
        say("\n" + curve)
    if frontier := waiting_text(found["runs"]):
        say("\n" + frontier)
    if "members" in found:
        say("\n" + members_text(found["members"]))
    say("\n" + "\n".join(found["notes"]))
    say(f"\n{_near(done.folder)}")


def pairs_text(pairs: Sequence[dict[str, Any]]) -> str:
    """What each pair differs by, and what that is made of; a block for each scenario, at most 80 characters wide."""
    blocks = []
    for name in dict.fromkeys(pair["scenario"] for pair in pairs):
        own = [pair for pair in pairs if pair["scenario"] == name]
        for k in range(0, len(own), COLUMNS + 1):
            blocks.append(_pair_block(own[k : k + COLUMNS + 1]))
    return "\n\n".join(blocks)


def _pair_block(pairs: Sequence[dict[str, Any]]) -> str:
    first = pairs[0]
    alone = first["scenario"] == first["against_scenario"]
    title = "more than EASY" if alone else f"{first['scenario']} less {first['against_scenario']}"
    if not alone and first["same_schedule_eur"] is None:
        title = _cut(f"{title} ({first['differs_in']})", 80)
    lines: list[list[str]] = [["", *(_run_name(pair) for pair in pairs)]]

    def line(label: str, key: str) -> None:
        if any(pair.get(key) is not None for pair in pairs):
            lines.append([label, *("-" if pair[key] is None else f"{pair[key]:+,.2f}" for pair in pairs)])

    line("more profit", "more_eur")
    if not alone:
        line(f"  {first['differs_in']}", "same_schedule_eur")
    line("  start times", "start_times_eur")
    line("  volume", "volume_eur")
    if first["days"] > 1:
        line("lowest day", "lowest_day_eur")
        line("median day", "median_day_eur")
        line("highest day", "highest_day_eur")
    line("lowest member", "lowest_member_eur")
    line("highest member", "highest_member_eur")
    line("a year like this", "year_eur")
    if "payback_years" in first:
        lines.append(
            [
                "payback, years",
                *("never" if p["payback_years"] is None else f"{p['payback_years']:,.1f}" for p in pairs),
            ]
        )
    return "\n".join([title, *(_columns(*each) for each in lines)])


def _run_name(row: dict[str, Any]) -> str:
    return "EASY" if row["kind"] == "policy" and row["method"] == "easy" else str(row["method"])


def _columns(label: str, *cells: str) -> str:
    return f"{_cut(label, 18):<18}" + "".join(f"{_cut(cell):>15}" for cell in cells)


def compare_text(runs: Sequence[dict[str, Any]], baseline: str) -> str:
    """The runs in columns, a block or more per scenario, each with EASY first; at most 80 characters per line.

    Each is held against its like in another scenario, or against the one run that the baseline names.
    """
    several = len({row["scenario"] for row in runs}) > 1
    against = "against baseline" if ":" in baseline else "like with like" if several else ""
    blocks = []
    for scenario in dict.fromkeys(row["scenario"] for row in runs):
        rows = [row for row in runs if row["scenario"] == scenario]
        head = next((row for row in rows if row["kind"] == "policy"), rows[0])
        others = [row for row in rows if row is not head]
        for k in range(0, len(others) or 1, COLUMNS):
            blocks.append(_block([head, *others[k : k + COLUMNS]], against=against))
    return "\n\n".join(blocks)


def waiting_text(runs: Sequence[dict[str, Any]]) -> str:
    """The frontier of money and waits, a line for each price of waiting and for EASY; nothing where none were asked."""
    from planner.pages.compare import waiting_curves

    lines = []
    for name, points in waiting_curves(runs).items():
        lines += ["", f"{name}: what an hour of waiting counts, profit, and the mean wait"]
        lines += [f"  {each.label:>8} {each.profit_eur:>14,.2f}   {wait_text(each.mean_wait_s)}" for each in points]
    return "\n".join(lines[1:])


def carbon_text(runs: Sequence[dict[str, Any]]) -> str:
    """Money against CO2, a line for each weight; nothing where none were asked for."""
    from planner.pages.compare import carbon_curves

    lines = []
    for name, points in carbon_curves(runs).items():
        lines += ["", f"{name}: what a tonne counts, profit, CO2 in kg, and what a tonne less has cost"]
        for point in points:
            cost = "" if point.eur_per_tonne is None else f"{point.eur_per_tonne:,.0f} per tonne"
            lines.append(f"  {point.price:>8g} {point.profit_eur:>14,.2f} {point.carbon_kg:>12,.1f}   {cost}".rstrip())
    return "\n".join(lines[1:])


def members_text(rows: Sequence[dict[str, Any]]) -> str:
    """What the plans come to under each member of their forecasts, a block per run."""
    blocks = []
    for run in dict.fromkeys((row["scenario"], row["method"]) for row in rows):
        lines = [("by member", "profit", "more", "energy cost", "cooling, kWh")]
        lines += [
            (
                row["member"] if row["forecast"] == "mean" else f"{row['forecast']} {row['member']}",
                f"{row['profit_eur']:,.2f}",
                _difference(row["profit_difference_eur"], digits=2),
                f"{row['energy_cost_eur']:,.2f}",
                f"{row['cooling_kwh']:,.0f}",
            )
            for row in rows
            if (row["scenario"], row["method"]) == run
        ]
        table = [f"{_cut(label, 24):<24}" + "".join(f"{_cut(cell):>14}" for cell in cells) for label, *cells in lines]
        blocks.append("\n".join([f"{run[0]}, {run[1]}: the same plan under each member of the forecast", *table]))
    return "\n\n".join(blocks)


def _block(rows: Sequence[dict[str, Any]], *, against: str) -> str:
    lines = [[rows[0]["scenario"], *(_run_name(row) for row in rows)]]
    for label, key, text, needs in _LINES:
        is_there = any(row[key] is not None for row in rows) and (not needs or any(row[needs] for row in rows))
        if is_there and (against or not key.startswith("profit_difference")):
            lines.append([label or f"  {against}", *("-" if row[key] is None else text(row[key]) for row in rows)])
    return "\n".join(_columns(*each) for each in lines)


def _bases_told(baseline: str, scenarios: int) -> str:
    """What runs are held against, in words: their like in the scenario of the baseline, and the run that it names."""
    scenario, _, method = baseline.partition(":")
    words = f"; like with like is against the same run of {scenario}" if scenarios > 1 else ""
    named = "EASY" if method == "easy" else method
    return words + (f"; the baseline is {named} of {scenario}" if method else "")


def _cut(text: str, width: int = 14) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _days(date: str | None, first: str | None, last: str | None) -> tuple[str, str]:
    """The first and the last day as they were written, each one that can be a day."""
    options.require_days(date, first, last)
    if date is not None and first is None and last is None:
        return date, date
    if date is None and first is not None and last is not None:
        return first, last
    raise InputError("say which days to compare: --day 2024-06-01, or --from 2024-06-01 --to 2024-06-07")


def _near(path: Path) -> str:
    """A path as the user would write it from here."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
