"""``plan table``: PUE tables from a plant's nameplate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli.terminal import say
from planner.errors import InputError
from planner.limits import TABLE_C, TABLE_KW, TABLE_STEP_C, TABLE_W

USUAL_KW = 150.0
_PICTURES = (".png", ".svg", ".pdf")

app = typer.Typer(help="PUE tables from a cooling plant's nameplate data.", no_args_is_help=True)


@app.callback()
def table() -> None:
    """PUE tables from a cooling plant's nameplate data."""


@app.command("build")
def build(
    out: Annotated[Path, typer.Option(metavar="FILE", help="The CSV to write.")],
    plant: Annotated[
        str, typer.Option(metavar="NAME", help="air, hybrid, or a YAML file of nameplate values.")
    ] = "air",
    max_power_kw: Annotated[
        float | None,
        typer.Option(
            min=TABLE_KW.low,
            max=TABLE_KW.high,
            help="IT power that the rows reach; what a plant is built for whose file does not say so.  [default: what"
            " the plant is built for, else 150]",
        ),
    ] = None,
    power_step_w: Annotated[int, typer.Option(min=1, max=int(TABLE_W.high), help="Step of the rows.")] = 500,
    first_c: Annotated[
        float, typer.Option(min=TABLE_C.low, max=TABLE_C.high, help="Outside temperature of the first column.")
    ] = -20.0,
    last_c: Annotated[
        float, typer.Option(min=TABLE_C.low, max=TABLE_C.high, help="Outside temperature that the columns reach.")
    ] = 45.0,
    step_c: Annotated[
        float, typer.Option(min=TABLE_STEP_C.low, max=TABLE_STEP_C.high, help="Step of the columns.")
    ] = 5.0,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also draw the table: a .png, .svg or .pdf.")
    ] = None,
) -> None:
    """Build the PUE table of a cooling plant: cooling energy per IT energy, by IT power and outside temperature."""
    if max_power_kw is not None:
        TABLE_KW.require("--max-power-kw", max_power_kw)  # a range of the parser lets NaN pass

    from planner.cooling.plant import build_table, load_plant, temperatures_between
    from planner.inputs.pue_csv import pue_table_text
    from planner.store.folder import write_file, write_text
    from planner.text_files import require_other

    require_other(out, "--out", plant)
    if picture is not None and picture.suffix.lower() not in _PICTURES:
        raise InputError(f"{picture}: cannot draw this kind of picture; its name must end in {', '.join(_PICTURES)}")
    if picture is not None:
        require_other(picture, "--picture", out, plant)
    chosen = load_plant(plant, design_power_w=1000 * (USUAL_KW if max_power_kw is None else max_power_kw))
    most_w = chosen.design_power_w if max_power_kw is None else max_power_kw * 1000
    made = build_table(
        chosen,
        name=out.stem,
        max_power_w=most_w,
        power_step_w=power_step_w,
        temperatures=temperatures_between(first_c, last_c, step_c),
    )
    drawn = None
    if picture is not None:
        from planner.cooling.picture import picture_of

        title = f"{chosen.name} cooling, {chosen.design_power_w / 1000:g} kW"
        drawn = picture_of(made, picture.suffix.lower().removeprefix("."), title=title)
    write_text(
        out, pue_table_text(made, f"plant: {chosen.name}, built for {chosen.design_power_w / 1000:g} kW of IT power")
    )
    say(out)
    if picture is not None and drawn is not None:
        write_file(picture, drawn)
        say(picture)
