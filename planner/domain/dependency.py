"""Dependencies of a job: which others must come first, in Slurm's words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

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
