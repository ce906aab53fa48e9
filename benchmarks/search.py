"""What each method makes of real days, and how fast the decoder is: ``python benchmarks/search.py [--seconds 60]``.

Ten days of CEA Curie: 2012-08-07 and a backlog of 14,000 pending jobs, each with rich and thin margins and a flat and
an hourly tariff, and two more normal days. Rich: 0.02 EUR per core-hour. Thin: so little that energy and cooling would
eat nine tenths of it or more, and ``defer: free``. For each day the proven bound, and for each method its profit, the
gain over MultiSearch, the gap to the bound and the time to its best plan.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
from days import backlog_day, curie_day, french_prices

from planner.accounting.audit import audit
from planner.accounting.bound import profit_bound
from planner.domain.method_params import HarvestParams
from planner.domain.problem import Problem
from planner.domain.result import MaxRuntime, Trial
from planner.methods import Params, method_named
from planner.search.decode import decode
from planner.search.harvest import harvest
from planner.search.kernel.search_state import STEPS, Habits
from planner.search.multisearch import multisearch
from planner.search.orderings import ORDERINGS, job_order
from planner.search.rebuild import Chain

FREE = ("rules.defer=free",)
THIN_FLAT = (*FREE, "revenue.eur_per_core_hour=0.0022")
THIN_HOURLY = (*FREE, "revenue.eur_per_core_hour=0.0006")


def days() -> Iterator[tuple[str, Problem]]:
    """The ten days."""
    for kind, make in (("2012-08-07", curie_day), ("backlog", backlog_day)):
        yield f"{kind}, rich, flat", make()
        yield f"{kind}, rich, hourly", make(more=french_prices())
        yield f"{kind}, thin, flat", make(more=THIN_FLAT)
        yield f"{kind}, thin, hourly", make(more=(*THIN_HOURLY, *french_prices()))
    for day in ("2012-08-08", "2012-08-14"):
        yield f"{day}, rich, flat", curie_day(day)


def compare(name: str, problem: Problem, methods: list[str], seconds: float, engine: str | None) -> None:
    """Run every method on a day and print a row for each."""
    bound = profit_bound(problem)
    print(
        f"\n{name}: {len(problem.jobs):,} jobs, bound {bound.profit_eur:,.2f} EUR ({bound.solve_s:.1f} s)", flush=True
    )
    base = multisearch(problem, workers=2).ledger.profit_eur
    for method in methods:
        began, best, reached = time.perf_counter(), float("-inf"), 0.0

        def heard(trial: Trial, began: float = began) -> None:
            nonlocal best, reached
            if trial.profit_eur > best:
                best, reached = trial.profit_eur, time.perf_counter() - began

        params = Params(seed=0, on_trial=heard, engine=engine, time_limit_s=seconds)
        result = method_named(method)(problem, params, MaxRuntime(seconds))
        profit, took = result.ledger.profit_eur, time.perf_counter() - began
        assert not audit(problem, result.plan)
        gap = (bound.profit_eur - profit) / bound.profit_eur
        print(
            f"  {method:<12}{profit:>12,.2f}{100 * (profit / base - 1):>+9.3f} %   gap {100 * gap:>6.2f} %"
            f"   best after {reached:>5.1f} of {took:>5.1f} s",
            flush=True,
        )


def decoder() -> None:
    """Evaluations a second on one core: the whole day placed again, and a step of RebuildSearch."""
    problem = curie_day()
    plan = decode(problem, job_order(problem, "+earliest-start"))
    rates = []
    for ordering in ORDERINGS:
        order = job_order(problem, ordering)
        began = time.process_time()
        for _ in range(3):
            decode(problem, order)
        rates.append(3 / (time.process_time() - began))
    print(f"decoder, {len(problem.jobs):,} jobs on {problem.cluster.node_count} nodes, one core:")
    print(f"  whole day placed again    {np.median(rates):>8,.0f} a second (median of all orderings)")
    chain = Chain.from_plan(problem, plan, seed=1, habits=Habits(8, 8, 0.0, 0.0, False, False))
    chain.run(200, 0.0)
    began, before = time.process_time(), int(chain.state.counts[STEPS])
    chain.run(20_000, 0.0)
    rate = (int(chain.state.counts[STEPS]) - before) / (time.process_time() - began)
    print(f"  only what changed         {rate:>8,.0f} a second (a step of RebuildSearch, money as settle has it)")


def ablate(name: str, problem: Problem, seconds: float) -> None:
    """HarvestSearch with parts of it left out."""
    base = multisearch(problem, workers=2).ledger.profit_eur
    print(f"\n{name}: MultiSearch {base:,.2f} EUR")
    parts = {
        "tiered orders alone": HarvestParams(tier_share=1.0, rebuilds=False),
        "rebuilding alone": HarvestParams(tier_share=0.0),
        "both": HarvestParams(),
    }
    for what, params in parts.items():
        result = harvest(problem, seed=0, workers=2, stop=MaxRuntime(seconds), time_limit_s=seconds, params=params)
        print(f"  {what:<22}{100 * (result.ledger.profit_eur / base - 1):>+9.3f} %", flush=True)


def main() -> None:
    """Measure the decoder, then the methods."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--methods", default="multisearch,delay,relaxation,harvest")
    parser.add_argument("--engine", default=None)
    parser.add_argument("--ablation", action="store_true", help="leave parts of HarvestSearch out instead")
    parser.add_argument("--only", default="", help="part of a day's name")
    choice = parser.parse_args()
    decoder()
    for name, problem in days():
        if choice.only not in name:
            continue
        if choice.ablation:
            ablate(name, problem, choice.seconds)
        else:
            compare(name, problem, choice.methods.split(","), choice.seconds, choice.engine)


if __name__ == "__main__":
    main()
