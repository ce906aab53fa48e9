"""What every engine offers, and what it answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from docplex.cp.model import CpoModel

AnswerStatus = Literal["optimal", "feasible", "infeasible", "unknown"]


@dataclass(frozen=True)
class Answer:
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
    ) -> Answer:
        """Solve a model; SolverError when the engine is missing, too small, or died without a solution."""


UNKNOWN = Answer("unknown")
"""The answer to a question with no time to think."""
