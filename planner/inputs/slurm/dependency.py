"""What a job waits for, as Slurm writes it: ``afterok:12(unfulfilled),afterany:40_*(unfulfilled)``, ``singleton``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from planner.printable import one_line

KNOWN_KINDS = frozenset({"after", "afterok", "afterany", "afternotok", "singleton"})
"""Kinds of which the start of a job can be told from the starts and ends of others."""

_PART = re.compile(r"([a-z]+)((?::[^:()]*(?:\([^()]*\))?)*)(?:\(([^()]*)\))?")
_JOB = re.compile(r"(\d{1,18})(?:_(\d{1,18}|\*))?(?:\+(\d{1,9}))?(?:\(([^()]*)\))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Requirement:
    """One thing that a job waits for.

    Attributes
    ----------
    kind
        ``after``: the other has started; ``afterok``, ``afternotok``, ``afterany``: it has ended well, badly, anyhow;
        ``singleton``: no other job of this user and name runs. Slurm has further kinds.
    job_id
        The other job, or the whole array; None for a singleton.
    task_id
        The task, where it is one of an array.
    delay_s
        How long after the other's start, for ``after`` [s].
    status
        ``unfulfilled`` or ``failed`` as Slurm writes it.
    """

    kind: str
    job_id: int | None = None
    task_id: int | None = None
    delay_s: int = 0
    status: str = ""


@dataclass(frozen=True, slots=True)
class Dependency:
    """Everything that a job waits for.

    Attributes
    ----------
    text
        As Slurm writes it.
    requirements
        What could be read of it.
    any_of
        Whether one of them is enough.
    is_readable
        Whether all of it could be read.
    """

    text: str = ""
    requirements: tuple[Requirement, ...] = ()
    any_of: bool = False
    is_readable: bool = True

    def obstacles(self) -> list[str]:
        """Why a job with this dependency cannot be planned."""
        if not self.is_readable:
            return [f"its dependency '{one_line(self.text, 60)}' cannot be read"]
        unknown = sorted({each.kind for each in self.requirements} - KNOWN_KINDS)
        found = [f"it depends on other jobs in a way that cannot be planned ({kind})" for kind in unknown]
        if self.any_of:
            found.append("it waits for any one of several jobs")
        if any(each.status == "failed" for each in self.requirements):
            found.append("its dependency has failed: Slurm will never start it")
        return found


def parse_dependency(text: str) -> Dependency:
    """The dependency of a text; what cannot be read is kept as text."""
    if not text.strip():
        return Dependency()
    any_of = "?" in text
    requirements: list[Requirement] = []
    for part in re.split(r"[,?]", text):
        read = _requirements(part.strip())
        if not read:
            return Dependency(text, (), any_of, is_readable=False)
        requirements += read
    return Dependency(text, tuple(requirements), any_of)


def _requirements(part: str) -> list[Requirement]:
    """Those of one kind; none where it cannot be read."""
    match = _PART.fullmatch(part)
    if match is None:
        return []
    kind, jobs, status = match[1], match[2], match[3] or ""
    if not jobs:
        return [Requirement(kind, status=status)] if kind == "singleton" else []
    found = [_JOB.fullmatch(each) for each in jobs[1:].split(":")]
    if any(each is None for each in found):
        return []
    return [
        Requirement(
            kind,
            int(each[1]),
            int(each[2]) if each[2] and each[2] != "*" else None,
            int(each[3] or 0) * 60,
            each[4] or status,
        )
        for each in found
        if each is not None
    ]
