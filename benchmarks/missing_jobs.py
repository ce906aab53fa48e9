"""How many figures of Table II of the metrics paper a log would meet if it had some jobs more, before all others.

The cleaned log of SDSC-SP2 lacks its first ten jobs. Jobs that start at once and are over before others arrive change
no start, only the metrics: so their number, width and runtime can be tried without a replay. What fits Table II best
is then held against a figure that it was not chosen by: how well requested times tell runtimes, R2 in Table IV, which
needs no replay at all. The jobs are taken to run as long as they asked, which changes R2 least.

    python benchmarks/missing_jobs.py SDSC-SP2-1998-4.2-cln.swf.gz --jobs 10
    python benchmarks/missing_jobs.py SDSC-SP2-1998-4.2-cln.swf.gz --write SDSC-SP2-ten-more.swf.gz
    plan study metrics SDSC-SP2-ten-more.swf.gz --part policies,predictors

With --write the log gets the jobs that fit best, so that it can be replayed: each is of a user of its own.
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

import numpy as np
import numpy.typing as npt

from planner.domain.trace import Trace
from planner.inputs.traces import read_pool
from planner.online.policies import policy_named
from planner.online.replay import Replay, replay
from planner.studies.published import METRICS, POLICIES, POLICY_CHANGES, PREDICTORS, published_trace
from planner.studies.study import trace_name

WIDTHS = (1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 40, 48, 64, 96, 128)
HOURS = np.arange(2.0, 60.5, 0.5)


def sums(result: Replay) -> npt.NDArray[np.float64]:
    """What each metric is a quotient of, in turn: above and below the line; without the job that ends last."""
    kept = result.end_s < result.end_s.max()
    wait, run, width = (
        each[kept].astype(np.float64) for each in (result.wait_s, result.trace.runtime_s, result.trace.width)
    )
    return _sums(wait, run, width)


def _sums(
    wait: npt.NDArray[np.float64], run: npt.NDArray[np.float64], width: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    flow = wait + run
    slowdown = np.maximum(1, flow / np.maximum(10, run))
    powers = 0.75 * width * (flow**4 - wait**4), width * (flow**3 - wait**3)
    pairs = (slowdown, 1 + 0 * run, flow, 1 + 0 * run, width * run * flow, width * run, *powers)
    return np.array([each.sum() for each in pairs])


def main() -> None:
    """Replay the policies, then try jobs that are missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=Path)
    parser.add_argument("--jobs", type=int, default=10, help="how many jobs are missing")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the log with the jobs that fit best")
    asked = parser.parse_args()
    known = published_trace(trace_name(asked.trace))
    trace = read_pool(asked.trace, unrequested="drop").trace
    found = {
        (estimate, policy): sums(replay(trace, policy_named(policy), times))
        for estimate, times in (("actual", trace.runtime_s), ("requested", trace.requested_s))
        for policy in ("list", *POLICIES)
    }
    ranked = []
    for width, hours in [(0, 0.0), *((width, hours) for width in WIDTHS for hours in HOURS)]:
        count = asked.jobs if width else 0
        runs = np.full(count, 3600.0 * hours)
        more = _sums(0 * runs, runs, np.full(count, float(width)))
        met = 0
        for (estimate, policy), own in found.items():
            if policy != "list":
                values, base = ((each + more)[::2] / (each + more)[1::2] for each in (own, found[estimate, "list"]))
                said = [POLICY_CHANGES[str(known), estimate, policy][metric] for metric in METRICS]
                met += int(np.sum(np.abs(100 * (values / base - 1) - said) <= 0.5))
        ranked.append((met, width, hours))
    said_r2 = PREDICTORS[str(known), "list", "requested"].r2
    print(f"as it is: {ranked[0][0]} of {4 * (len(found) - 2)} figures are met")
    print(f"R2 of requested times: {r2(trace, 0, 0.0):.3f}, published {said_r2}")
    for met, width, hours in sorted(ranked[1:], reverse=True)[:5]:
        told = f"{met}, R2 {r2(trace, asked.jobs, hours):.3f}"
        print(f"{asked.jobs} jobs more, {width} wide for {hours:g} h: {told}")
    if asked.write is not None:
        _, width, hours = max(ranked[1:])
        write(asked.trace, asked.write, asked.jobs, width, round(3600 * hours))


def r2(trace: Trace, jobs: int, hours: float) -> float:
    """R2 of the requested times of a trace with so many jobs more that run as long as they asked."""
    more = np.full(jobs, 3600.0 * hours)
    runtime, asked = np.concatenate([trace.runtime_s, more]), np.concatenate([trace.requested_s, more])
    return float(1 - np.sum((runtime - asked) ** 2) / np.sum((runtime - runtime.mean()) ** 2))


def write(log: Path, out: Path, jobs: int, width: int, run_s: int) -> None:
    """Write a log with so many jobs more, submitted 1,000 s after one another from the begin of the log on."""
    with gzip.open(log, "rt", errors="replace") as file:
        lines = file.readlines()
    first = next(place for place, line in enumerate(lines) if line.strip() and not line.startswith(";"))
    more = [
        f"{k} {1000 * k} 0 {run_s} {width} {run_s} -1 {width} {run_s} -1 1 {900 + k} 75 {18000 + k} 3 -1 -1 -1\n"
        for k in range(1, jobs + 1)
    ]
    with gzip.open(out, "wt") as file:
        file.writelines([*lines[:first], *more, *lines[first:]])
    print(f"{out}: {jobs} jobs, {width} wide for {run_s / 3600:g} h")


if __name__ == "__main__":
    main()
