"""Reads Slurm's reservations from ``scontrol show reservation --json``: nodes kept for somebody or something.

Slurm 22.05 has no JSON of them; `reservation_text` reads what it has.
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.errors import InputError
from planner.inputs.slurm.document import Source, read_document
from planner.inputs.slurm.fields import Fields

COMMAND = "scontrol show reservation --json"


@dataclass(frozen=True, slots=True)
class Reservation:
    """One reservation.

    Attributes
    ----------
    name
        As Slurm calls it.
    nodes
        Names of its nodes, also where it holds some cores of each; none where it holds licences only.
    start_unix, end_unix
        From when until when; ``end_unix`` None: until further notice.
    flags
        Slurm's words, in capitals and in order, such as ``MAINT``.
    partition, users, accounts
        For whom it is; empty where nothing is said.
    """

    name: str
    nodes: tuple[str, ...]
    start_unix: int
    end_unix: int | None
    flags: tuple[str, ...] = ()
    partition: str = ""
    users: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()

    @property
    def is_maintenance(self) -> bool:
        """Whether nothing may run on its nodes."""
        return "MAINT" in self.flags


def read_reservations(source: Source) -> tuple[Reservation, ...]:
    """Every reservation, in the order of the document.

    Parameters
    ----------
    source
        A file with the output of ``scontrol show reservation --json``, or that output.

    Raises
    ------
    InputError
        A value cannot be what it should be; names file or command, place, value and what is expected.
    """
    return tuple(reservation_of(row) for row in read_document(source, "reservations", COMMAND)[1])


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
        partition=row.text("partition"),
        users=row.names("users"),
        accounts=row.names("accounts"),
    )
