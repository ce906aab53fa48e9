"""Reads reservations from ``scontrol --oneliner show reservation``: Slurm 22.05 has no JSON of them.

One reservation per line, ``ReservationName=maint StartTime=2026-11-16T03:40:17 ... Flags=MAINT,IGNORE_JOBS``. Times are
those of the command's zone, which is UTC wherever the planner asks.
"""

from __future__ import annotations

import datetime as dt
import re

from planner.errors import FileFormatError
from planner.inputs.slurm.document import Source, content_of
from planner.inputs.slurm.fields import Fields
from planner.inputs.slurm.reservations import Reservation, reservation_of

COMMAND = "scontrol --oneliner show reservation"
NONE = "No reservations in the system"
_CELL = re.compile(r"(\S+?)=(\S*)")
_KEYS = {
    "ReservationName": "name",
    "Nodes": "node_list",
    "Flags": "flags",
    "PartitionName": "partition",
    "Users": "users",
    "Accounts": "accounts",
}
_TIMES = {"StartTime": "start_time", "EndTime": "end_time"}


def read_reservation_text(source: Source) -> tuple[Reservation, ...]:
    """Every reservation, in the order of the text.

    Parameters
    ----------
    source
        A file with the output of the command under ``TZ=UTC``, or that output.

    Raises
    ------
    InputError
        A line is none of a reservation; names file or command, line, and what is expected.
    """
    name, content = content_of(source)
    found = []
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), start=1):
        if line.strip() and not line.startswith(NONE):
            found.append(reservation_of(Fields(name, f"line {number}", _values(name, number, line))))
    return tuple(found)


def _values(name: str, number: int, line: str) -> dict[str, object]:
    cells = {key: "" if value == "(null)" else value for key, value in _CELL.findall(line)}
    values: dict[str, object] = {ours: cells.get(theirs, "") for theirs, ours in _KEYS.items()}
    for theirs, ours in _TIMES.items():
        try:
            moment = dt.datetime.fromisoformat(cells.get(theirs, ""))
        except ValueError as error:
            remedy = f"expected the output of `{COMMAND}`"
            raise FileFormatError(name, f"{theirs} is missing or no time", line=number, remedy=remedy) from error
        values[ours] = int(moment.replace(tzinfo=moment.tzinfo or dt.UTC).timestamp())
    return values
