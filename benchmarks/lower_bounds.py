"""How low the metrics of a trace can be at all. Run: ``python benchmarks/lower_bounds.py [SWF [STEPS]]``.

For each metric that has one, the proven lower bound and what it is made from, in percent of list scheduling in submit
order with actual runtimes (List-REG), and the CPU time. Without arguments: the filtered KTH-SP2 trace.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from days import memory_gb

from planner.inputs.traces import read_pool
from planner.metrics import measure, metric_named
from planner.online.lower_bounds import BOUNDED, lower_bound
from planner.online.policies import OfflineSearch, policy_named
from planner.online.replay import replay
from planner.places import data_folder
from planner.runs.measured_replays import outcome_of


def main() -> None:
    """Print one line per metric."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else data_folder() / "swf" / "KTH-SP2-filtered.swf.gz"
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else OfflineSearch.bound_steps
    trace = read_pool(path).trace
    listed = replay(trace, policy_named("list"), trace.runtime_s)
    values = measure(outcome_of(listed), [metric_named(name) for name in BOUNDED], "none")
    print(f"{path.name}: {len(trace):,} jobs, {steps} steps; in percent of List-REG")
    print(
        f"{'metric':<8}{'List-REG':>14}{'bound':>14}{'':>8}{'alone':>8}{'fluid':>8}{'slots':>10}{'CPU':>10}{'memory':>10}"
    )
    for name, value in values.items():
        began = time.process_time()
        bound = lower_bound(trace, name, steps=steps)
        cpu_s = time.process_time() - began
        shares = (100 * part / value for part in (bound.value, bound.alone, bound.fluid))
        print(
            f"{name:<8}{value:>14.2f}{bound.value:>14.3f}{''.join(f'{share:>8.2f}' for share in shares)}"
            f"{bound.slots:>10,}{cpu_s:>8.1f} s{1024 * memory_gb():>7.0f} MB",
            flush=True,
        )


if __name__ == "__main__":
    main()
