"""Nodes for starts that an engine found without them, where it counted what is in use per class."""

from __future__ import annotations

import numpy as np

from planner.cp.insertion import insert
from planner.cp.repair import Complete
from planner.domain.columns import Ints
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem


class Seats:
    """Gives nodes to jobs in order of their starts, each from its start on; jobs that have nodes keep them.

    Where no nodes are free at a start the job waits for them; where there are none today it does not start.
    """

    def __init__(self, problem: Problem, complete: Complete | None) -> None:
        self._problem = problem
        self._complete = complete
        self._order = np.zeros(0, dtype=np.int64)
        self._from_s = problem.columns.release_s.copy()

    def taken(self, plan: Plan, start_s: Ints) -> Plan:
        """The plan with the jobs that have a start and no nodes yet; without those that find none today."""
        new = np.flatnonzero((start_s != DEFERRED) & ~plan.is_placed)
        new = new[np.argsort(start_s[new], kind="stable")]
        if self._complete is None:
            for job in new:
                plan = insert(self._problem, plan, int(job), int(start_s[job])) or plan
            return plan
        self._order = np.concatenate([self._order, new])
        self._from_s[new] = start_s[new]
        return self._complete(self._order, self._from_s)
