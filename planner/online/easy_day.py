"""EASY on one day: what a site that runs plain EASY backfilling would have started, from the same beginning."""

from __future__ import annotations

import numpy as np

from planner.domain.job_order import by_priority
from planner.domain.plan import Plan
from planner.domain.problem import Problem
from planner.online.day_rules import ground_of


def easy_plan(problem: Problem, happened: Problem) -> Plan:
    """What EASY starts on a day, knowing only jobs that are submitted and the times that they ask for.

    Parameters
    ----------
    problem
        The day with every job as long as it asked.
    happened
        The day as it was carried out: the same jobs, as long as they ran.
    """
    from planner.online.kernel.easy_walk import Ahead, walk_easy

    expected_s = problem.columns.duration_s
    ground = ground_of(happened, expected_s, by_priority(problem, np.argsort(problem.submission_rank)))
    machine = ground.machine._replace(open=np.zeros_like(ground.machine.free))
    ahead = Ahead(
        length=expected_s,
        end=np.concatenate([np.zeros(ground.count, dtype=np.int64), problem.running_end_s]),
        spare=np.zeros_like(machine.free),
        power_mw=np.zeros(1, dtype=np.int64),
        end_time=np.zeros_like(machine.end_time),
        end_job=np.zeros_like(machine.end_job),
        failed=np.zeros_like(ground.line.failed),
    )
    length_s = np.int64(problem.horizon.length_s)
    walk_easy(machine, ground.jobs, ground.line, ahead, length_s, ground.start_s, ground.node_of_unit)
    return ground.plan
