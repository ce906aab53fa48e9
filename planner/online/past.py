"""What happened before a replay begins: who has started, on which nodes, and until when others may be held."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.domain.columns import Ints
from planner.domain.trace import Trace
from planner.errors import InputError


@dataclass(frozen=True, eq=False)
class Past:
    """A moment of a trace and all that is decided by then.

    Attributes
    ----------
    moment_s
        The moment [s of the trace].
    start_s
        Start of each job, -1 for those that have not started.
    node_of_unit
        Node of each unit of the jobs that have started, -1 elsewhere.
    reference_s, latest_s
        Under policies that hold jobs: the first moment at which the scheduler would have started each job, and until
        when it may be held; -1 where that moment has not come yet.
    is_history
        Which jobs have ended on days before, nobody needs to know where; None: no job.
    """

    moment_s: int
    start_s: Ints
    node_of_unit: Ints
    reference_s: Ints
    latest_s: Ints
    is_history: np.ndarray[tuple[int], np.dtype[np.bool_]] | None = None

    def require_possible(self, trace: Trace, cancel_s: Ints) -> None:
        """InputError when a past does not belong to a trace or cannot have happened on its machine."""
        for column, entries in (
            (self.start_s, len(trace)),
            (self.reference_s, len(trace)),
            (self.latest_s, len(trace)),
            (self.node_of_unit, int(trace.unit_ptr[-1])),
        ):
            if len(column) != entries:
                raise InputError(f"{trace.source}: a past of {len(column)} entries where the trace has {entries}")
        started = self.start_s >= 0
        wrong = np.flatnonzero(started & ((self.start_s > self.moment_s) | (self.start_s < trace.submit_s)))
        if len(wrong):
            job = int(wrong[0])
            raise InputError(
                f"{trace.source}: job {trace.ids[job]} has started at {self.start_s[job]} s; give a start from its"
                f" submission, {trace.submit_s[job]} s, to the moment, {self.moment_s} s"
            )
        nodes = len(trace.machine.capacity)
        unit_started = np.repeat(started, np.diff(trace.unit_ptr))
        if np.any(unit_started & ((self.node_of_unit < 0) | (self.node_of_unit >= nodes))):
            raise InputError(f"{trace.source}: a job of the past is on no node of {nodes}")
        done_s = self.start_s + trace.runtime_s
        end_s = np.where(cancel_s >= 0, np.minimum(done_s, cancel_s), done_s)
        self._require_room(trace, started & (end_s > self.moment_s))

    def _require_room(self, trace: Trace, is_running: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
        """InputError when the running jobs ask more of a node than it has."""
        group_of_unit = np.repeat(np.arange(len(trace.group_count)), trace.group_count)
        units = np.repeat(is_running, np.diff(trace.unit_ptr))
        used = np.zeros_like(trace.machine.capacity)
        np.add.at(used, self.node_of_unit[units], trace.group_amount[group_of_unit[units]])
        over = np.flatnonzero(np.any(used > trace.machine.capacity, axis=1))
        if len(over):
            raise InputError(f"{trace.source}: the jobs of the past ask more of node {over[0]} than it has")
