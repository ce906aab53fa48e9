"""The engines that solve docplex models, and which one takes a model: OR-Tools CP-SAT, CP Optimizer in two editions."""

from __future__ import annotations

from docplex.cp.model import CpoModel

from planner.cp.engines.cpo import CpOptimizer
from planner.cp.engines.cpsat import CpSat
from planner.cp.engines.engine import COMMUNITY_BITS, Engine, bits
from planner.errors import InputError, SolverError

ENGINES: dict[str, Engine] = {
    engine.name: engine for engine in (CpSat(), CpOptimizer(community=True), CpOptimizer(community=False))
}


def engine_named(name: str) -> Engine:
    """An engine by name; SolverError with the remedy when it is not installed."""
    if name not in ENGINES:
        raise InputError(f"unknown engine {name!r}; known: {', '.join(ENGINES)}")
    engine = ENGINES[name]
    if not engine.available():
        raise SolverError(
            f"the engine {name} is not installed; {engine.remedy}, or use another method, policy or engine"
        )
    return engine


def choose_engine(name: str | None, model: CpoModel) -> Engine:
    """The engine for a model: the one asked for, else licensed CP Optimizer, the Community Edition if it fits, CP-SAT.

    SolverError when the one asked for is missing or too small, or when there is none.
    """
    if name is not None:
        engine = engine_named(name)
        if not engine.fits(model):
            raise SolverError(
                f"the model has {bits(model):.0f} bits and {name} takes {COMMUNITY_BITS}; use --engine cpsat,"
                " --method relaxation (which works on parts of the day), or a licensed CP Optimizer"
            )
        return engine
    order = (ENGINES["cpo"], ENGINES["cpo-community"], ENGINES["cpsat"])
    found = next((engine for engine in order if engine.available() and engine.fits(model)), None)
    if found is None:
        remedy = f"{ENGINES['cpsat'].remedy}, or use a method without one, such as harvest"
        raise SolverError(f"no CP engine that takes this model is installed; {remedy}")
    return found
