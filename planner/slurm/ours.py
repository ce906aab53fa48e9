"""Which begin times are ours: set by an earlier run, and not changed by anybody since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from planner.slurm.current import Record

Key = tuple[str, int]
"""Job id and submit time: Slurm gives ids anew, and a job that is queued again has a new submit time."""


@dataclass(frozen=True)
class Entry:
    """What was set for one job."""

    old_unix: int | None
    """The begin time before the first of ours; None: not set."""
    sent: tuple[int, ...]
    """Every begin time that was sent since, the newest last; a job that did not take it still has an earlier one."""


@dataclass(frozen=True)
class Ours:
    """All that was set and not undone."""

    entries: Mapping[Key, Entry] = field(default_factory=dict)

    def of(self, job: Record) -> Entry | None:
        """What was set for a job, as long as it has a begin time of ours; else None.

        A task that has left its array since has what was set for the array.
        """
        for name in (job.id, job.array):
            entry = self.entries.get((name, job.submit_unix))
            if entry is not None and job.begin_unix in entry.sent:
                return entry
        return None

    def own_begin(self, job: Record) -> int | None:
        """The begin time that the job has without us."""
        entry = self.of(job)
        return job.begin_unix if entry is None else entry.old_unix


def with_sent(entries: Mapping[Key, Entry], key: Key, old_unix: int | None, new_unix: int) -> Entry:
    """The entry of a job once one more begin time was sent."""
    job, submit_unix = key
    for name in (job, job.partition("_")[0]):
        before = entries.get((name, submit_unix))
        if before is not None and old_unix in before.sent:
            return Entry(before.old_unix, (*(each for each in before.sent if each != new_unix), new_unix))
    return Entry(old_unix, (new_unix,))
