"""Mutated dependencies of jobs, in the cells of a table."""

from __future__ import annotations

import random
from pathlib import Path

from planner.domain.job import KINDS
from tests.fuzz.case import Case, reading
from tests.fuzz.damage import put
from tests.fuzz.grid import csv_text, read_grid
from tests.fuzz.odd import odd_text, odd_word
from tests.fuzz.site import JOBS

IDS = (
    "a",
    "b",
    "c",
    "d",
    "gone",
    "7_3",
    "a b",
    "é",
    "",
    " ",
    "(unfulfilled)",
    "a(unfulfilled)",
    "a(failed)",
    "a+5",
    "?",
)
SOUND = ("", "afterok:a", "after:a:b", "afterany:gone,afterok:a(unfulfilled)", " after:a , afterok:b ")
SIGNS = ',:?+()" \t\n\x00|;'


def odd_dependencies(rng: random.Random) -> str:
    """A text that is nearly one of dependencies, or not at all."""
    chance = rng.random()
    if chance < 0.15:
        return odd_word(rng)
    text = rng.choice(SOUND)
    if chance < 0.6:
        parts = [
            ":".join([rng.choice([*KINDS, *KINDS, "afternotok", "singleton", "AFTEROK", ""]), *_some(rng)])
            for _ in range(rng.choice([1, 1, 2, 3]))
        ]
        text = rng.choice([",", ",", ",", "?", " , "]).join(parts)
    for _ in range(rng.choice([0, 0, 1, 2])):
        place = rng.randrange(len(text) + 1)
        text = text[:place] + rng.choice(SIGNS) * rng.choice([1, 1, 500]) + text[place + rng.randrange(2) :]
    return text


def _some(rng: random.Random) -> list[str]:
    return [rng.choice(IDS) if rng.random() < 0.9 else odd_text(rng) for _ in range(rng.choice([0, 1, 1, 2, 3]))]


def dependencies(rng: random.Random, site: Path) -> Case:
    """A table whose jobs wait for each other in odd ways."""
    head, *rows = read_grid(JOBS)
    names = [row[0] for row in rows]
    grid = [[*head, "dependency"]]
    for row in rows:
        sound = f"{rng.choice(KINDS)}:{rng.choice(names)}"
        grid.append([*row, rng.choice(["", "", sound, odd_dependencies(rng) if rng.random() < 0.3 else sound])])
    path = put(rng, site / "jobs/odd.csv", csv_text(rng, grid).encode("utf-8", "surrogatepass"))
    return Case(reading(rng, "--jobs", str(path)))
