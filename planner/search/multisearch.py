"""MultiSearch: the heuristic once per ordering, on all cores, and the plan that earns the most."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from planner.domain.columns import Ints
from planner.domain.ledger import Ledger
from planner.domain.plan import Plan
from planner.domain.problem import Problem
from planner.domain.result import Result, Trial
from planner.search.complete import settle_decoded
from planner.search.decode import decode
from planner.search.orderings import ORDERINGS, job_order
from planner.search.stop import Stop, never


def multisearch(
    problem: Problem,
    *,
    orderings: Sequence[str] = ORDERINGS,
    workers: int = 1,
    stop: Stop = never,
    on_trial: Callable[[Trial], None] | None = None,
) -> Result:
    """Decode every ordering and keep the most profitable plan; ties go to the ordering named first.

    Orderings that come to the same sequence of jobs are decoded once. At least one ordering is always tried; after
    that ``stop``, or an interrupt, ends the search with the best so far.
    """
    began = time.perf_counter()
    sequences = {name: job_order(problem, name) for name in orderings}
    first_with = _first_names(sequences)
    best: tuple[Plan, Ledger, Trial] | None = None
    trials: dict[str, Trial] = {}

    def attempt(name: str) -> tuple[Plan, Ledger, Trial]:
        plan, ledger = settle_decoded(problem, decode(problem, sequences[name]))
        return plan, ledger, Trial(name, ledger.profit_eur, int(plan.is_placed.sum()))

    with ThreadPoolExecutor(max_workers=workers) as pool:
        waiting: dict[str, Future[tuple[Plan, Ledger, Trial]]] = {}
        try:
            waiting = {name: pool.submit(attempt, name) for name in first_with.values()}
            for name in orderings:
                if name in waiting:
                    plan, ledger, trial = waiting[name].result()
                    if best is None or trial.profit_eur > best[2].profit_eur:
                        best = plan, ledger, trial
                else:
                    same = trials[first_with[sequences[name].tobytes()]]
                    trial = Trial(name, same.profit_eur, same.started)
                trials[name] = trial
                if on_trial is not None:
                    on_trial(trial)
                if best is not None and stop(best[2].profit_eur):
                    break
        except KeyboardInterrupt:
            if best is None:
                raise
        finally:
            for future in waiting.values():
                future.cancel()

    assert best is not None
    plan, ledger, winner = best
    return Result(
        plan=plan,
        ledger=ledger,
        method="multisearch",
        status="found",
        solve_s=time.perf_counter() - began,
        best_trial=winner.name,
        trials=tuple(trials.values()),
    )


def _first_names(sequences: dict[str, Ints]) -> dict[bytes, str]:
    """The first ordering of each distinct sequence."""
    names: dict[bytes, str] = {}
    for name, sequence in sequences.items():
        names.setdefault(sequence.tobytes(), name)
    return names
