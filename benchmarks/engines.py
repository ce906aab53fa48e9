"""What each CP engine is worth: times to proof on small days, and what it adds to MultiSearch on a real one.

python benchmarks/engines.py proofs               seven to nine jobs, every engine that is installed
python benchmarks/engines.py day [SECONDS]        a day of CEA Curie: multisearch, relaxation, cp per engine
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import itertools

from planner.cp.engines import ENGINES
from planner.cp.profit_model import ProfitModel
from planner.cp.subproblem import Subproblem
from planner.domain.problem import Problem

LIMIT_S = 10.0
WORKERS = 2


def small_day(seed: int, jobs: int) -> Problem:
    """A day of three nodes, four segments and a table with a kink; everything may be deferred."""
    from planner.domain.cluster import Cluster, NodeClass
    from planner.domain.job import Job, UnitGroup
    from planner.domain.rates import Rates
    from planner.domain.segment import Segment
    from tests.factories import DAY, small_table

    rng = np.random.default_rng(seed)
    made = []
    for number in range(jobs):
        units = (UnitGroup.of(1, {"cores": float(rng.integers(1, 5))}),)
        made.append(
            Job(f"j{number}", DAY.start_unix, int(rng.integers(2, 20)) * 1800, units, float(rng.integers(100, 900)))
        )
    edges = [0, 21600, 43200, 64800, 86400]
    segments = tuple(
        Segment(a, b, int(rng.integers(0, 7)) * 5, round(float(rng.uniform(0.05, 0.4)), 2))
        for a, b in itertools.pairwise(edges)
    )
    cluster = Cluster((NodeClass("cpu", 3, {"cores": 4}),))
    return Problem(DAY, cluster, tuple(made), segments, small_table(clamp=True), Rates(0.03), defer="free")


def proofs() -> None:
    """Print the time that each engine takes to prove the optimum, and whether they agree."""
    names = [name for name, engine in ENGINES.items() if engine.available()]
    print(f"{'jobs':>4} {'seed':>4}  " + "  ".join(f"{name:>24}" for name in names))
    for jobs in (7, 8, 9):
        for seed in range(3):
            model = ProfitModel(small_day(seed, jobs), Subproblem.whole_day(small_day(seed, jobs)))
            cells = []
            for name in names:
                began = time.perf_counter()
                answer = ENGINES[name].solve(model.cpo, time_limit_s=LIMIT_S, workers=WORKERS)
                took = time.perf_counter() - began
                profit = model.objective.to_eur(answer.objective) if answer.objective is not None else float("nan")
                cells.append(f"{answer.status:>9} {took:5.1f} s {profit:7.4f}")
            print(f"{jobs:>4} {seed:>4}  " + "  ".join(f"{cell:>24}" for cell in cells), flush=True)


def day(seconds: float) -> None:
    """Print what relaxation and cp earn with each engine on a rich and a thin day, beside MultiSearch."""
    from days import curie_day

    from planner.domain.result import MaxRuntime, never
    from planner.methods import Params, method_named

    for setting, more in (("rich", ()), ("thin", ("revenue.eur_per_core_hour=0.004",))):
        problem = replace(curie_day(more=more), defer="free")
        seed = method_named("multisearch")(problem, Params(), never)
        base = seed.ledger.profit_eur
        print(f"{setting}: {len(problem.jobs)} jobs, multisearch {base:.3f} EUR")
        for name, engine in ENGINES.items():
            if not engine.available():
                continue
            for method in ("relaxation", "cp"):
                if method == "cp" and name == "cpo-community":
                    continue
                params = Params(engine=name, time_limit_s=seconds)
                result = method_named(method)(problem, params, MaxRuntime(seconds))
                gain = result.ledger.profit_eur / base - 1
                print(f"  {method:<11} {name:<14} {result.ledger.profit_eur:10.3f} EUR {gain:+.4%}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["day"]:
        day(float(sys.argv[2]) if len(sys.argv) > 2 else 30.0)
    else:
        proofs()
