"""``plan savings``: what a month would have cost with its jobs held for cheaper hours, from its accounts alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli.options import JsonOption, NoRemarksOption
from planner.cli.terminal import Progress, listed, say, say_json, table_text
from planner.errors import InputError
from planner.limits import W_PER_CORE


def savings(
    sacct: Annotated[
        Path, typer.Option(metavar="FILE", help="What sacct has written, text or JSON, or a table of jobs that ran.")
    ],
    prices: Annotated[Path, typer.Option(metavar="FILE", help="Table of electricity prices over time.")],
    weather: Annotated[
        Path | None, typer.Option(metavar="FILE", help="EPW, TMY3, Open-Meteo or CSV; without it PUE is constant.")
    ] = None,
    unit: Annotated[str, typer.Option(metavar="UNIT", help="Of the prices: EUR/MWh, EUR/kWh, ct/kWh.")] = "EUR/MWh",
    zone: Annotated[str, typer.Option(metavar="ZONE", help="Of times without one, such as Europe/Paris.")] = "UTC",
    pue: Annotated[
        str | None, typer.Option(metavar="NUMBER|FILE", help="A PUE, or a PUE table; default: air cooling, or 1.4.")
    ] = None,
    carbon: Annotated[
        str | None, typer.Option(metavar="NUMBER|FILE", help="CO2 of bought electricity: g/kWh, or a table over time.")
    ] = None,
    watts: Annotated[
        float,
        typer.Option("--w-per-core", min=0.01, max=W_PER_CORE.high, help="Of jobs whose energy was not measured."),
    ] = 10.0,
    cores: Annotated[int | None, typer.Option(min=1, help="Size of the machine; default: what jobs ran on.")] = None,
    hours: Annotated[list[str] | None, typer.Option(metavar="LIST", help="How long jobs may be held: 2,6,24.")] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where results go, below OUT/savings.")] = Path("reports"),
    as_json: JsonOption = False,
    quiet: NoRemarksOption = False,
) -> None:
    """What would last month have cost with jobs held for cheaper hours? Nothing needs to be set up.

    Example: plan savings --sacct month.txt --prices prices.csv --weather weather.epw --zone Europe/Paris
    """
    for path in (sacct, prices, weather):
        if path is not None and not path.is_file():
            raise InputError(f"{path}: there is no such file")
    from planner.inputs.books.month_that_ran import read_month
    from planner.runs.savings import HOURS, SavingsInputs, month_savings

    promised = HOURS if hours is None else _hours(listed(hours, ""))
    given = SavingsInputs(prices, unit, weather, _number_or_file(pue), _number_or_file(carbon), zone)
    with Progress("savings", quiet=quiet) as bar:
        bar.doing("reading jobs")
        month = read_month(sacct, zone=zone, w_per_core=watts, cores=cores)
        found = month_savings(month, given, out, hours=promised, on_step=bar.doing)
    if as_json:
        say_json(found.content)
        return
    from textwrap import fill

    from planner.cli.compare import wait_text

    say(fill(found.content["answer"], 80) + "\n")
    lines = [
        {
            "run": row["run"],
            "energy cost": f"{row['energy_cost_eur']:,.2f}",
            "saved %": "-" if row["saved_percent"] is None or not row["max_delay_h"] else f"{row['saved_percent']:.2f}",
            "at most %": "-" if row["limit_percent"] is None else f"{row['limit_percent']:.2f}",
            "CO2, kg": f"{row['carbon_kg']:,.0f}" if row["carbon_kg"] else "-",
            "mean wait": wait_text(row["mean_wait_s"]),
            "95 % up to": wait_text(row["wait95_s"]),
        }
        for row in found.content["runs"]
    ]
    say(table_text(lines) + "\n")
    for line in found.content["assumed"]:
        say(fill(f"{line}.", 80, subsequent_indent="  "))
    say(f"\n{found.folder}")


def _hours(texts: list[str]) -> tuple[int, ...]:
    if not texts or not all(text.isdecimal() and len(text) < 9 and 1 <= int(text) <= 24 * 7 for text in texts):
        raise InputError(f"--hours: cannot read {','.join(texts)!r}; write whole hours from 1 to 168, such as 2,6,24")
    return tuple(int(text) for text in texts)


def _number_or_file(text: str | None) -> float | Path | None:
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        path = Path(text)
        if not path.is_file():
            raise InputError(f"{text} is neither a number nor a file") from None
        return path
