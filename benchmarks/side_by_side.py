"""Two versions of the planner side by side: the same commands, in turns, and how their times compare.

    python benchmarks/side_by_side.py OLD NEW [--rounds 3] [--trace KTH.swf.gz] [--curie DATA]

OLD and NEW are checkouts (``git worktree add --detach ../old COMMIT``). Every command runs in each of them in turns, so
that a busy machine is busy for both; the quickest of the rounds counts, by the clock and, with all its processes, by
the processor. The first plan compiles with nothing kept. DATA is a folder with the trace of CEA Curie: five of its days
are planned once.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

DAY = "2024-06-01"
CURIE = "five Curie days, harvest"
PLAN = ["--day", DAY, "-q", "--bound-time", "0", "--out", "days"]


def main() -> None:
    """Time every command in both versions, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--trace", type=Path, help="an SWF trace to replay")
    parser.add_argument("--curie", type=Path, help="a folder with the trace of CEA Curie")
    given = parser.parse_args()
    commands = {
        "plan --help": ["--help"],
        "sample day, multisearch": [*PLAN, "-m", "multisearch"],
        "sample day, harvest, 20,000 steps": [*PLAN, "-m", "harvest", "--iterations", "20000"],
        "three days, est": ["run", "--from", DAY, "--to", "2024-06-03", *PLAN[2:], "-m", "est"],
    }
    if given.trace is not None:
        trace = str(given.trace.resolve())
        for policy in ("easy", "list", "conservative", "deadline"):
            commands[f"replay, {policy}"] = ["simulate", trace, "-p", policy, "-e", "requested", "-q"]
    if given.curie is not None:
        slice_of = ["--days", "5", "--days-only", "--calibrations", "ours", "--scenarios", "air-summer"]
        alone = ["--bound-time", "0", "--run-bound-time", "0", "--processes", "1", "-q"]
        data = str(given.curie.resolve())
        commands[CURIE] = ["study", "curie23", *slice_of, "--methods", "harvest", *alone, "--data", data]
    trees = (given.old.resolve(), given.new.resolve())
    print(f"{'':<36}{'by the clock':>26}{'by the processor':>26}")
    print(f"{'command':<36}" + 2 * f"{'old':>9}{'new':>9}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as base:
        for first in (True, False):
            chosen = {"first plan, nothing kept": PLAN} if first else commands
            for name, command in chosen.items():
                best = np.full((2, 2), np.inf)
                for _ in range(1 if name == CURIE else given.rounds):
                    for index, tree in enumerate(trees):
                        best[:, index] = np.minimum(best[:, index], _seconds(tree, command, Path(base), fresh=first))
                print(f"{name:<36}" + "".join(f"{o:>7.2f} s{n:>7.2f} s{n / o:>8.2f}" for o, n in best), flush=True)


def _seconds(tree: Path, command: list[str], base: Path, *, fresh: bool) -> tuple[float, float]:
    """Time of a command in a version by the clock and by the processor [s]; ``fresh``: nothing compiled is kept."""
    with tempfile.TemporaryDirectory() as there:
        kept = Path(there) / "kept" if fresh else base / f"kept-{abs(hash(tree))}"
        told = os.environ | {"PYTHONPATH": str(tree), "NUMBA_CACHE_DIR": str(kept)}
        began, before = time.perf_counter(), os.times()
        done = subprocess.run(
            [sys.executable, "-m", "planner", *command],
            check=False,
            cwd=there,
            env=told,
            capture_output=True,
            text=True,
        )
        took, after = time.perf_counter() - began, os.times()
    if done.returncode != 0:
        sys.exit(f"{tree}: plan {' '.join(command)} ends with {done.returncode}: {done.stderr.strip()[-500:]}")
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return took, used


if __name__ == "__main__":
    main()
