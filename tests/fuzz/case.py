"""A case: one mutated input in a site of its own, the command that reads it, and the ways in which that may end."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.days import DAY
from tests.fuzz.surroundings import Surroundings

REFUSED = frozenset({0, 2, 4, 6})
"""Exit codes that an input may lead to: planned, or refused in one of the documented ways."""


@dataclass(frozen=True)
class Case:
    """A command to run in a site whose files are already written; ``codes`` are the exit codes that it may have.

    ``clean``: when it ends well, every day in the site must pass the audit; ``changing`` is a file that is written anew
    all the while; ``around`` is given where the command is a process of its own.
    """

    argv: list[str]
    codes: frozenset[int] = REFUSED
    clean: bool = True
    changing: Path | None = None
    around: Surroundings | None = None


Make = Callable[[random.Random, Path], Case]
"""Mutates one input of the tiny site in a folder, and says what to run there."""


def planning(rng: random.Random, *extra: str) -> list[str]:
    """A command that plans the day quickly, by any of the methods."""
    method = rng.choices(
        ["multisearch", "est", "profit-strict", "harvest", "delay", "cp", "relaxation"], [40, 20, 10, 15, 8, 1, 1]
    )[0]
    how = ["-m", method, "--iterations", "20", "--workers", "1", "--time-limit", "1s"]
    how += ["--bound-time", rng.choice(["0", "0", "1s"])]
    if rng.random() < 0.6:
        return ["run", "--from", DAY, "--to", DAY, "--no-page", "--fresh", *how, *extra]
    also = rng.choice([[], [], ["--also", "parquet"], ["--also", "swf"], ["--json"], ["-q"]])
    return ["--day", DAY, *how, *also, *extra]


def reading(rng: random.Random, *extra: str) -> list[str]:
    """A command that reads the inputs of the day: most plan it too."""
    if rng.random() < 0.3:
        return ["check", "--day", DAY, *rng.choice([[], ["--json"]]), *extra]
    return planning(rng, *extra)
