"""Short texts as Slurm writes them, whatever command they come from.

Amounts are ``cpu=128,mem=125G,node=4,gres/gpu:a100=8``, ``gres:gpu:4`` or ``gpu:a100:4(S:0-1)``; the waiting tasks of
an array ``1-10%2``, ``1,3,5-7`` or ``1-9:2``; and what a job waits for
``afterok:12(unfulfilled),afterany:40_*(unfulfilled)`` or ``singleton``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from planner.errors import InputError
from planner.printable import one_line

_MEMORY = re.compile(r"(\d{1,15})(?:\.(\d{1,6}))?([KMGTP]?)", re.ASCII)
_MB = {"K": 1 / 1024, "": 1.0, "M": 1.0, "G": 1024.0, "T": 1024.0**2, "P": 1024.0**3}
_COUNT = re.compile(r"\d{1,15}", re.ASCII)
_BRACKETS = re.compile(r"\([^()]*\)")
_GRES = re.compile(r"gres[:/]")
NO_NODES = ("", "(null)", "None assigned")
"""What stands where a job has no nodes."""
MOST_TASKS = 100_000
"""Tasks of an array that are read one by one."""
_TASKS = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?", re.ASCII)
_AT_ONCE = re.compile(r"\d{1,9}", re.ASCII)
KNOWN_KINDS = frozenset({"after", "afterok", "afterany", "afternotok", "singleton"})
"""Kinds of which the start of a job can be told from the starts and ends of others."""
_REQUIREMENTS = re.compile(r"([a-z]+)((?::[^:()]*(?:\([^()]*\))?)*)(?:\(([^()]*)\))?")
_OTHER_JOB = re.compile(r"(\d{1,18})(?:_(\d{1,18}|\*))?(?:\+(\d{1,9}))?(?:\(([^()]*)\))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Amounts:
    """Amounts of all nodes together; None where a text does not have them."""

    nodes: int | None = None
    cpus: int | None = None
    memory_mb: int | None = None
    gpus: int | None = None


@dataclass(frozen=True, slots=True)
class Gres:
    """Generic resources of a text: GPUs, their types with commas where they are said, and all else as written."""

    gpus: int = 0
    gpu_type: str = ""
    others: tuple[str, ...] = ()


def parse_tres(text: str) -> Amounts:
    """The amounts of a text such as ``cpu=128,mem=125G,node=4``; those that it does not have are None."""
    found = {}
    for item in text.split(",") if text else ():
        name, equals, amount = item.partition("=")
        if not equals:
            raise InputError(f"'{one_line(item, 40)}' is no amount; expected text such as cpu=128,mem=125G,node=4")
        found[name.strip()] = amount.strip()
    typed = [_count(found, name) or 0 for name in found if name.startswith("gres/gpu:")]
    # GPUs stand there with and without their type: each counts once.
    gpus = _count(found, "gres/gpu") if "gres/gpu" in found or not typed else sum(typed)
    return Amounts(_count(found, "node"), _count(found, "cpu"), _memory_mb(found), gpus)


def parse_gres(text: str) -> Gres:
    """GPUs and other generic resources in any of Slurm's spellings; CPUs and memory in it are left out."""
    if not text:
        return Gres()
    gpus, types, others = 0, [], []
    for item in _BRACKETS.sub("", text).split(","):
        prefix = _GRES.match(item.strip())
        name, *rest = item.strip()[prefix.end() if prefix else 0 :].replace("=", ":").split(":")
        if name == "gpu":
            gpus += int(rest.pop()) if rest and _COUNT.fullmatch(rest[-1]) else 1
            types += [each for each in rest if each]
        elif name and name != "none" and prefix:
            others.append(item.strip())
    return Gres(gpus, ",".join(sorted(set(types))), tuple(others))


def _count(found: Mapping[str, str], name: str) -> int | None:
    if name not in found:
        return None
    if not _COUNT.fullmatch(found[name]):
        raise InputError(f"{name} is '{one_line(found[name], 40)}', expected a whole number")
    return int(found[name])


def _memory_mb(found: Mapping[str, str]) -> int | None:
    """Rounded up."""
    if "mem" not in found:
        return None
    match = _MEMORY.fullmatch(found["mem"])
    if match is None:
        raise InputError(f"mem is '{one_line(found['mem'], 40)}', expected an amount such as 8000M or 62.50G")
    return math.ceil(float(f"{match[1]}.{match[2] or 0}") * _MB[match[3]])


@dataclass(frozen=True, slots=True)
class ArrayTasks:
    """Waiting tasks of an array, sorted, of which ``limit`` may run at once; None: any number.

    There are none where they are not read one by one; ``obstacle`` says why.
    """

    tasks: tuple[int, ...]
    limit: int | None = None
    obstacle: str = ""


def parse_tasks(text: str) -> ArrayTasks:
    """The tasks of such a text; InputError where it cannot be read."""
    listed, percent, most = text.strip().removeprefix("[").removesuffix("]").partition("%")
    if percent and not _AT_ONCE.fullmatch(most):
        raise _no_tasks(text)
    limit = int(most) if percent and int(most) else None
    if listed.endswith("..."):
        return ArrayTasks((), limit, "Slurm has cut short the list of its array's tasks; set SLURM_BITSTR_LEN=0")
    ranges = [_task_range(part, text) for part in listed.split(",")]
    if sum(map(len, ranges)) > MOST_TASKS:
        return ArrayTasks((), limit, f"its array has more than {MOST_TASKS:,} waiting tasks")
    return ArrayTasks(tuple(sorted({task for each in ranges for task in each})), limit)


def _task_range(part: str, text: str) -> range:
    match = _TASKS.fullmatch(part.strip())
    if match is None:
        raise _no_tasks(text)
    first, last, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
    if last < first or not step:
        raise _no_tasks(text)
    return range(first, last + 1, step)


def _no_tasks(text: str) -> InputError:
    return InputError(f"'{one_line(text, 60)}' is no list of array tasks; expected text such as 1-10%2 or 1,3,5-9:2")


@dataclass(frozen=True, slots=True)
class Requirement:
    """One thing that a job waits for.

    Kinds are ``after``: the other has started, at least ``delay_s`` ago; ``afterok``, ``afternotok``, ``afterany``: it
    has ended well, badly, anyhow; ``singleton``: no other job of this user and name runs, ``job_id`` is None. Slurm has
    further ones. ``task_id`` None: the whole array, or no array. ``status`` is as Slurm writes it, such as ``failed``.
    """

    kind: str
    job_id: int | None = None
    task_id: int | None = None
    delay_s: int = 0
    status: str = ""


@dataclass(frozen=True, slots=True)
class SlurmDependency:
    """Everything that a job waits for, or any one of it; the text as Slurm writes it, and what could be read of it."""

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


def parse_dependency(text: str) -> SlurmDependency:
    """The dependency of a text; what cannot be read is kept as text."""
    if not text.strip():
        return SlurmDependency()
    any_of = "?" in text
    requirements: list[Requirement] = []
    for part in re.split(r"[,?]", text):
        read = _requirements(part.strip())
        if not read:
            return SlurmDependency(text, (), any_of, is_readable=False)
        requirements += read
    return SlurmDependency(text, tuple(requirements), any_of)


def _requirements(part: str) -> list[Requirement]:
    """Those of one kind; none where it cannot be read."""
    match = _REQUIREMENTS.fullmatch(part)
    if match is None:
        return []
    kind, jobs, status = match[1], match[2], match[3] or ""
    if not jobs:
        return [Requirement(kind, status=status)] if kind == "singleton" else []
    found = [_OTHER_JOB.fullmatch(each) for each in jobs[1:].split(":")]
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


def names_of(text: str) -> tuple[str, ...]:
    """Names of a text with commas between them."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
