"""The dispatchers by name."""

from __future__ import annotations

from planner.domain.waiting_queue import QueueSolver
from planner.errors import InputError


def dispatcher_named(name: str, *, engine: str, time_limit_s: float, steps: int, seed: int) -> QueueSolver:
    """What plans the queues under a dispatcher; SolverError with the remedy when its engine is not installed."""
    if name in ("pcp21", "pcp21s"):
        from planner.cp.dispatch.pcp21 import Pcp21

        return Pcp21(steps, starts_first=name == "pcp21s")

    from planner.cp.engines.choose import engine_named

    if name == "hcp19":
        from planner.cp.dispatch.hcp19 import Hcp19

        return Hcp19(engine_named(engine), time_limit_s, seed)
    if name == "pcp19":
        from planner.cp.dispatch.pcp19 import Pcp19

        return Pcp19(engine_named(engine), time_limit_s, seed)
    raise InputError(f"unknown dispatcher {name!r}; known: hcp19, pcp19, pcp21, pcp21s")
