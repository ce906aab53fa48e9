"""What decides how much regular jobs gain from deadline-based backfilling (DBF) over conservative backfilling (CBF).

    python benchmarks/deadline_load.py                              own loads of the first 20,000 jobs of four traces
    python benchmarks/deadline_load.py --loads 0.6 0.8 1.0          arrivals stretched or pressed to these offered loads
    python benchmarks/deadline_load.py --estimate actual            runtimes known
    python benchmarks/deadline_load.py --days 1000                  deadlines that never bind
    python benchmarks/deadline_load.py --policy deadline-early      the other reading of DBF
    python benchmarks/deadline_load.py --all-parts --jobs 10000     every stretch of 10,000 jobs, and what goes together

20 % of the jobs are drawn as `plan study deadlines` draws them. Columns: offered load, the work of all jobs over
processors and time from first to last submission; mean wait under CBF, and the part of the jobs that wait there; work
as requested over work as done. Then, each as a part of what the same regular jobs have under CBF: `regular`, their mean
wait under DBF; `none`, their mean wait under CBF on a machine without any deadline job; `median` and `mean`, of those
that wait, under DBF. Last the part of the work that deadline jobs carry. Figures are means over the draws, with half
the width of their 95 % interval. Needs PLANNER_DATA.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from planner.domain.columns import Ints
from planner.domain.trace import Trace, draw_deadlines, pool_trace
from planner.inputs.traces import read_pool
from planner.online.policies import policy_named
from planner.online.replay import replay
from planner.places import data_folder
from planner.studies.deadlines import interval
from planner.studies.study import trace_name

TRACES = (
    *("KTH-SP2-filtered.swf.gz", "HPC2N-2002-2.2-cln.swf.gz", "SDSC-SP2-1998-4.2-cln.swf.gz"),
    "SDSC-BLUE-2000-4.2-cln.swf.gz",
)
OWN = "own"
DAY_S, MINUTE_S = 86_400, 60
FACTS = ("load", "CBF [min]", "waiting", "requested")
FOUND = ("regular", "none", "median", "mean", "work")
FEWEST = 8
"""Rows from which on it is told what goes together."""


@dataclass(frozen=True)
class Row:
    """What is known of some jobs before deadlines are drawn, and what every draw gives."""

    facts: tuple[float, ...]
    draws: tuple[tuple[float, ...], ...]

    @property
    def means(self) -> tuple[float, ...]:
        """Facts, and means over the draws."""
        return (*self.facts, *(float(np.mean(each)) for each in zip(*self.draws, strict=True)))


def main() -> None:
    """Replay all parts and loads and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="*", default=TRACES, help="files below PLANNER_DATA/swf")
    parser.add_argument("--jobs", type=int, default=20_000, help="jobs of a part")
    parser.add_argument("--all-parts", action="store_true", help="all parts of a trace, not the first alone")
    parser.add_argument("--loads", nargs="+", default=[OWN], help=f"offered loads; {OWN}: as it is")
    parser.add_argument("--percent", type=float, default=20.0, help="deadline jobs")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--policy", default="deadline", choices=("deadline", "deadline-early"))
    parser.add_argument("--estimate", default="requested", choices=("requested", "actual"))
    parser.add_argument("--days", type=float, help="deadlines so many days after submission, not as published")
    asked = parser.parse_args()
    print("| " + " | ".join(("jobs", *FACTS, *FOUND)) + " |")
    print("| --- |" + " ---: |" * (len(FACTS) + len(FOUND)))
    rows = []
    for name in asked.traces:
        for words, part in _parts(name, asked):
            for load in asked.loads:
                rows.append(_row(part if load == OWN else stretched(part, float(load)), asked))
                print(f"| {words} | " + " | ".join(_words(rows[-1])) + " |", flush=True)
    if len(rows) >= FEWEST:
        _show_together(rows)


def offered_load(trace: Trace) -> float:
    """Work of all jobs over processors and time from the first to the last submission."""
    span_s = int(trace.submit_s[-1] - trace.submit_s[0])
    return float((trace.runtime_s * trace.processors_of).sum() / trace.machine.processors / span_s)


def stretched(trace: Trace, load: float) -> Trace:
    """The same jobs, submitted so much faster or slower that they offer a load."""
    since_s = (trace.submit_s - trace.submit_s[0]) * (offered_load(trace) / load)
    return _pool(trace, np.rint(since_s).astype(np.int64), np.arange(len(trace)))


def _parts(name: str, asked: argparse.Namespace) -> Iterator[tuple[str, Trace]]:
    """The parts of a trace that are asked for, with their names; a last part that is too short is left out."""
    trace = read_pool(data_folder() / "swf" / name).trace
    count = max(1, len(trace) // asked.jobs) if asked.all_parts else 1
    for part in range(count):
        chosen = np.arange(len(trace))[part * asked.jobs : (part + 1) * asked.jobs]
        words = trace_name(Path(name))
        yield f"{words}, {part + 1}" if count > 1 else words, _pool(trace, trace.submit_s[chosen], chosen)


def _pool(trace: Trace, submit_s: Ints, chosen: Ints) -> Trace:
    """Some jobs of a trace, submitted at these moments, on its processors."""
    ids = tuple(str(place) for place in range(len(chosen)))
    columns = (trace.runtime_s[chosen], trace.requested_s[chosen], trace.width[chosen])
    return pool_trace(ids, submit_s, *columns, int(trace.machine.processors))


def _row(trace: Trace, asked: argparse.Namespace) -> Row:
    base_s = _waits(trace, "conservative", asked.estimate)
    requested = float((trace.requested_s * trace.width).sum() / (trace.runtime_s * trace.width).sum())
    facts = offered_load(trace), float(base_s.mean()) / MINUTE_S, float((base_s > 0).mean()), requested
    return Row(facts, tuple(_draw(trace, base_s, asked, seed) for seed in range(asked.draws)))


def _draw(trace: Trace, base_s: Ints, asked: argparse.Namespace, seed: int) -> tuple[float, ...]:
    """What one draw gives regular jobs, as parts of their waits under conservative backfilling."""
    due_s = draw_deadlines(trace, asked.percent, seed)
    regular = due_s < 0
    if asked.days is not None:
        due_s = np.where(regular, -1, trace.submit_s + round(asked.days * DAY_S))
    chosen = np.flatnonzero(regular)
    alone = _pool(trace, trace.submit_s[chosen], chosen)
    none_s = _waits(alone, "conservative", asked.estimate)
    wait_s = _waits(trace, asked.policy, asked.estimate, due_s)[chosen]
    work = trace.runtime_s * trace.width
    base_s = base_s[chosen]
    waited, base_waited = wait_s[wait_s > 0], base_s[base_s > 0]
    return (
        float(wait_s.mean() / base_s.mean()),
        float(none_s.mean() / base_s.mean()),
        float(np.median(waited) / np.median(base_waited)),
        float(waited.mean() / base_waited.mean()),
        float(1 - work[chosen].sum() / work.sum()),
    )


def _waits(trace: Trace, policy: str, estimate: str, due_s: Ints | None = None) -> Ints:
    believed_s = trace.requested_s if estimate == "requested" else trace.runtime_s
    return replay(trace, policy_named(policy), believed_s, deadline_s=due_s).wait_s


def _words(row: Row) -> list[str]:
    load, wait, waiting, requested = row.facts
    return [f"{load:.2f}", f"{wait:,.0f}", f"{waiting:.2f}", f"{requested:.1f}"] + [
        f"{mean:.2f}" if half is None else f"{mean:.2f} ± {half:.2f}"
        for mean, half in (interval(each) for each in zip(*row.draws, strict=True))
    ]


def _show_together(rows: Sequence[Row]) -> None:
    """Rank correlation of the gain of regular jobs with everything else."""
    names = (*FACTS, *FOUND)
    ranks = np.array([row.means for row in rows]).argsort(axis=0).argsort(axis=0)
    told = np.atleast_2d(np.corrcoef(ranks, rowvar=False))[names.index("regular")]
    print(f"\nrank correlation of `regular` over {len(rows)} rows: ", end="")
    print(", ".join(f"{name} {value:+.2f}" for name, value in zip(names, told, strict=True) if name != "regular"))


if __name__ == "__main__":
    main()
