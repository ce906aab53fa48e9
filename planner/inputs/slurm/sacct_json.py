"""Reads jobs from ``sacct --json``: who ran what, when, where, and what it drew."""

from __future__ import annotations

from dataclasses import dataclass

from planner.inputs.slurm.job import AllocatedNode, SlurmJob, accounted_state, state_words
from planner.inputs.slurm.json_document import Fields, Source, number_of, read_document
from planner.inputs.slurm.notations import Amounts, names_of
from planner.inputs.slurm.request import accounted_request

COMMAND = "sacct --json"
GARBAGE_J = 2**63
"""From here on a number of joules is no measurement, but one of Slurm's marks or a counter that ran over."""


@dataclass(frozen=True)
class Accounts:
    """Jobs in the order of the document."""

    jobs: tuple[SlurmJob, ...] = ()

    @property
    def ended(self) -> tuple[SlurmJob, ...]:
        """Those that have ended."""
        return tuple(job for job in self.jobs if job.end_unix is not None)


def read_accounting(source: Source) -> Accounts:
    """Every job of the output of ``sacct --json``."""
    _, rows = read_document(source, "jobs", COMMAND)
    return Accounts(tuple(_job(row) for row in rows))


def _job(row: Fields) -> SlurmJob:
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
    start, end = times.moment("start"), times.moment("end")
    found = accounted_state(words, start, end)
    array = _part(row, "array")
    nodes = row.hosts("nodes")
    return SlurmJob(
        job_id=job_id,
        name=row.text("name"),
        user=row.text("user") or _part(row, "association").text("user"),
        account=row.text("account"),
        partitions=names_of(row.text("partition")),
        comment=_part(row, "comment").text("job"),
        qos=row.text("qos"),
        state=found,
        state_words=words,
        submit_unix=submit,
        start_unix=start,
        end_unix=end if found == "finished" else None,
        limit_s=times.minutes("limit"),
        array_job_id=array.positive("job_id"),
        array_task_id=array.whole("task_id") if array.positive("job_id") else None,
        allocated=tuple(AllocatedNode(name) for name in nodes),
        had=_amounts(row, "allocated"),
        energy_j=_energy_j(row),
        request=accounted_request(_amounts(row, "requested"), len(nodes), row.text("submit_line")),
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
