"""The cells of the study: replays of one policy on one machine, and single dispatches of made-up queues."""

from __future__ import annotations

from dataclasses import dataclass

from planner.defaults import DISPATCH_STEPS, ROUND_ENGINE, ROUND_TIME_S
from planner.online.search_options import USUAL_SEARCH
from planner.runs.simulate import Conduct, RoundEngine

POLICIES = ("hcp19", "pcp19", "pcp21", "pcp21s", "order-stretch", "easy", "list", "spf-list")
ESTIMATES = ("actual", "requested", "last2", "data")
"""What policies believe of runtimes: with the last two, and with ``actual``, there are published figures."""

NODES = (64, 300, 1173, 5000)
QUEUES = (20, 100, 500)
"""Sizes of the made-up machines and queues: the first and the third machine have as many nodes as the real ones."""

CELL_TIME_S = 600.0
"""CPU time after which a replay is stopped [s]."""


@dataclass(frozen=True)
class Cell:
    """One replay; ``machine`` is the scenario's name, ``trace`` that of the jobs."""

    machine: str
    trace: str
    policy: str
    estimate: str

    @property
    def name(self) -> str:
        """Its name, such as ``eurora/replay/actual/pcp21``."""
        return f"{self.machine}/{self.trace}/{self.estimate}/{self.policy}"


@dataclass(frozen=True)
class QueueCell:
    """Dispatches of made-up queues of one size on a machine of one size."""

    nodes: int
    jobs: int
    policy: str

    @property
    def name(self) -> str:
        """Its name, such as ``1173-nodes/100-jobs/pcp21``."""
        return f"{self.nodes}-nodes/{self.jobs}-jobs/{self.policy}"


@dataclass(frozen=True)
class Limits:
    """How much dispatchers may try in a round, and how long a cell may take [s of CPU]."""

    engine: str = ROUND_ENGINE
    time_limit_s: float = ROUND_TIME_S
    dispatch_steps: int = DISPATCH_STEPS
    evaluations: int = USUAL_SEARCH.evaluations
    cell_s: float = CELL_TIME_S

    @property
    def round_engine(self) -> RoundEngine:
        """For the policies that an engine or a search of their own plans."""
        return RoundEngine(self.engine, self.time_limit_s, self.dispatch_steps)

    @property
    def conduct(self) -> Conduct:
        """For ``order-...``."""
        return Conduct(evaluations=self.evaluations)


USUAL_LIMITS = Limits()
