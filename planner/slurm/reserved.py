"""Reservations that the planner makes for wide jobs: what one holds, how it is called, and those that Slurm has now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from planner.errors import InputError, SlurmError
from planner.inputs.slurm.document import Answer
from planner.inputs.slurm.documents import RESERVATIONS
from planner.inputs.slurm.hostlist import compress, expand
from planner.inputs.slurm.reservation_text import read_reservation_text
from planner.inputs.slurm.reservations import Reservation, read_reservations
from planner.slurm.commands import Slurm
from planner.slurm.snapshot import ask_reservations


@dataclass(frozen=True)
class Reserved:
    """What a reservation holds: nodes for a user, from when until when."""

    nodes: tuple[str, ...]
    """Their names, sorted."""
    user: str
    start_unix: int
    end_unix: int | None
    """None: until further notice, as others may make them."""

    @classmethod
    def of(cls, reservation: Reservation) -> Reserved:
        """What a reservation of Slurm holds."""
        users = ",".join(reservation.users)
        return cls(tuple(sorted(reservation.nodes)), users, reservation.start_unix, reservation.end_unix)

    @classmethod
    def read(cls, written: dict[str, Any]) -> Reserved:
        """What `written` wrote."""
        end = written["end"]
        return cls(
            tuple(sorted(expand(written["nodes"]))),
            str(written["user"]),
            int(written["start"]),
            None if end is None else int(end),
        )

    def written(self) -> dict[str, Any]:
        """The same as plain data."""
        return {"nodes": self.node_list, "user": self.user, "start": self.start_unix, "end": self.end_unix}

    @property
    def node_list(self) -> str:
        """The nodes as Slurm writes them: ``n[1-4]``."""
        return compress(self.nodes)


@dataclass(frozen=True)
class ReservationChange:
    """One reservation to make, to replace or to delete."""

    job: str
    submit_unix: int
    name: str
    old: Reserved | None
    """What it holds now; None: there is none."""
    new: Reserved | None
    """What it is to hold; None: it goes. The same as ``old``: the job alone must be put into it."""
    inside: bool = False
    """Whether the job belongs to it now."""
    why: str = ""
    """Why it goes."""


def name_of(job_id: str) -> str:
    """What the reservation of a job is called; nothing of it comes from users."""
    return f"plan-{job_id}"


def reservations_now(slurm: Slurm) -> tuple[Reservation, ...]:
    """Every reservation that Slurm has now."""
    name, (command, output) = ask_reservations(slurm)
    read = read_reservations if name == RESERVATIONS else read_reservation_text
    try:
        return read(Answer(command, output))
    except InputError as error:
        raise SlurmError(f"no reservations that can be read: {error}") from error
