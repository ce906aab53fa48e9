"""Two versions of the planner side by side: the same commands, in turns, and how their times compare.

    python benchmarks/side_by_side.py OLD NEW [--rounds 3] [--trace KTH.swf.gz]

OLD and NEW are checkouts (``git worktree add --detach ../old COMMIT``). Every command runs in each of them in turns, so
that a busy machine is busy for both; the quickest of the rounds counts. The first run compiles with nothing kept.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DAY = "2024-06-01"
PLAN = ["--day", DAY, "-q", "--bound-time", "0", "--out", "days"]


def main() -> None:
    """Time every command in both versions, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--trace", type=Path, help="an SWF trace to replay")
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
    trees = (given.old.resolve(), given.new.resolve())
    print(f"{'command':<36}{'old':>9}{'new':>9}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as base:
        for first in (True, False):
            chosen = {"first run, nothing kept": commands["sample day, multisearch"]} if first else commands
            for name, command in chosen.items():
                best = [float("inf"), float("inf")]
                for _ in range(given.rounds):
                    for index, tree in enumerate(trees):
                        best[index] = min(best[index], _seconds(tree, command, Path(base), fresh=first))
                print(f"{name:<36}{best[0]:>7.2f} s{best[1]:>7.2f} s{best[1] / best[0]:>8.2f}", flush=True)


def _seconds(tree: Path, command: list[str], base: Path, *, fresh: bool) -> float:
    """Wall time of a command in a version [s]; ``fresh``: nothing that was compiled before is kept."""
    with tempfile.TemporaryDirectory() as there:
        kept = Path(there) / "kept" if fresh else base / f"kept-{abs(hash(tree))}"
        told = os.environ | {"PYTHONPATH": str(tree), "NUMBA_CACHE_DIR": str(kept)}
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "planner", *command],
            check=False,
            cwd=there,
            env=told,
            capture_output=True,
            text=True,
        )
        took = time.perf_counter() - began
    if done.returncode != 0:
        sys.exit(f"{tree}: plan {' '.join(command)} ends with {done.returncode}: {done.stderr.strip()[-500:]}")
    return took


if __name__ == "__main__":
    main()
