"""The cells of the study: one policy on one trace, with one estimate and one seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.online.policies import policy_named

BASE = "list"
"""The policy that all others are compared with, List-REG."""

LISTS = ("spf-list", "saf-list", "sjf-list", "laf-list")
SEARCHED = (
    "order-af",
    "order-af-ahead",
    "order-awf",
    "order-bsld",
    "order-bsld+",
    "order-bsld-ahead",
    "order-p2sf",
    "order-p2sf+",
    "order-p2sf-ratio",
)
POLICIES = (BASE, "easy", *LISTS, *SEARCHED)
ESTIMATES = ("actual", "requested", "last2")
"""What policies believe of runtimes; the last one is not in the paper."""

METRICS = ("af", "awf", "bsld", "p2sf")


@dataclass(frozen=True)
class Cell:
    """One replay; ``trace`` is the trace's name, ``seed`` that of the search."""

    trace: str
    policy: str
    estimate: str
    seed: int = 0

    @property
    def name(self) -> str:
        """Its name, such as ``KTH-SP2/actual/order-af/0``."""
        return f"{self.trace}/{self.estimate}/{self.policy}/{self.seed}"


def cells_of(trace: str, policies: Sequence[str], estimates: Sequence[str], seeds: int) -> list[Cell]:
    """The cells of a trace, List-REG first; only policies that search have several seeds."""
    wanted = list(dict.fromkeys((BASE, *policies)))
    return [
        Cell(trace, policy, estimate, seed)
        for estimate in estimates
        for policy in wanted
        for seed in range(seeds if is_searched(policy) else 1)
    ]


def is_searched(policy: str) -> bool:
    """Whether a policy searches, so that its seed counts."""
    return policy_named(policy).kind == "order"
