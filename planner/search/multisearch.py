"""MultiSearch: the heuristic once per ordering, on all cores, and the plan that earns the most."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from planner.domain.columns import Ints
from planner.domain.problem import Problem
from planner.domain.result import BestSoFar, Candidate, Listener, Result, Stop, Trial, never
from planner.search.decode import decode
from planner.search.orderings import ORDERINGS, job_order
from planner.search.whole_plan_rules import evaluate_decoded


def multisearch(
    problem: Problem,
    *,
    orderings: Sequence[str] = ORDERINGS,
    workers: int = 1,
    stop: Stop = never,
    on_trial: Listener | None = None,
) -> Result:
    """Decode every ordering and keep the most profitable plan; ties go to the ordering named first.

    Orderings that give the same sequence of jobs are decoded once. At least one ordering is always tried; after
    that ``stop``, or an interrupt, ends the search with the best so far.
    """
    so_far = BestSoFar(stop, on_trial)
    sequences = {name: job_order(problem, name) for name in orderings}
    first_with = _first_names(sequences)
    trials: dict[str, Trial] = {}

    def attempt(name: str) -> Candidate:
        return evaluate_decoded(problem, decode(problem, sequences[name]), name)

    with ThreadPoolExecutor(max_workers=workers) as pool:
        waiting: dict[str, Future[Candidate]] = {}
        try:
            waiting = {name: pool.submit(attempt, name) for name in first_with.values()}
            for name in orderings:
                if name in waiting:
                    found = waiting[name].result()
                    so_far.keep_if_better(found)
                    trial = found.trial
                else:
                    same = trials[first_with[sequences[name].tobytes()]]
                    trial = Trial(name, same.profit_eur, same.started)
                trials[name] = trial
                so_far.tell(trial)
                if so_far.is_over():
                    break
        except KeyboardInterrupt:
            if so_far.is_empty:
                raise
        finally:
            for future in waiting.values():
                future.cancel()

    so_far.trials += trials.values()
    return so_far.result("multisearch")


def _first_names(sequences: dict[str, Ints]) -> dict[bytes, str]:
    """The first ordering of each distinct sequence."""
    names: dict[bytes, str] = {}
    for name, sequence in sequences.items():
        names.setdefault(sequence.tobytes(), name)
    return names
