"""The cells of the study: one policy on one trace, with the draws of deadline jobs that it is measured with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HEEDING = ("deadline", "deadline-early")
"""Policies that heed deadlines: every draw is a replay of its own."""

BLIND = ("conservative", "easy")
"""Policies that know no deadlines: one replay is measured with every draw."""

BASE = "conservative"
"""The policy that the others are compared with."""

POLICIES = (*HEEDING, *BLIND)
PERCENTS = (20.0, 40.0, 60.0, 80.0)


@dataclass(frozen=True)
class Draw:
    """Some percent of the jobs with a deadline, drawn with a seed."""

    percent: float
    seed: int


@dataclass(frozen=True)
class Choice:
    """Which jobs of a trace are replayed, on how many processors, and what is believed of their runtimes."""

    processors: int | None = None
    partitions: tuple[int, ...] = ()
    queues: tuple[int, ...] = ()
    jobs: int | None = None
    estimate: str = "requested"


@dataclass(frozen=True)
class Cell:
    """One replay, and the draws that it is measured with; ``trace`` is the trace's name."""

    trace: str
    policy: str
    draws: tuple[Draw, ...]

    @property
    def name(self) -> str:
        """Its name, such as ``HPC2N/deadline/20-0``."""
        drawn = "all" if self.policy in BLIND else "+".join(f"{each.percent:g}-{each.seed}" for each in self.draws)
        return f"{self.trace}/{self.policy}/{drawn}"


def cells_of(trace: str, policies: Sequence[str], percents: Sequence[float], seeds: int) -> list[Cell]:
    """The cells of a trace."""
    draws = [Draw(percent, seed) for percent in percents for seed in range(seeds)]
    found = [Cell(trace, policy, tuple(draws)) for policy in policies if policy in BLIND]
    return found + [Cell(trace, policy, (draw,)) for policy in policies if policy not in BLIND for draw in draws]


def cell_files(
    traces: Sequence[Path], names: Sequence[str], policies: Sequence[str], percents: Sequence[float], seeds: int
) -> dict[Cell, Path]:
    """Every cell with the file of its trace."""
    return {
        cell: path
        for path, name in zip(traces, names, strict=True)
        for cell in cells_of(name, policies, percents, seeds)
    }
