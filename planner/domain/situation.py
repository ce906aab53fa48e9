"""The situation of a site: what is true at one moment, whoever says so; and the room that its outages close.

Yesterday's folder, a table, Slurm or a simulation says it; every plan begins with one (`planner.inputs.build.build`).
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from planner.domain.columns import Ints
from planner.domain.horizon import Horizon
from planner.domain.job import Job
from planner.domain.ledger import Ledger
from planner.domain.method_params import Strength
from planner.domain.precedence import require_no_circle
from planner.domain.rates import Rates
from planner.errors import InputError
from planner.units import utc_text

NodeState = Literal["down", "drain", "maintenance"]

SINCE_EVER = 0
"""Start of an outage of which nobody said when it began [Unix seconds]."""


@dataclass(frozen=True, slots=True)
class StartedJob:
    """A job that has started: since when, on which nodes, and its real end if it has ended.

    ``nodes`` has one node per unit, in the order of the job's groups. ``end_unix`` is None while it runs. ``cancelled``
    says that it was ended by somebody before it was done. ``energy_j`` is what its nodes drew while it ran [J], None
    where nobody measured that.
    """

    job: Job
    start_unix: int
    nodes: tuple[int, ...]
    end_unix: int | None = None
    cancelled: bool = False
    energy_j: float | None = None

    def __post_init__(self) -> None:
        if len(self.nodes) != self.job.unit_count:
            raise InputError(
                f"job {self.job.id} has {self.job.unit_count} units on {len(self.nodes)} nodes; give one node per unit"
            )
        if self.end_unix is None:
            if self.cancelled:
                raise InputError(f"job {self.job.id} is cancelled but has no end; give its end")
        elif self.end_unix < self.start_unix:
            raise InputError(
                f"job {self.job.id} ends at {utc_text(self.end_unix)}, before its start at"
                f" {utc_text(self.start_unix)}; correct its times"
            )

    def seconds_within(self, start_unix: int, end_unix: int) -> int:
        """How long it ran within a stretch of time [s]."""
        until = end_unix if self.end_unix is None else min(end_unix, self.end_unix)
        return max(0, until - max(start_unix, self.start_unix))

    @property
    def is_running(self) -> bool:
        """Whether it runs at the moment of the snapshot."""
        return self.end_unix is None

    @property
    def state(self) -> Literal["running", "done", "cancelled"]:
        """Its state in a word."""
        return "running" if self.is_running else "cancelled" if self.cancelled else "done"

    def require_before(self, moment_unix: int) -> None:
        """InputError when it starts or ends after the moment of a snapshot."""
        for what, unix in (("starts", self.start_unix), ("ends", self.end_unix)):
            if unix is not None and unix > moment_unix:
                raise InputError(
                    f"job {self.job.id} {what} at {utc_text(unix)}, after the moment of the snapshot,"
                    f" {utc_text(moment_unix)}; correct one of them"
                )


@dataclass(frozen=True, slots=True)
class Outage:
    """A node on which nothing may start from a moment until another; ``end_unix`` None: until further notice.

    ``down`` and ``maintenance``: nothing runs there. ``drain``: what runs there may end, nothing new starts.
    """

    node: int
    start_unix: int
    end_unix: int | None
    state: NodeState

    def __post_init__(self) -> None:
        if self.end_unix is not None and self.end_unix <= self.start_unix:
            raise InputError(
                f"an outage ends at {utc_text(self.end_unix)}, not after its start at {utc_text(self.start_unix)};"
                " correct its times"
            )

    def holds_at(self, moment_unix: int) -> bool:
        """Whether the moment lies within it."""
        return self.start_unix <= moment_unix and (self.end_unix is None or moment_unix < self.end_unix)


def outage_key(outage: Outage) -> tuple[int, int, bool, int, str]:
    """What outages are sorted by: node, start, then end, those until further notice last."""
    end = outage.end_unix
    return outage.node, outage.start_unix, end is None, end or 0, outage.state


@dataclass(frozen=True, slots=True)
class LeftAlone:
    """A job that is there but is not planned, and why; whatever becomes of it is for others to decide."""

    job_id: str
    reason: str


@dataclass(frozen=True)
class SiteState:
    """What a site carries from day to day besides its jobs: the peak of the month, and what its battery holds.

    ``day`` is the last one that the peak is of; ``battery_kwh`` is None where there is no battery.
    """

    day: dt.date
    peak_kw: float
    battery_kwh: float | None = None

    @classmethod
    def after(cls, day: dt.date, rates: Rates, ledger: Ledger) -> SiteState:
        """What is left when a day ends as its ledger has it."""
        held = None if rates.battery is None else float(ledger.segments.battery_kwh[-1])
        return cls(day, max(rates.demand_so_far_kw, ledger.peak_kw), held)

    @classmethod
    def before(cls, day: dt.date, rates: Rates) -> SiteState:
        """What a day began with."""
        return cls(day, rates.demand_so_far_kw, None if rates.battery is None else rates.battery.start_kwh)

    def is_of_month(self, day: dt.date) -> bool:
        """Whether a day is in the same month."""
        return (self.day.year, self.day.month) == (day.year, day.month)


@dataclass(frozen=True)
class Situation:
    """What is true at one moment. Membership decides: a job in it exists, a job not in it is gone.

    Promises that were given are with the jobs.

    ``pending`` jobs wait, in order of submission. ``started`` are those that run, and those that have ended since the
    start of the day, in order of their start; ``withdrawn`` were cancelled before they started. ``outages`` are in the
    order of `outage_key`. ``left_alone`` are jobs that are there but cannot be planned; those that run hold their nodes
    all the same. ``times_deferred``: on how many earlier days jobs that wait were deferred. ``site`` is the month's
    peak and the battery when the day of the moment began, None on a first day; ``strength`` how strongly it was best to
    hold by the last plan, None where nobody knows. ``nightly``: it is what the day before left at midnight, and not
    news of its own. ``source`` is for messages.
    """

    moment_unix: int
    pending: tuple[Job, ...] = ()
    started: tuple[StartedJob, ...] = ()
    withdrawn: tuple[Job, ...] = ()
    outages: tuple[Outage, ...] = ()
    left_alone: tuple[LeftAlone, ...] = ()
    times_deferred: Mapping[str, int] = field(default_factory=dict)
    site: SiteState | None = None
    strength: Strength | None = None
    nightly: bool = False
    source: str = field(default="snapshot", compare=False)

    def __post_init__(self) -> None:
        counts = Counter(job.id for job in self.jobs)
        twice = next((identity for identity, count in counts.items() if count > 1), None)
        if twice is not None:
            raise InputError(f"{self.source}: job {twice} is there twice; give every job one state")
        try:
            require_no_circle(self.pending)
            for each in self.started:
                each.require_before(self.moment_unix)
        except InputError as error:
            raise InputError(f"{self.source}: {error}") from None

    @property
    def jobs(self) -> tuple[Job, ...]:
        """All jobs that it knows."""
        return (*self.pending, *(each.job for each in self.started), *self.withdrawn)

    @property
    def running(self) -> tuple[StartedJob, ...]:
        """The jobs that run at the moment."""
        return tuple(each for each in self.started if each.is_running)


UNTIL_FURTHER_NOTICE_S = 2**40
"""End of an outage whose end is not known [s]: later than anything, with room to add to it."""


@dataclass(frozen=True, slots=True)
class NodeOutage:
    """A node that takes no new work from a start until an end [s]. Work that has started there may go on."""

    node: int
    start_s: int
    end_s: int

    def __post_init__(self) -> None:
        if self.end_s <= self.start_s:
            raise InputError(f"an outage of node {self.node} from {self.start_s} to {self.end_s} s has no length")


def node_outages(outages: Iterable[Outage], horizon: Horizon) -> tuple[NodeOutage, ...]:
    """The outages that are not over when a horizon begins, in its seconds."""
    found = []
    for outage in outages:
        end_s = UNTIL_FURTHER_NOTICE_S if outage.end_unix is None else horizon.to_s(outage.end_unix)
        start_s = max(0, horizon.to_s(outage.start_unix))
        if end_s > start_s:
            found.append(NodeOutage(outage.node, start_s, end_s))
    return tuple(found)


@dataclass(frozen=True)
class ClosedRoom:
    """Pieces of node and time that are closed, none over another.

    ``amount`` is what is left of the node in a piece, in thousandths of each resource; ``is_empty`` says that no unit
    runs there, so that the node counts as idle.
    """

    node: Ints
    start_s: Ints
    end_s: Ints
    amount: Ints
    is_empty: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.node)


def closed_room(
    outages: Sequence[NodeOutage], capacity: Ints, unit_node: Ints, unit_start_s: Ints, unit_end_s: Ints, amount: Ints
) -> ClosedRoom:
    """What units of started work, with their nodes, times and amounts, leave of the nodes during outages."""
    pieces = []
    for node in sorted({outage.node for outage in outages}):
        own = [(max(0, outage.start_s), outage.end_s) for outage in outages if outage.node == node and outage.end_s > 0]
        here = unit_node == node
        starts, ends, taken = unit_start_s[here], unit_end_s[here], amount[here]
        edges = np.unique(np.concatenate([*own, starts, ends]).astype(np.int64)) if own else np.zeros(0, np.int64)
        for start, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            if any(first <= start and end <= last for first, last in own):
                inside = (starts < end) & (ends > start)
                left = np.maximum(0, capacity[node] - taken[inside].sum(axis=0))
                pieces.append((node, start, end, left, not inside.any()))
    return ClosedRoom(
        node=np.array([piece[0] for piece in pieces], dtype=np.int64),
        start_s=np.array([piece[1] for piece in pieces], dtype=np.int64),
        end_s=np.array([piece[2] for piece in pieces], dtype=np.int64),
        amount=np.array([piece[3] for piece in pieces], dtype=np.int64).reshape(len(pieces), capacity.shape[1]),
        is_empty=np.array([piece[4] for piece in pieces], dtype=np.bool_),
    )
