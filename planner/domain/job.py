"""A job: what a user asked for, and what the site made of it on arrival. It never changes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from planner import limits
from planner.errors import InputError

DependencyKind = Literal["after", "afterok", "afterany"]
KINDS: tuple[DependencyKind, ...] = get_args(DependencyKind)

_MARKS = re.compile(r"[,:?+()]")
"""Characters that mean something in a text of dependencies, so that no id in it can have them."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """Another job that must come first.

    ``after``: the job starts no earlier than the other starts. ``afterok`` and ``afterany``: no earlier than the other
    ends; planning expects that jobs end well.
    """

    kind: DependencyKind
    job_id: str

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"unknown dependency {self.kind!r}; known: {', '.join(KINDS)}")
        if not self.job_id or self.job_id != self.job_id.strip() or _MARKS.search(self.job_id):
            raise InputError(f"a dependency names the job {self.job_id!r}; it must be an id without , : ? + ( and )")

    @property
    def waits_for_end(self) -> bool:
        """Whether it waits for the end of the other job, not only for its start."""
        return self.kind != "after"


def parse_dependencies(text: str) -> tuple[Dependency, ...]:
    """Dependencies from text such as ``afterok:12:13,after:14``; all must hold.

    The remark ``(unfulfilled)`` that Slurm prints after an id is passed over.
    """
    if not text.strip():
        return ()
    found = []
    for part in text.split(","):
        kind, *ids = (each.strip().removesuffix("(unfulfilled)") for each in part.split(":"))
        for known in KINDS:
            if kind == known:
                break
        else:
            raise InputError(f"unknown dependency {part.strip()!r}; write {', '.join(KINDS)}, each with a job id")
        if not ids:
            raise InputError(f"dependency {kind!r} names no job; write {kind}:ID")
        found += [Dependency(known, job_id) for job_id in ids]
    return tuple(dict.fromkeys(found))


def format_dependencies(dependencies: Iterable[Dependency]) -> str:
    """The text that `parse_dependencies` reads back."""
    return ",".join(f"{each.kind}:{each.job_id}" for each in dependencies)


DeferRule = Literal["full", "free"]
"""Which jobs may wait for a later day: only those that cannot start, or whichever profit says."""


@dataclass(frozen=True, slots=True)
class UnitGroup:
    """Equal units of a job: how many, and what each asks of its node.

    ``amounts`` is a tuple of (resource name, amount), sorted by name, without zeros; make it with `of`.
    """

    count: int
    amounts: tuple[tuple[str, float], ...]

    @classmethod
    def of(cls, count: int, amounts: Mapping[str, float]) -> UnitGroup:
        """A group from a mapping of resource name to amount."""
        return cls(count, tuple(sorted((name, float(value)) for name, value in amounts.items() if value)))

    def __post_init__(self) -> None:
        limits.UNITS.require("the number of units of a kind", self.count)
        if not self.amounts:
            raise InputError("a unit asks for nothing; it must ask for some resource, usually cores")
        for name, amount in self.amounts:
            if amount not in limits.UNIT_AMOUNT:
                raise InputError(f"a unit asks for {amount:g} {name}; it must be {limits.UNIT_AMOUNT}")

    def amount(self, resource: str) -> float:
        """Amount of a resource that one unit asks for."""
        for name, value in self.amounts:
            if name == resource:
                return value
        return 0.0


@dataclass(frozen=True, slots=True)
class Promise:
    """What a site promises to the user of a job that it holds: for how long at most [Unix seconds].

    ``reference_unix`` is the first moment at which the scheduler would have started it, ``latest_unix`` the last one
    until which it is held.
    """

    reference_unix: int
    latest_unix: int


@dataclass(frozen=True, slots=True)
class Job:
    """One submitted request.

    ``id`` is unique in a queue. ``requested_s`` is the wallclock limit that the site enforces, ``estimate_s`` how long
    planning thinks that the job runs (None: as requested), ``runtime_s`` how long it ran, where the source knows it.
    ``units`` are groups of equal units, which all start and end together, each on one node; ``power_w`` is the mean
    power of the whole job.

    ``begin_unix`` is the earliest start that its user asked for, ``deadline_unix`` the latest end. ``classes`` are the
    node classes that its units may run on, sorted, all where it is empty; ``exclusive``: each unit has a node to
    itself. ``after`` are jobs that must come first. ``partition`` has those it was submitted to, with commas; its
    classes are their nodes.

    ``revenue_weight`` is a factor on what its resources earn. ``priority`` is how many times that it counts when jobs
    are chosen; no part of the money. ``queue_place`` is its place in the queue of the site's scheduler, the first
    lowest; None: by submission. ``may_hold``: it may be held for a cheaper hour; ``promise`` says until when, if it
    was, and ``easy_unix`` when EASY would have started it, as the first plan that knew it found.
    """

    id: str
    submit_unix: int
    requested_s: int
    units: tuple[UnitGroup, ...]
    power_w: float
    account: str = ""
    user: str = ""
    name: str = ""
    runtime_s: int | None = None
    deadline_unix: int | None = None
    revenue_weight: float = 1.0
    estimate_s: int | None = None
    promise: Promise | None = None
    easy_unix: int | None = None
    classes: tuple[str, ...] = ()
    exclusive: bool = False
    begin_unix: int | None = None
    priority: float = 1.0
    after: tuple[Dependency, ...] = ()
    qos: str = ""
    partition: str = ""
    may_hold: bool = True
    queue_place: int | None = None

    def __post_init__(self) -> None:
        if not self.id:
            raise InputError("a job has an empty id; every job needs a name of its own")
        for what, value, within in (
            ("requested time", self.requested_s, limits.REQUESTED_S),
            ("power", self.power_w, limits.JOB_W),
            ("revenue weight", self.revenue_weight, limits.REVENUE_WEIGHT),
            ("priority", self.priority, limits.PRIORITY),
            ("submit time", self.submit_unix, limits.MOMENT_S),
            ("deadline", self.deadline_unix, limits.MOMENT_S),
            ("earliest begin", self.begin_unix, limits.MOMENT_S),
            ("runtime", self.runtime_s, limits.RUNTIME_S),
            ("estimate", self.estimate_s, limits.REQUESTED_S),
            ("number of units", self.unit_count, limits.UNITS),
            ("number of kinds of units", len(self.units), limits.UNIT_GROUPS),
        ):
            if value is not None and value not in within:
                within.require(f"job {self.id}: {what}", value)
        if self.classes and self.classes != tuple(sorted(set(self.classes))):
            raise InputError(f"job {self.id}: its node classes are not sorted, or one is there twice")

    @property
    def planned_s(self) -> int:
        """How long planning counts on the job to run [s]."""
        return self.requested_s if self.estimate_s is None else self.estimate_s

    @property
    def unit_count(self) -> int:
        """Number of units of the job."""
        return sum(group.count for group in self.units)

    @property
    def release_unix(self) -> int:
        """From when on it may start: its submission, or the begin that its user asked for if that is later."""
        return self.submit_unix if self.begin_unix is None else max(self.submit_unix, self.begin_unix)

    @property
    def submission_key(self) -> tuple[int, tuple[tuple[int, str], ...], str]:
        """What jobs are sorted by: the older first, and of one second the id that people count first."""
        return self.submit_unix, counting_key(self.id), self.id

    def total(self, resource: str) -> float:
        """Amount of a resource that the whole job asks for."""
        return sum(group.count * group.amount(resource) for group in self.units)


def counting_key(text: str) -> tuple[tuple[int, str], ...]:
    """A sort key by which people count: "9" before "10", "a2" before "a10".

    Runs of digits compare by value: by their length without leading zeros, then digit by digit.
    """
    key = []
    for digits, other in re.findall(r"([0-9]+)|([^0-9]+)", text):
        if digits:
            value = digits.lstrip("0")
            key.append((len(value), value))
        else:
            key.append((-1, other))
    return tuple(key)
