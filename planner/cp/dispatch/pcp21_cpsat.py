"""PCP'21 by CP-SAT: the box model under fixed search, with limits that do not depend on the clock."""

from __future__ import annotations

from dataclasses import dataclass

from ortools.sat.python import cp_model

from planner.cp.dispatch.box_model import BoxModel
from planner.cp.dispatch.ladder import climb
from planner.domain.waiting_queue import NOTHING_FOUND, QueueAnswer, QueuePlan, WaitingQueue

WORK_PER_SECOND = 0.05
"""What CP-SAT 9.15 gets done with boxes in a second of a core, in its own measure of work; roughly."""


@dataclass(frozen=True)
class Pcp21CpSat:
    """Plans queues with the box model, in about as many seconds as ``work_s`` at first.

    One worker and a limit of work instead of time, so that the same queue always has the same plan.
    """

    work_s: float
    seed: int = 0

    def __call__(self, queue: WaitingQueue, known: QueuePlan, *, from_known: bool = False) -> QueueAnswer:
        """Starts and nodes of all jobs.

        A proof is one for boxes: a node whose free positions are not neighbours may hold more.
        """
        model = BoxModel(queue, known).add_all()

        def ask(factor: int) -> QueueAnswer:
            solver = cp_model.CpSolver()
            solver.parameters.max_deterministic_time = self.work_s * WORK_PER_SECOND * factor
            solver.parameters.num_workers = 1
            solver.parameters.random_seed = self.seed
            solver.parameters.search_branching = cp_model.FIXED_SEARCH
            # Probing takes most of a short solve, and in version 9.15 calls some feasible models infeasible.
            solver.parameters.cp_model_probing_level = 0
            status = solver.solve(model.sat)
            if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
                return NOTHING_FOUND
            return QueueAnswer(model.plan(solver), is_proven=status == cp_model.OPTIMAL)

        return climb(queue, ask)
