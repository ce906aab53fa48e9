"""Reads and writes PUE tables as CSV: rows of IT power, columns of outside temperature."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from planner import limits
from planner.domain.intake import Intake
from planner.domain.pue_table import PueTable
from planner.errors import FileFormatError
from planner.inputs.csv_lines import short_lines
from planner.scenario.words import CoolingLookup
from planner.text_files import open_text
from planner.units import MILLI

POWER_COLUMN = "it_power_w"
POWER_COLUMNS = {POWER_COLUMN: 1, "it_power_kw": 1000}
"""What the first column may be called, with the watts of its unit."""
CELLS = {"cooling": 0.0, "pue": 1.0}
"""What cells may hold, with what they are above cooling energy per IT energy."""
_ROWS = replace(limits.TABLE_ROWS, low=0)
_COLUMNS = replace(limits.TABLE_COLUMNS, low=0)
_POWERS = replace(limits.TABLE_W, low=-limits.TABLE_W.high)
"""Those below 0 have a message of their own."""


def read_pue_table(path: Path | str) -> tuple[PueTable, Intake]:
    """Read a PUE table.

    The file may open with ``# key: value`` lines: ``clamp`` (true or false) says what happens outside the
    table, ``name`` names it (else the file's name does), others are kept as notes. Then comes a header
    ``it_power_w,-10,-5,0,...`` with outside temperatures in even steps [C], then one row per IT power in even
    steps [W], or [kW] under ``it_power_kw``; cells are cooling energy per unit of IT energy, which is PUE less 1, or
    with ``# cells: pue`` the PUE itself.
    """
    path = Path(path)
    intake = Intake(str(path))
    settings: dict[str, tuple[str, int]] = {}
    lines: list[tuple[int, list[str]]] = []
    with open_text(path) as stream:
        for number, line in enumerate(short_lines(path, stream), start=1):
            text = line.strip()
            if text.startswith("#"):
                _take_comment(text, number, settings, intake)
            elif text:
                lines.append((number, [cell.strip() for cell in text.split(",")]))
                if len(lines) - 1 not in _ROWS or len(lines[-1][1]) - 1 not in _COLUMNS:
                    raise FileFormatError(
                        path,
                        f"more than {_ROWS.high:,} rows or {_COLUMNS.high} columns",
                        line=number,
                        remedy="use larger steps",
                    )
    if not lines:
        raise FileFormatError(path, "no header row", remedy=f"the first row must read {POWER_COLUMN},-10,-5,...")
    temperatures_c = _read_header(path, *lines[0])
    powers_w = _read_powers(path, lines[0][1][0].lower(), lines[1:])
    above = CELLS[_read_word(path, settings, "cells", tuple(CELLS))]
    rows = zip(powers_w, lines[1:], strict=True)
    cooling = np.array([_read_cells(path, line, power, cells, temperatures_c, above) for power, (line, cells) in rows])
    if cooling.min() >= 1 and not above:
        intake.notes.append(
            "every cell is 1 or more: cells are PUE less 1, so this means a PUE above 2; or say # cells: pue"
        )
    intake.kept = len(powers_w)
    table = PueTable(
        name=settings["name"][0] if "name" in settings else path.name.split(".")[0],
        first_power_w=powers_w[0],
        power_step_w=powers_w[1] - powers_w[0],
        first_temperature_c=temperatures_c[0],
        temperature_step_c=round(temperatures_c[1] - temperatures_c[0], 3),
        cooling=cooling,
        clamp=_read_word(path, settings, "clamp", ("false", "true")) == "true",
    )
    return table, intake


def read_cooling(path: Path | str, lookup: CoolingLookup) -> tuple[PueTable, Intake]:
    """Read the PUE table of a scenario for the way in which it looks cells up."""
    table, intake = read_pue_table(path)
    return (table.linear() if lookup == "linear" else table), intake


def pue_table_text(table: PueTable, header_comment: str = "") -> str:
    """A PUE table as CSV, with the lines of the comment first; `read_pue_table` gives it back equal."""
    comments = [f"# {line}".rstrip() for line in header_comment.splitlines()]
    comments += [f"# name: {table.name}", f"# clamp: {str(table.clamp).lower()}"]
    rows = [",".join([POWER_COLUMN, *(f"{each:g}" for each in table.temperatures_c)])]
    rows += [
        ",".join([str(power_w), *map(_cell, cells)])
        for power_w, cells in zip(table.powers_w, table.cooling, strict=True)
    ]
    return "\n".join([*comments, *rows]) + "\n"


def _cell(value: float) -> str:
    text = f"{value:.4f}"
    return text if float(text) == value else repr(float(value))


def _take_comment(text: str, line: int, settings: dict[str, tuple[str, int]], intake: Intake) -> None:
    note = text.lstrip("#").strip()
    key, colon, value = note.partition(":")
    if colon and key.strip().lower() in ("clamp", "name", "cells"):
        settings[key.strip().lower()] = (value.strip(), line)
    elif note:
        intake.notes.append(note)


def _read_word(path: Path, settings: dict[str, tuple[str, int]], name: str, known: tuple[str, ...]) -> str:
    """What a comment sets, one of two words; the first unless it says otherwise."""
    value, line = settings.get(name, (known[0], 0))
    if value.lower() not in known:
        raise FileFormatError(path, f"{name} is {value!r}", line=line, remedy=f"write {known[1]} or {known[0]}")
    return value.lower()


def _read_header(path: Path, line: int, cells: list[str]) -> list[float]:
    if cells[0].lower() not in POWER_COLUMNS:
        raise FileFormatError(
            path,
            f"the first column is {cells[0]!r}",
            line=line,
            remedy=f"the header must read {' or '.join(POWER_COLUMNS)},-10,-5,... with commas",
        )
    if len(cells) < 3:
        raise FileFormatError(
            path, f"too few columns: {len(cells) - 1} temperatures", line=line, remedy="give at least 2"
        )
    thousandths = [_thousandths(path, line, cell) for cell in cells[1:]]
    _check_steps(path, [line] * len(thousandths), thousandths, "column", "C", MILLI)
    return [each / MILLI for each in thousandths]


def _read_powers(path: Path, column: str, lines: list[tuple[int, list[str]]]) -> list[int]:
    if len(lines) < 2:
        raise FileFormatError(path, f"too few rows: {len(lines)} powers", remedy="give at least 2")
    powers_w = [_whole(path, number, column, cells[0]) for number, cells in lines]
    if powers_w[0] < 0:
        raise FileFormatError(
            path,
            f"{column} {lines[0][1][0]} is negative",
            line=lines[0][0],
            remedy="begin at 0 W or above",
        )
    _check_steps(path, [number for number, _ in lines], powers_w, "row", "W")
    return powers_w


def _check_steps(
    path: Path, lines: Sequence[int], values: list[int], what: str, unit: str, parts_of_a_unit: int = 1
) -> None:
    def shown(value: int) -> str:
        return f"{value / parts_of_a_unit:.12g} {unit}"

    pairs = list(zip(lines[1:], values, values[1:], strict=False))
    for line, earlier, later in pairs:
        if later == earlier:
            raise FileFormatError(path, f"the {what} of {shown(later)} appears twice", line=line, remedy="remove one")
        if later < earlier:
            raise FileFormatError(
                path,
                f"the {what} of {shown(later)} comes after {shown(earlier)}",
                line=line,
                remedy=f"sort the {what}s upwards, without repeats",
            )
    step = min(later - earlier for _, earlier, later in pairs)
    for line, earlier, later in pairs:
        if (later - earlier) % step:
            raise FileFormatError(
                path,
                f"{what}s are not in even steps: {shown(earlier)} to {shown(later)}, but {shown(step)} elsewhere",
                line=line,
                remedy="use one step throughout",
            )
        if later - earlier > step:
            raise FileFormatError(
                path,
                f"the {what} of {shown(earlier + step)} is missing",
                line=line,
                remedy=f"add it: {what}s go in steps of {shown(step)}",
            )


def _read_cells(
    path: Path, line: int, power_w: int, cells: list[str], temperatures_c: list[float], above: float
) -> list[float]:
    if len(cells) != len(temperatures_c) + 1:
        raise FileFormatError(
            path,
            f"expected {len(temperatures_c) + 1} fields, found {len(cells)}",
            line=line,
            remedy="one power and one cell per temperature, with points for decimals",
        )
    pairs = zip(cells[1:], temperatures_c, strict=True)
    return [_fraction(path, line, cell, f"{power_w} W, {temperature:g} C", above) for cell, temperature in pairs]


def _fraction(path: Path, line: int, cell: str, where: str, above: float) -> float:
    """Cooling energy per IT energy of a cell, which holds so much more than that."""
    if not cell:
        raise FileFormatError(
            path, f"the cell at {where} is empty", line=line, remedy="give cooling energy per IT energy"
        )
    value = _number(cell)
    if not math.isfinite(value):
        raise FileFormatError(
            path, f"the cell at {where} is {cell!r}", line=line, remedy="it must be a number such as 0.25"
        )
    if above:
        value = round(value - above, 12)  # 1.2 less 1 is 0.2
    if value < 0:
        raise FileFormatError(
            path, f"the cell at {where} is {cell}: a PUE below 1", line=line, remedy=f"it must be {above:g} or more"
        )
    if value not in limits.TABLE_COOLING:
        remedy = f"it must be a number {limits.TABLE_COOLING}, PUE less 1"
        raise FileFormatError(path, f"the cell at {where} is {cell}", line=line, remedy=remedy)
    return value


def _whole(path: Path, line: int, field: str, cell: str) -> int:
    value = round(_number(cell) * POWER_COLUMNS[field], 6)
    if value not in _POWERS or value != round(value):
        remedy = f"it must be a whole number of W, {_POWERS}"
        raise FileFormatError(path, f"{field} is {cell!r}", line=line, remedy=remedy)
    return round(value)


def _thousandths(path: Path, line: int, cell: str) -> int:
    """A temperature in thousandths of a degree, so that steps are compared in whole numbers."""
    value = _number(cell)
    if value not in limits.TABLE_C or abs(MILLI * value - round(MILLI * value)) > 1e-6:
        remedy = f"it must be a number of C with at most 3 decimals, {limits.TABLE_C}"
        raise FileFormatError(path, f"temperature is {cell!r}", line=line, remedy=remedy)
    return round(MILLI * value)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
