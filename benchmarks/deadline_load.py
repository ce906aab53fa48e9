"""What decides how much regular jobs gain from deadline-based backfilling: load, work of those that give way, waits.

    python benchmarks/deadline_load.py                                  the first 20,000 jobs of three traces
    python benchmarks/deadline_load.py HPC2N-2002-2.2-cln.swf.gz --loads 0.6 own --draws 5
    python benchmarks/deadline_load.py --estimate actual --loads own    runtimes known
    python benchmarks/deadline_load.py --days 1000 --loads own          deadlines that never bind

20 % of the jobs are drawn as `plan study deadlines` draws them. Arrivals are stretched until the offered load, the work
of all jobs over processors and time from first to last submission, is as asked; deadlines stay as they are. A row: mean
wait under conservative backfilling, part of the jobs that wait there, and then, as parts of what the same regular jobs
wait under conservative backfilling: their mean wait under `deadline`; their mean wait under conservative backfilling
when no deadline job exists at all; median and mean of the waits of those that wait under `deadline`. Last the part of
the work that deadline jobs carry. Means over the draws, and half the width of their 95 % interval. Needs PLANNER_DATA.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from days import data_folder

from planner.domain.columns import Ints
from planner.domain.trace import Trace, pool_trace
from planner.inputs.traces import read_pool
from planner.online.drawn_deadlines import draw_deadlines
from planner.online.policies import policy_named
from planner.online.replay import replay
from planner.studies.deadlines.rows import interval

TRACES = ("KTH-SP2-filtered.swf.gz", "HPC2N-2002-2.2-cln.swf.gz", "SDSC-SP2-1998-4.2-cln.swf.gz")
LOADS = ("0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "own")
DAY_S, MINUTE_S = 86_400, 60


def main() -> None:
    """Replay all loads and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="*", default=TRACES, help="files below PLANNER_DATA/swf")
    parser.add_argument("--jobs", type=int, default=20_000, help="the first jobs of each trace; 0: all")
    parser.add_argument("--loads", nargs="+", default=LOADS, help="offered loads; own: as it is")
    parser.add_argument("--percent", type=float, default=20.0, help="deadline jobs")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--policy", default="deadline", choices=("deadline", "deadline-early"))
    parser.add_argument("--estimate", default="requested", choices=("requested", "actual"))
    parser.add_argument("--days", type=float, help="deadlines so many days after submission, not as published")
    asked = parser.parse_args()
    print("| trace | load | CBF: mean wait [min] | wait | regular | without deadline jobs | median | mean | work |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in asked.traces:
        whole = read_pool(data_folder() / "swf" / name).first(asked.jobs or None).trace
        for load in asked.loads:
            trace = whole if load == "own" else stretched(whole, float(load))
            base_s = _waits(trace, "conservative", asked.estimate)
            draws = [_draw(trace, base_s, asked, seed) for seed in range(asked.draws)]
            cells = [name.split(".")[0], f"{offered_load(trace):.2f}"]
            cells += [f"{base_s.mean() / MINUTE_S:,.0f}", f"{(base_s > 0).mean():.0%}"]
            print("| " + " | ".join([*cells, *(_word(each) for each in zip(*draws, strict=True))]) + " |", flush=True)


def offered_load(trace: Trace) -> float:
    """Work of all jobs over processors and time from the first to the last submission."""
    span_s = int(trace.submit_s[-1] - trace.submit_s[0])
    return float((trace.runtime_s * trace.processors_of).sum() / trace.machine.processors / span_s)


def stretched(trace: Trace, load: float) -> Trace:
    """The same jobs, submitted so much faster or slower that they offer a load."""
    since_s = trace.submit_s - trace.submit_s[0]
    return replace(trace, submit_s=np.rint(since_s * (offered_load(trace) / load)).astype(np.int64))


def _draw(trace: Trace, base_s: Ints, asked: argparse.Namespace, seed: int) -> tuple[float, ...]:
    """What one draw gives regular jobs, as parts of their waits under conservative backfilling."""
    due_s = draw_deadlines(trace, asked.percent, seed)
    regular = due_s < 0
    if asked.days is not None:
        due_s = np.where(regular, -1, trace.submit_s + round(asked.days * DAY_S))
    wait_s, base_s = _waits(trace, asked.policy, asked.estimate, due_s)[regular], base_s[regular]
    alone_s = _waits(_only(trace, regular), "conservative", asked.estimate)
    work = trace.runtime_s * trace.processors_of
    waited, base_waited = wait_s[wait_s > 0], base_s[base_s > 0]
    return (
        float(wait_s.mean() / base_s.mean()),
        float(alone_s.mean() / base_s.mean()),
        float(np.median(waited) / np.median(base_waited)),
        float(waited.mean() / base_waited.mean()),
        float(work[~regular].sum() / work.sum()),
    )


def _waits(trace: Trace, policy: str, estimate: str, due_s: Ints | None = None) -> Ints:
    believed_s = trace.requested_s if estimate == "requested" else trace.runtime_s
    return replay(trace, policy_named(policy), believed_s, deadline_s=due_s).wait_s


def _only(trace: Trace, chosen: npt.NDArray[np.bool_]) -> Trace:
    """The same machine with some of the jobs alone."""
    ids = tuple(job for job, keep in zip(trace.ids, chosen, strict=True) if keep)
    columns = (each[chosen] for each in (trace.submit_s, trace.runtime_s, trace.requested_s, trace.width))
    return pool_trace(ids, *columns, int(trace.machine.processors))


def _word(values: Sequence[float]) -> str:
    mean, half = interval(values)
    return f"{mean:.2f}" if half is None else f"{mean:.2f} ± {half:.2f}"


if __name__ == "__main__":
    main()
