"""Dispatchers for machines with node classes and several resources: HCP'19, PCP'19, PCP'21 and PCP'21s.

Each plans the waiting jobs of a scheduling round for the least total slowdown, and has its own way with nodes.
"""

from __future__ import annotations

from planner.domain.waiting_queue import QueueSolver
from planner.errors import InputError


def dispatcher_named(name: str, *, engine: str, time_limit_s: float, steps: int, seed: int) -> QueueSolver:
    """What plans the queues under a dispatcher; SolverError with the remedy when its engine is not installed."""
    if name in ("pcp21", "pcp21s"):
        from planner.cp.dispatch.pcp21 import Pcp21

        return Pcp21(steps, starts_first=name == "pcp21s")

    if name in ("hcp19", "pcp19"):
        from planner.cp.dispatch.engine_dispatchers import Hcp19, Pcp19
        from planner.cp.engines.choose import engine_named

        return (Hcp19 if name == "hcp19" else Pcp19)(engine_named(engine), time_limit_s, seed)
    raise InputError(f"unknown dispatcher {name!r}; known: hcp19, pcp19, pcp21, pcp21s")
