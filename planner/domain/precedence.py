"""Which jobs wait for which others, as arrays."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

import numpy as np
import numpy.typing as npt

from planner.domain.job import Dependency, Job
from planner.errors import InputError
from planner.printable import shortened

Ints = npt.NDArray[np.int64]

MOST_NAMED = 6
"""Jobs of a circle that a message names."""


@dataclass(frozen=True)
class Links:
    """Who waits for whom among some jobs.

    Job j waits for the jobs in ``before[before_ptr[j] : before_ptr[j + 1]]``, and the jobs that wait for it are in
    ``followers[follower_ptr[j] : follower_ptr[j + 1]]``. Each row has the other job, and 1 where the end of the first
    is waited for, 0 where its start is enough.
    """

    before_ptr: Ints
    before: Ints
    follower_ptr: Ints
    followers: Ints

    def __len__(self) -> int:
        return len(self.before)

    def before_of(self, job: int) -> list[list[int]]:
        """The jobs that a job waits for, each with 1 where for its end."""
        found: list[list[int]] = self.before[self.before_ptr[job] : self.before_ptr[job + 1]].tolist()
        return found

    def followers_of(self, job: int) -> list[list[int]]:
        """The jobs that wait for a job, each with 1 where for its end."""
        found: list[list[int]] = self.followers[self.follower_ptr[job] : self.follower_ptr[job + 1]].tolist()
        return found

    def sorted(self, order: Iterable[int]) -> Ints:
        """The same jobs in the same order, but each after those of them that it waits for."""
        listed: list[int] = np.asarray(order, dtype=np.int64).tolist()
        waiting, placed = set(listed), []
        for job in listed:
            stack = [job]
            while stack:
                ahead = [other for other, _ in self.before_of(stack[-1]) if other in waiting]
                if ahead:
                    stack.append(ahead[0])
                    continue
                last = stack.pop()
                if last in waiting:
                    waiting.remove(last)
                    placed.append(last)
        return np.array(placed, dtype=np.int64)


def no_links(count: int) -> Links:
    """Nobody waits for anybody."""
    nowhere = np.zeros(count + 1, dtype=np.int64)
    nobody = np.zeros((0, 2), dtype=np.int64)
    return Links(nowhere, nobody, nowhere, nobody)


def links_of(ids: Sequence[str], after: Sequence[tuple[Dependency, ...]]) -> Links:
    """The links between jobs; a dependency on a job that is not among them is left out. InputError on a circle."""
    if not any(after):
        return no_links(len(ids))
    index = {job_id: number for number, job_id in enumerate(ids)}
    rows = [
        (job, index[each.job_id], int(each.waits_for_end))
        for job, needed in enumerate(after)
        for each in needed
        if each.job_id in index
    ]
    links = np.array(rows, dtype=np.int64).reshape(-1, 3)
    _require_no_circle(ids, links)
    return _as_links(links, len(ids))


def first_links(links: Links, count: int) -> Links:
    """The links between the first jobs alone."""
    job = np.repeat(np.arange(len(links.before_ptr) - 1), np.diff(links.before_ptr))
    rows = np.column_stack([job, links.before])
    return _as_links(rows[(rows[:, 0] < count) & (rows[:, 1] < count)], count)


def _as_links(rows: Ints, count: int) -> Links:
    """Links from rows in the order of the jobs that wait: who waits, for whom, and 1 where for its end."""
    by_first = rows[np.lexsort((rows[:, 0], rows[:, 1]))]
    return Links(
        before_ptr=_pointers(rows[:, 0], count),
        before=np.ascontiguousarray(rows[:, 1:]),
        follower_ptr=_pointers(by_first[:, 1], count),
        followers=np.ascontiguousarray(by_first[:, [0, 2]]),
    )


def require_no_circle(jobs: Sequence[Job]) -> None:
    """InputError that names the jobs when some wait for each other in a circle."""
    links_of([job.id for job in jobs], [job.after for job in jobs])


def waiting_in_vain(jobs: Iterable[Job], never: Collection[str]) -> set[str]:
    """Ids of the jobs that wait for one that never runs, be it through others."""
    lost, found = set(never), set[str]()
    waiting = [job for job in jobs if job.after]
    while more := {job.id for job in waiting if job.id not in found and any(each.job_id in lost for each in job.after)}:
        found |= more
        lost |= more
    return found


def _require_no_circle(ids: Sequence[str], links: Ints) -> None:
    """InputError that names the jobs of a circle, each before the one that it waits for, the first job first."""
    order: TopologicalSorter[int] = TopologicalSorter()
    for job, other, _ in links.tolist():
        order.add(job, other)
    try:
        order.prepare()
        return
    except CycleError as error:
        found: list[int] = error.args[1][:0:-1]
    first = found.index(min(found))
    circle = [*found[first:], *found[: first + 1]]
    if len(circle) == 2:
        raise InputError(f"job {shortened(ids[circle[0]], 40)} waits for itself; remove that dependency")
    more = f" ... ({len(circle) - 1} jobs)" if len(circle) > MOST_NAMED + 1 else ""
    names = " -> ".join(shortened(ids[job], 40) for job in circle[: MOST_NAMED + 1])
    raise InputError(f"jobs wait for each other in a circle: {names}{more}; remove one of these dependencies")


def _pointers(owners: Ints, count: int) -> Ints:
    return np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=count))]).astype(np.int64)
