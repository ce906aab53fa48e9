"""What every engine offers, what it answers, and how large a model is for it.

The Community Edition counts the bits of the decisions, of which it takes 1000. Every free top-level interval costs log2
of its possible starts (of at most N, the number of top-level intervals) and of its absence; every alternative log2 of
its children; every integer variable log2 of its domain. Expressions and the children of alternatives cost nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import log2
from typing import Any, Literal

from docplex.cp.expression import CpoFunctionCall, CpoIntervalVar, CpoIntVar
from docplex.cp.model import CpoModel

AnswerStatus = Literal["optimal", "feasible", "infeasible", "unknown"]


@dataclass(frozen=True)
class EngineAnswer:
    """The best solution of a solve, if any.

    ``unknown``: time was up before a solution or a proof. ``died`` says that the process ended by itself,
    ``interrupted`` that the user asked for the end (Ctrl-C); the solution is then the last that was found.
    """

    status: AnswerStatus
    solution: Any = None
    objective: float | None = None
    bound: float | None = None
    died: bool = False
    interrupted: bool = False


Heard = Callable[[float], bool]
"""Called with the objective of each solution on the way; true asks the engine to stop."""


class Engine(ABC):
    """Something that solves a docplex model."""

    name: str
    limits: str
    """What the engine cannot do, in words."""
    remedy: str
    """What to install when the engine is missing."""

    @abstractmethod
    def available(self) -> bool:
        """Whether the engine can be used here."""

    @abstractmethod
    def version(self) -> str | None:
        """Version of the engine; None when it is not installed."""

    @abstractmethod
    def fits(self, model: CpoModel) -> bool:
        """Whether a model is within the engine's limits."""

    @abstractmethod
    def solve(
        self, model: CpoModel, *, time_limit_s: float, seed: int = 0, workers: int = 1, heard: Heard | None = None
    ) -> EngineAnswer:
        """Solve a model; SolverError when the engine is missing, too small, or died without a solution."""


UNKNOWN = EngineAnswer("unknown")
"""The answer to a question with no time to think."""


COMMUNITY_BITS = 1000


def bits(model: CpoModel) -> float:
    """Bits of a model's decisions."""
    children: set[int] = set()
    total = 0.0
    for expression, _ in model.get_all_expressions():
        if isinstance(expression, CpoFunctionCall) and expression.operation.cpo_name == "alternative":
            seats = expression.children[1].children
            children.update(map(id, seats))
            total += log2(len(seats))
    variables = model.get_all_variables()
    tops = [one for one in variables if isinstance(one, CpoIntervalVar) and id(one) not in children]
    for interval in tops:
        starts = min(interval.start[1] - interval.start[0] + 1, len(tops))
        total += log2(starts + (1 if interval.is_optional() else 0))
    for variable in variables:
        if isinstance(variable, CpoIntVar):
            total += log2(variable.get_domain_max() - variable.get_domain_min() + 1)
    return total


def calls_of(model: CpoModel, *names: str) -> Iterator[CpoFunctionCall]:
    """The calls of some functions anywhere in a model."""
    seen: set[int] = set()
    waiting = [expression for expression, _ in model.get_all_expressions()]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, CpoFunctionCall) and one.operation.cpo_name in names:
            yield one
        waiting += one.children
