"""The same jobs on three real Slurms, side by side: two that are alone, and one with `plan now --apply` all the time.

    python benchmarks/slurm_ab.py --seeds 8                   a flat tariff: nothing may be sent, no wait may be worse

Jobs of several shapes sleep for 3 to 12 s under limits of a minute, Slurm's least, so that all end early. They come at
the same moments on every side, in an order that is drawn anew for each job, and the sides change their clusters from
seed to seed. The two sides that are alone say what chance does on a busy machine. Costs are those of starts and ends at
10 W per core. Needs root and what `.ci/packages` installs.

Exit code 1 where something was sent, waits got worse by more than chance, or a job did not end well.
`benchmarks/slurm_dear.py` is the same with a price that falls.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median, stdev

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from slurm_day import SHAPES as DAY_SHAPES
from slurm_day import Day, accounts, plan, require_slurm, standing_in, waits

from planner.inputs.slurm.job import SlurmJob
from tests.slurm.cluster import ACCOUNTING, NEEDED, Cluster, running_cluster, until
from tests.slurm.site import day_zone, write_slurm_site

Shape = tuple[str, ...]
Work = list[tuple[float, Shape, int]]
"""When each job comes [s], its words for sbatch, and for how long it sleeps [s]."""

SHAPES: tuple[Shape, ...] = (*DAY_SHAPES[:6], ("--array=1-3", "--ntasks=8"))
OF_ACCOUNTS = 20
"""Who is equal to whom counts, so jobs are of several accounts."""
FLAT, W_PER_CORE = 0.2, 10
STATISTICS = ("mean", "median", "p95", "longest")
T_97_5 = {2: 12.7, 3: 4.3, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}
"""Student's t by the number of seeds: beyond so many standard errors a mean is not 0."""
OPTED_IN = "slurm: {opt_in: {partitions: [batch, open]}}\n"
SITE = f"""\
{OPTED_IN}rules: {{max_delay: 10m}}
power: {{w_per_core: {W_PER_CORE}}}
"""


@dataclass
class Side:
    """A cluster, and what was submitted to it."""

    name: str
    cluster: Cluster
    jobs: list[str] = field(default_factory=list)

    def submit(self, words: Iterable[str], sleep_s: int) -> None:
        """One more job."""
        self.jobs.append(self.cluster.submit("--time=1", *words, sleep_s=sleep_s))

    def is_empty(self) -> bool:
        """Whether nothing waits or runs."""
        return not waits(self.cluster)

    def accounts(self) -> list[SlurmJob]:
        """Every job and task, once the accounts have all of them."""
        return accounts(self.cluster, lambda job: str(job.array_job_id or job.job_id) in self.jobs)


@dataclass
class Row:
    """What became of one side of a seed: waits [s], what was sent, what energy cost [EUR]."""

    side: str
    jobs: int
    waits: Mapping[str, float]
    sent: int
    cost: float

    @classmethod
    def of(cls, side: str, jobs: Sequence[SlurmJob], sent: int, cost: float) -> Row:
        """The row of a side by its accounts."""
        return cls(side, len(jobs), waits_of((job.start_unix or 0) - job.submit_unix for job in jobs), sent, cost)

    def __str__(self) -> str:
        waits = "".join(f"{self.waits[each]:>8.1f}" for each in STATISTICS)
        return f"{self.side:<8} {self.jobs:>5}{waits}{self.sent:>7} {self.cost:>9.5f}"


def main() -> None:
    """Run the seeds, print a line for each side, and what they say together."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=70, help="how often sbatch is called")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long jobs come in")
    parser.add_argument("--every", type=float, default=4.0, help="seconds between two plans")
    parser.add_argument("--seeds", type=int, default=8)
    asked = parser.parse_args()
    require_slurm(*NEEDED, *ACCOUNTING)
    wrong: list[str] = []
    rows: list[list[Row]] = []
    print(HEADING)
    with clusters_named("plan", "alone", "again") as (folder, sides_of):
        for seed in range(1, asked.seeds + 1):
            found, faults = run_seed(seed, sides_of(seed), folder / f"site{seed}", asked)
            rows.append(found)
            wrong += faults
            print("\n".join(f"{seed:<5} {row}" for row in found), flush=True)
    told, worse = compared(rows)
    print("\n".join([*told, *wrong, *worse]))
    sys.exit(1 if wrong or worse else 0)


HEADING = f"seed  {'side':<8} {'jobs':>5}" + "".join(f"{each:>8}" for each in STATISTICS) + f"{'sent':>7} {'cost':>9}"


@contextlib.contextmanager
def clusters_named(*names: str) -> Iterator[tuple[Path, Callable[[int], list[Side]]]]:
    """A folder, and the sides of each seed on as many clusters, which they change from seed to seed."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        up = [stack.enter_context(running_cluster(Path(folder) / name, accounting=True)) for name in names]
        accounts = ",".join(f"a{number}" for number in range(OF_ACCOUNTS))
        for cluster in up:
            cluster.command("sacctmgr", "--immediate", "add", "account", accounts, "cluster=ci")
            cluster.command("sacctmgr", "--immediate", "add", "user", "root", f"account={accounts}")
        yield Path(folder), lambda seed: [Side(name, up[(seed + k) % len(up)]) for k, name in enumerate(names)]


def run_seed(seed: int, sides: Sequence[Side], site: Path, asked: argparse.Namespace) -> tuple[list[Row], list[str]]:
    """The same jobs at the same moments on all sides; a row for each, and what went wrong."""
    write_slurm_site(site, SITE, zone=day_zone())
    day, work = Day(), draw_work(random.Random(seed), asked.jobs, asked.seconds, (3, 12), SHAPES)
    with standing_in(site, sides[0].cluster):
        plan(Day())  # the first plan of a process takes longer, as it loads what it needs
        play(work, sides, day, asked.every)
    rows, wrong = [], [f"seed {seed}: {day.changes} changes under a flat tariff"] if day.changes else []
    for side in sides:
        jobs = side.accounts()
        wrong += ended_badly(seed, jobs)
        cost = sum(cores * (end - start) for start, end, cores in map(ran, jobs)) * FLAT * W_PER_CORE / 3.6e6
        rows.append(Row.of(side.name, jobs, day.changes if side is sides[0] else 0, cost))
    return rows, wrong


def draw_work(rng: random.Random, jobs: int, seconds: float, sleep_s: tuple[int, int], shapes: Sequence[Shape]) -> Work:
    """Jobs of some shapes at random moments."""
    return sorted((rng.uniform(0, seconds), rng.choice(shapes), rng.randint(*sleep_s)) for _ in range(jobs))


def play(
    work: Work, sides: Sequence[Side], day: Day, every_s: float, before_s: int = 0, until_unix: float = math.inf
) -> float:
    """Submit the work to all sides and plan for the first one, until a moment, or until all have ended; says when the
    last plan began [Unix s].

    Jobs begin so long after their submission at the earliest [s].
    """
    feeder = threading.Thread(target=_feed, args=(work, time.monotonic(), sides, before_s))
    feeder.start()
    last_unix = time.time()
    while time.time() < until_unix and (feeder.is_alive() or not sides[0].is_empty()):
        last_unix = time.time()
        plan(day)
        time.sleep(every_s)
    feeder.join()
    for side in sides:
        until(side.is_empty, "a cluster to be empty", patience_s=600)
    return last_unix


def _feed(work: Work, began: float, sides: Sequence[Side], before_s: int) -> None:
    begin = (f"--begin=now+{before_s}",) if before_s else ()
    for number, (moment, shape, sleep_s) in enumerate(work):
        time.sleep(max(0.0, began + moment - time.monotonic()))
        for side in random.sample(sides, len(sides)):
            side.submit((*shape, f"--account=a{number * 7 % OF_ACCOUNTS}", *begin), sleep_s)


def compared(rows: Sequence[Sequence[Row]]) -> tuple[list[str], list[str]]:
    """How waits differ between the sides of all seeds, and which got worse by more than chance."""
    told, worse = ["", f"{'':<24}" + "".join(f"{each:>16}" for each in STATISTICS)], []
    lines: dict[str, list[str]] = {"with plan less alone": [], "alone less alone": []}
    for name in STATISTICS:
        of_plan = [plan.waits[name] - (one.waits[name] + two.waits[name]) / 2 for plan, one, two in rows]
        by_chance = [one.waits[name] - two.waits[name] for _, one, two in rows]
        for line, values in (("with plan less alone", of_plan), ("alone less alone", by_chance)):
            lines[line].append(f"{mean(values):>8.1f} +- {standard_error(values):<4.1f}")
        if mean(of_plan) > T_97_5.get(len(rows), 2.0) * standard_error(of_plan):
            worse.append(f"the {name} wait is worse than with Slurm alone, by {mean(of_plan):.1f} s")
    told += [f"{line + ', s':<24}" + "".join(f"{each:>16}" for each in cells) for line, cells in lines.items()]
    return told, worse


def ran(job: SlurmJob) -> tuple[int, int, int]:
    """Start and end [Unix s] and cores of a job that has ended."""
    return job.start_unix or 0, job.end_unix or 0, job.had.cpus or 0


def ended_badly(seed: int, jobs: Iterable[SlurmJob]) -> list[str]:
    """What is to be said of jobs that have not ended well."""
    return [
        f"seed {seed}: job {job.label} ended as {job.state_text}" for job in jobs if "COMPLETED" not in job.state_words
    ]


def standard_error(values: Sequence[float]) -> float:
    """The standard error of a mean."""
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf


def waits_of(seconds: Iterable[float]) -> dict[str, float]:
    wait = sorted(seconds)
    return dict(zip(STATISTICS, (mean(wait), median(wait), wait[int(0.95 * len(wait))], wait[-1]), strict=True))


if __name__ == "__main__":
    main()
