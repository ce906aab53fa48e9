"""Reads jobs from ``sacct --json``: who ran what, when, where, and what it drew."""

from __future__ import annotations

from dataclasses import dataclass, field

from planner.inputs.slurm.document import Source, read_document
from planner.inputs.slurm.fields import Fields, number_of
from planner.inputs.slurm.request import is_exclusive_command
from planner.inputs.slurm.states import job_state, state_words
from planner.inputs.slurm.tres import Amounts

COMMAND = "sacct --json"
GARBAGE_J = 2**63
"""From here on a number of joules is no measurement, but one of Slurm's marks or a counter that ran over."""


@dataclass(frozen=True, slots=True)
class AccountedJob:
    """One job that accounts know, or one task of an array.

    Attributes
    ----------
    job_id, array_job_id, array_task_id
        Slurm's number; the array and the task, None where there is none.
    state
        Slurm's words for what became of it, in capitals and in order.
    submit_unix, start_unix, end_unix
        Times; ``start_unix`` None: it never ran; ``end_unix`` None: it still waits or runs.
    limit_s
        Time limit; None: unlimited.
    nodes
        Names of its nodes.
    cpus, memory_mb, gpus
        What it had of all nodes together; None where it is not said.
    asked
        What it had asked for, which may be less: a job that wants whole nodes gets all of their CPUs.
    energy_j
        Energy of its nodes while it ran, shared ones whole; None where nothing was measured.
    exclusive
        Whether its nodes were for it alone; None where that is not said.
    """

    job_id: int
    name: str
    user: str
    account: str
    partition: str
    comment: str
    state: tuple[str, ...]
    submit_unix: int
    start_unix: int | None = None
    end_unix: int | None = None
    limit_s: int | None = None
    array_job_id: int | None = None
    array_task_id: int | None = None
    nodes: tuple[str, ...] = ()
    cpus: int | None = None
    memory_mb: int | None = None
    gpus: int | None = None
    energy_j: int | None = None
    exclusive: bool | None = None
    asked: Amounts = field(default_factory=Amounts)

    @property
    def label(self) -> str:
        """What people call it: its number, or that of its array with its task."""
        if self.array_job_id is None or self.array_task_id is None:
            return str(self.job_id)
        return f"{self.array_job_id}_{self.array_task_id}"


@dataclass(frozen=True)
class Accounts:
    """Jobs in the order of the document."""

    jobs: tuple[AccountedJob, ...] = ()

    @property
    def ended(self) -> tuple[AccountedJob, ...]:
        """Those that have ended."""
        return tuple(job for job in self.jobs if job.end_unix is not None)


def read_accounting(source: Source) -> Accounts:
    """Every job.

    Parameters
    ----------
    source
        A file with the output of ``sacct --json``, or that output.

    Raises
    ------
    InputError
        A value cannot be what it should be; names file or command, place, value and what is expected.
    """
    _, rows = read_document(source, "jobs", COMMAND)
    return Accounts(tuple(_job(row) for row in rows))


def _job(row: Fields) -> AccountedJob:
    job_id = row.positive("job_id")
    if job_id is None:
        raise row.wrong("job_id", "a number from 1")
    state, times = _part(row, "state"), _part(row, "time")
    words = state_words(state.words("current"))
    if not words:
        raise state.wrong("current", "a state such as COMPLETED")
    submit = times.moment("submission")
    if submit is None:
        raise times.wrong("submission", "Unix seconds from 1")
    array, allocated = _part(row, "array"), _amounts(row, "allocated")
    return AccountedJob(
        job_id=job_id,
        name=row.text("name"),
        user=row.text("user") or _part(row, "association").text("user"),
        account=row.text("account"),
        partition=row.text("partition"),
        comment=_part(row, "comment").text("job"),
        state=words,
        submit_unix=submit,
        start_unix=times.moment("start"),
        end_unix=times.moment("end") if job_state(words) == "finished" else None,
        limit_s=times.minutes("limit"),
        array_job_id=array.positive("job_id"),
        array_task_id=array.whole("task_id") if array.positive("job_id") else None,
        nodes=row.hosts("nodes"),
        cpus=allocated.cpus,
        memory_mb=allocated.memory_mb,
        gpus=allocated.gpus,
        energy_j=_energy_j(row),
        exclusive=True if is_exclusive_command(row.text("submit_line")) else None,
        asked=_amounts(row, "requested"),
    )


def _part(row: Fields, key: str) -> Fields:
    """The object at a key; an empty one where there is none."""
    return row.child(key) or Fields(row.source, row.place_of(key), {})


def _amounts(row: Fields, key: str) -> Amounts:
    """Amounts of all nodes together, but for energy, which has rules of its own."""
    found: dict[str, int] = {}
    for each in _part(row, "tres").children(key):
        kind, name = each.text("type"), each.text("name")
        if kind != "energy" and (count := each.whole("count")) is not None:
            found[f"{kind}/{name}" if name else kind] = count
    typed = [count for name, count in found.items() if name.startswith("gres/gpu:")]
    if typed:
        # Slurm may count GPUs with and without their type, or in one way only.
        found.setdefault("gres/gpu", sum(typed))
    return Amounts(found.get("node"), found.get("cpu"), found.get("mem"), found.get("gres/gpu"))


def _energy_j(row: Fields) -> int | None:
    """The job's own, else that of its batch step: without srun, Slurm measures only there."""
    own = [_joules(each, "count") for each in _part(row, "tres").children("allocated") if each.text("type") == "energy"]
    for found in own:
        if found is not None:
            return found
    for step in row.children("steps"):
        named = _part(step, "step")
        if "batch" in (named.text("name"), named.text("id").rpartition(".")[2]):
            return _joules(_part(_part(step, "statistics"), "energy"), "consumed")
    return None


def _joules(row: Fields, key: str) -> int | None:
    """Energy [J]; None for null, marks, garbage, and for 0, which Slurm has where no sensor is read."""
    try:
        found = number_of(row.values.get(key))
    except ValueError as error:
        raise row.wrong(key, "joules, null or {set, infinite, number}") from error
    if found is None or not 1 <= found < GARBAGE_J:
        return None
    return int(found)
