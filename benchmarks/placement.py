"""How fast days are placed: all orderings, settled and audited. Run: ``make bench``.

Prints, for each day, the wall time of MultiSearch on all cores, placements per second, the time of the audit and the
peak memory of the process; then how the time grows with jobs and with nodes.
"""

from __future__ import annotations

import time
from dataclasses import replace

from days import backlog_day, curie_day, large_day, memory_gb

from planner.accounting.audit import audit
from planner.domain.cluster import Cluster
from planner.domain.problem import Problem
from planner.methods import Params
from planner.search.multisearch import multisearch
from planner.search.orderings import ORDERINGS


def measure(name: str, problem: Problem) -> float:
    """Plan a day, print a row, and return the seconds."""
    workers = Params().worker_count
    problem.columns, problem.nodes  # noqa: B018  built once per day, not part of the search
    began = time.perf_counter()
    result = multisearch(problem, workers=workers)
    seconds = time.perf_counter() - began
    began = time.perf_counter()
    violations = audit(problem, result.plan)
    audit_s = time.perf_counter() - began
    assert not violations, violations[:3]
    rate = len(ORDERINGS) * len(problem.jobs) / seconds
    print(
        f"{name:<34}{len(problem.jobs):>8,}{problem.cluster.node_count:>7,}{seconds:>9.2f} s{rate:>12,.0f}/s"
        f"{audit_s:>8.2f} s{memory_gb():>7.2f} GB   {result.best_trial}"
    )
    return seconds


def thinned(problem: Problem, part: int) -> Problem:
    """The same day with every part-th job."""
    return replace(problem, jobs=problem.jobs[::part])


def main() -> None:
    """Measure all days."""
    print(f"{'all orderings':<34}{'jobs':>8}{'nodes':>7}{'time':>11}{'placements':>14}{'audit':>10}{'memory':>10}")
    curie = curie_day()
    multisearch(curie, orderings=ORDERINGS[:1])  # load or compile the kernel
    measure("Curie 2012-08-07", curie)
    backlog = backlog_day()
    measure("Curie, 14,000 pending", backlog)
    print("\ngrowth with jobs (the backlog day, thinned)")
    for part in (8, 4, 2, 1):
        measure(f"  every {part}. job" if part > 1 else "  all jobs", thinned(backlog, part))
    print("\ngrowth with nodes (Curie 2012-08-07 on machines of other sizes)")
    for nodes in (150, 300, 600, 1200, 2400):
        classes = tuple(replace(node_class, count=nodes) for node_class in curie.cluster.classes)
        fitting = tuple(job for job in curie.jobs if job.unit_count <= 150)
        larger = replace(curie, cluster=Cluster(classes), jobs=fitting, table=replace(curie.table, clamp=True))
        measure(f"  {nodes} nodes", larger)
    print("\na large machine")
    measure("5,000 nodes of 128 cores", large_day())


if __name__ == "__main__":
    main()
