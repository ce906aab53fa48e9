"""Mutated cooling: PUE tables, and nameplates that tables are built from."""

from __future__ import annotations

import random
from pathlib import Path

import yaml

from tests.days import small_table
from tests.fuzz.case import Case, reading
from tests.fuzz.damage import put
from tests.fuzz.grid import csv_text, mutated, read_grid
from tests.fuzz.odd import odd_number, odd_word
from tests.fuzz.site import PLANT
from tests.fuzz.tree import mutated as mutated_tree
from tests.fuzz.tree import mutated_text, yaml_text


def pue_table(rng: random.Random, site: Path) -> Case:
    """A PUE table with odd cells, rows, columns or comments."""
    grid = read_grid(small_table())
    text = csv_text(rng, mutated(rng, grid if rng.random() < 0.5 else [row[:4] for row in grid[:6]]))
    if rng.random() < 0.3:
        comment = rng.choice([f"clamp: {odd_word(rng)}", "clamp: true", f"name: {odd_word(rng)}", odd_word(rng)])
        text = f"# {comment}\n{text}"
    elif rng.random() < 0.5:
        text = f"# clamp: true\n{text}"
    path = put(rng, site / "tables/odd.csv", text.encode("utf-8", "surrogatepass"))
    return Case(reading(rng, "--set", f"cooling.table={path}"))


def nameplate(rng: random.Random, site: Path) -> Case:
    """A nameplate file with odd keys, values or YAML, and odd options of ``plan table build``."""
    text = PLANT if rng.random() < 0.3 else yaml_text(rng, mutated_tree(rng, yaml.safe_load(PLANT)))
    if rng.random() < 0.3:
        text = mutated_text(rng, text)
    put(rng, site / "plant.yaml", text.encode("utf-8", "surrogatepass"))
    options = ["--max-power-kw", "3", "--power-step-w", "500"]
    if rng.random() < 0.2:
        options[rng.choice([1, 3])] = odd_number(rng)
    extra = rng.choice([[], [], [], ["--clamp"]])
    return Case(["table", "build", "--plant", "plant.yaml", "--out", "built.csv", *options, *extra])
