"""Reads Slurm's reservations: from ``scontrol show reservation --json``, or as text.

In Slurm 22.05, ``scontrol --oneliner show reservation`` writes one line per reservation:
``ReservationName=maint StartTime=2026-11-16T03:40:17 ... Flags=MAINT,IGNORE_JOBS``. Times of that are those of the
command's zone, which is UTC wherever the planner asks.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from planner.errors import FileFormatError, InputError
from planner.inputs.slurm.json_document import Fields, Source, content_of, read_document

RESERVATIONS_COMMAND = "scontrol show reservation --json"
RESERVATION_TEXT_COMMAND = "scontrol --oneliner show reservation"
NO_RESERVATIONS = "No reservations in the system"
_CELL = re.compile(r"(\S+?)=(\S*)")
_KEYS = {"ReservationName": "name", "Nodes": "node_list", "Flags": "flags"}
_TIMES = {"StartTime": "start_time", "EndTime": "end_time"}


@dataclass(frozen=True, slots=True)
class Reservation:
    """One reservation; ``end_unix`` None: until further notice.

    It has the names of its nodes also where it holds some cores of each, and none where it holds licences only.
    ``flags`` are Slurm's words, in capitals and in order, such as ``MAINT``.
    """

    name: str
    nodes: tuple[str, ...]
    start_unix: int
    end_unix: int | None
    flags: tuple[str, ...] = ()

    @property
    def is_maintenance(self) -> bool:
        """Whether nothing may run on its nodes."""
        return "MAINT" in self.flags


def read_reservations(source: Source) -> tuple[Reservation, ...]:
    """Every reservation, in the order of the document."""
    return tuple(reservation_of(row) for row in read_document(source, "reservations", RESERVATIONS_COMMAND)[1])


def reservation_of(row: Fields) -> Reservation:
    """The reservation of a row; InputError when its values cannot be."""
    name, start, end = row.text("name"), row.moment("start_time"), row.moment("end_time")
    if not name.strip():
        raise row.wrong("name", "the name of a reservation")
    if start is None:
        raise row.wrong("start_time", "Unix seconds from 1")
    if end is not None and end < start:
        raise InputError(f"{row.source}: {row.place} ends at {end}, before its start at {start}")
    return Reservation(
        name=name,
        nodes=row.hosts("node_list"),
        start_unix=start,
        end_unix=end,
        flags=tuple(sorted({flag.upper() for flag in row.names("flags")})),
    )


def read_reservation_text(source: Source) -> tuple[Reservation, ...]:
    """Every reservation, in the order of the text, which the command has written under ``TZ=UTC``."""
    name, content = content_of(source)
    found = []
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), start=1):
        if line.strip() and not line.startswith(NO_RESERVATIONS):
            found.append(reservation_of(Fields(name, f"line {number}", _values(name, number, line))))
    return tuple(found)


def _values(name: str, number: int, line: str) -> dict[str, object]:
    cells = {key: "" if value == "(null)" else value for key, value in _CELL.findall(line)}
    values: dict[str, object] = {ours: cells.get(theirs, "") for theirs, ours in _KEYS.items()}
    for theirs, ours in _TIMES.items():
        try:
            moment = dt.datetime.fromisoformat(cells.get(theirs, ""))
        except ValueError as error:
            remedy = f"expected the output of `{RESERVATION_TEXT_COMMAND}`"
            raise FileFormatError(name, f"{theirs} is missing or no time", line=number, remedy=remedy) from error
        values[ours] = int(moment.replace(tzinfo=moment.tzinfo or dt.UTC).timestamp())
    return values
