"""Tasks of a job array that wait, as Slurm writes them: ``1-10%2``, ``1,3,5-7``, ``1-9:2``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from planner.errors import InputError
from planner.printable import one_line

MOST_TASKS = 100_000
"""Tasks of an array that are read one by one."""

_PART = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?", re.ASCII)
_LIMIT = re.compile(r"\d{1,9}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ArrayTasks:
    """Waiting tasks of an array.

    Attributes
    ----------
    tasks
        Their numbers, sorted; empty where the text does not say them all.
    limit
        How many may run at once; None where any number may.
    obstacle
        Why the tasks are not read one by one; empty where they are.
    """

    tasks: tuple[int, ...]
    limit: int | None = None
    obstacle: str = ""


def parse_tasks(text: str) -> ArrayTasks:
    """The tasks of such a text; InputError where it cannot be read."""
    listed, percent, most = text.strip().removeprefix("[").removesuffix("]").partition("%")
    if percent and not _LIMIT.fullmatch(most):
        raise _unreadable(text)
    limit = int(most) if percent and int(most) else None
    if listed.endswith("..."):
        return ArrayTasks((), limit, "Slurm has cut short the list of its array's tasks; set SLURM_BITSTR_LEN=0")
    ranges = [_range(part, text) for part in listed.split(",")]
    if sum(map(len, ranges)) > MOST_TASKS:
        return ArrayTasks((), limit, f"its array has more than {MOST_TASKS:,} waiting tasks")
    return ArrayTasks(tuple(sorted({task for each in ranges for task in each})), limit)


def _range(part: str, text: str) -> range:
    match = _PART.fullmatch(part.strip())
    if match is None:
        raise _unreadable(text)
    first, last, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
    if last < first or not step:
        raise _unreadable(text)
    return range(first, last + 1, step)


def _unreadable(text: str) -> InputError:
    return InputError(f"'{one_line(text, 60)}' is no list of array tasks; expected text such as 1-10%2 or 1,3,5-9:2")
