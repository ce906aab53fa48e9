"""The same jobs on real Slurms, side by side: two that are alone, and one with `plan now --apply` every few seconds.

    python benchmarks/slurm_ab.py --seeds 6                   a flat tariff: nothing may be sent, no wait may be worse
    python benchmarks/slurm_ab.py --seeds 5 --dear            dear until the next quarter of an hour, cheap from then on

Jobs of several shapes sleep for some seconds under limits of a minute, Slurm's least, so that all end early. They come
at the same moments on every side, in an order that is drawn anew for each job, and the sides change their clusters from
seed to seed. The two sides that are alone say what chance does on a busy machine.

With ``--dear`` 6 h are scaled down to ten minutes, and so is the price of waiting. Jobs come from ten minutes before
the price falls until half a minute after it, and begin 30 s after their submission at the earliest, so that a plan sees
them before they start. In every other seed plans stop a minute before the price falls. Then `plan simulate -p
easy,hold` runs the same jobs, with the runtimes that they had. Costs are those of starts and ends: 10 W per core and
the price of the moment. Needs root and what `.ci/packages` installs.

Exit code 1 where something was sent under the flat tariff, waits got worse by more than chance, a job did not end well,
or one was held for longer than promised.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import datetime as dt
import io
import math
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median, stdev
from zoneinfo import ZoneInfo

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from slurm_day import SHAPES as DAY_SHAPES
from slurm_day import Day, plan, standing_in, waits

from planner.cli.main import run
from planner.inputs.slurm.accounting import read_accounting
from planner.inputs.slurm.document import DocumentAnswer
from planner.inputs.slurm.job import SlurmJob
from planner.slurm.journal import Ours, read_ours
from planner.slurm.wanted import JOURNAL
from tests.days import rows_of, small_table
from tests.slurm.cluster import ACCOUNTING, NEEDED, Cluster, running_cluster, until, why_not
from tests.slurm.site import day_zone, write_slurm_site

SHAPES = (*DAY_SHAPES[:6], ("--array=1-3", "--ntasks=8"))
SMALL = {
    ("--ntasks=1",): "1x cores=1 memory_gb=1",
    ("--ntasks=2",): "1x cores=2 memory_gb=2",
    ("--ntasks=3",): "1x cores=3 memory_gb=3",
    ("--ntasks=4",): "1x cores=4 memory_gb=4",
    ("--nodes=2", "--ntasks-per-node=1"): "2x cores=1 memory_gb=1",
    ("--mem=8000",): "1x cores=1 memory_gb=8",
    ("--array=1-2", "--ntasks=1"): "1x cores=1 memory_gb=1",
}
"""Jobs that may be held, in the words of sbatch and of job tables. They are small: all that are held for the same
quarter of an hour need room beside each other, however short they are."""
ACCOUNTS = 20
"""Who is equal to whom counts, so jobs are of several accounts."""
QUARTER_S = 900
BEFORE_S = 30
"""How long after its submission a job begins at the earliest where jobs may be held."""
AFTER_S = 30
"""How long jobs still come once electricity is cheap."""
STOPPED_S = 60
"""How long before electricity is cheap plans stop in every other seed."""
DELAY_S = 600
DEAR, CHEAP, FLAT = 0.3, 0.1, 0.2
W_PER_CORE = 10
STATISTICS = ("mean", "median", "p95", "longest")
T_97_5 = {2: 12.7, 3: 4.3, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}
"""Student's t by the number of seeds: beyond so many standard errors a mean is not 0."""
SITE = """\
slurm: {opt_in: {partitions: [batch, open]}}
rules: {max_delay: 10m}
power: {w_per_core: 10}
"""
HOLDING = """\
rules: {max_delay: 10m}
hold: {every: 15m, waiting_fraction: 0.72, history: HISTORY}
power: {w_per_core: 10}
"""
SIMULATED = """\
zone: ZONE
jobs: {source: jobs.csv}
cluster: {classes: {batch: {count: 7, capacity: {cores: 32, memory_gb: 128, gpus: 4}}}}
weather: {source: constant, temperature_c: 12}
tariff: {kind: flat, eur_per_kwh: 0.2}
cooling: {table: ../tables/small.csv}
revenue: {eur_per_core_hour: 0.05}
"""
FLAT_TARIFF = "{kind: flat, eur_per_kwh: 0.2}"

DAY_S = 86_400
Shape = tuple[str, ...]
Work = list[tuple[float, Shape, int]]
"""When each job comes [s], its words for sbatch, and for how long it sleeps [s]."""


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
        command = "sacct --allusers --starttime=now-2hours --json"

        def all_written() -> list[SlurmJob]:
            found = read_accounting(DocumentAnswer(command, self.cluster.command(*command.split()).encode()))
            mine = [job for job in found.jobs if str(job.array_job_id or job.job_id) in self.jobs]
            return mine if mine and all(job.end_unix for job in mine) else []

        return list(until(all_written, "the accounts of all jobs"))


@dataclass
class Row:
    """What became of one side of a seed: waits [s], what was sent, what energy cost [EUR]."""

    side: str
    jobs: int
    waits: Mapping[str, float]
    sent: int
    cost: float
    later: int = 0
    """By how much a job waited longer at most than alone [s]."""

    def __str__(self) -> str:
        waits = "".join(f"{self.waits[each]:>8.1f}" for each in STATISTICS)
        return f"{self.side:<8} {self.jobs:>5}{waits}{self.sent:>7} {self.cost:>9.5f}"


def main() -> None:
    """Run the seeds, print a line for each side, and what they say together."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, help="how often sbatch is called; default 70, or 110 with --dear")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long jobs come in under a flat tariff")
    parser.add_argument("--every", type=float, help="seconds between two plans; default 4, or 10 with --dear")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--dear", action="store_true", help="dear until the next quarter of an hour")
    parser.add_argument("--keep", type=Path, help="folder for a copy of each site, with its journal")
    asked = parser.parse_args()
    reason = why_not((*NEEDED, *ACCOUNTING))
    if reason:
        sys.exit(f"no Slurm: {reason}")
    asked.jobs = asked.jobs or (110 if asked.dear else 70)
    asked.every = asked.every or (10.0 if asked.dear else 4.0)
    wrong: list[str] = []
    rows: list[list[Row]] = []
    print(f"seed  {'side':<8} {'jobs':>5}" + "".join(f"{each:>8}" for each in STATISTICS) + f"{'sent':>7} {'cost':>9}")
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        names = ("plan", "alone") if asked.dear else ("plan", "alone", "again")
        clusters = [stack.enter_context(running_cluster(Path(folder) / name, accounting=True)) for name in names]
        for seed in range(asked.first, asked.first + asked.seeds):
            sides = [Side(name, clusters[(seed + k) % len(names)]) for k, name in enumerate(names)]
            found, faults = run_seed(seed, sides, Path(folder) / f"site{seed}", asked)
            rows.append(found)
            wrong += faults
            print("\n".join(f"{seed:<5} {row}" for row in found), flush=True)
    told, worse = (saved(rows), []) if asked.dear else compared(rows)
    print("\n".join([*told, *wrong, *worse]))
    sys.exit(1 if wrong or worse else 0)


def run_seed(seed: int, sides: Sequence[Side], site: Path, asked: argparse.Namespace) -> tuple[list[Row], list[str]]:
    """The same jobs at the same moments on all sides; a row for each, and what went wrong."""
    zone = day_zone()
    rng, day, planned = random.Random(seed), Day(), sides[0]
    work, cheap_unix, sections = _work(rng, asked.jobs, asked.seconds, (3, 12)), 0, SITE
    if asked.dear:
        cheap_unix = -(-int(time.time() + DELAY_S + 20) // QUARTER_S) * QUARTER_S
        yesterday, work = (_work(rng, asked.jobs, DELAY_S + AFTER_S, (5, 20), tuple(SMALL)) for _ in range(2))
        sections = "slurm: {opt_in: {partitions: [batch, open]}}\n" + HOLDING.replace("HISTORY", "yesterday.csv")
    write_slurm_site(site, sections, zone=zone)
    if asked.dear:
        begins_unix = cheap_unix - DELAY_S - DAY_S
        known = [(f"y{k}", begins_unix + int(at), sleep_s, words) for k, (at, words, sleep_s) in enumerate(yesterday)]
        write_jobs(site / "scenarios" / "yesterday.csv", known)
        _write_tariff(site / "scenarios" / "site.yaml", cheap_unix, zone)
    with standing_in(site, planned.cluster):
        plan(Day())  # the first plan of a process takes longer, as it loads what it needs
        time.sleep(max(0.0, cheap_unix - DELAY_S - time.time()))
        feeder = threading.Thread(target=_feed, args=(work, time.monotonic(), sides, BEFORE_S if asked.dear else 0))
        feeder.start()
        ends_unix = cheap_unix - STOPPED_S if asked.dear and seed % 2 == 0 else math.inf
        while time.time() < ends_unix and (feeder.is_alive() or not planned.is_empty()):
            plan(day)
            time.sleep(asked.every)
        feeder.join()
        for side in sides:
            until(side.is_empty, "a cluster to be empty", patience_s=600)
        ours = read_ours(Path("reports/site") / JOURNAL)
        rows, wrong, starts = [], [], []
        for side in sides:
            jobs = side.accounts()
            starts.append(
                {
                    (side.jobs.index(name), task): (job.start_unix or 0) - job.submit_unix
                    for job in jobs
                    for name, _, task in (job.label.partition("_"),)
                }
            )
            wrong += [f"seed {seed}: job {job.label} ended as {job.state_text}" for job in jobs if not _ended_well(job)]
            ran = [(job.start_unix or 0, job.end_unix or 0, job.had.cpus or 0) for job in jobs]
            sent = day.changes if side is planned else 0
            rows.append(
                Row(
                    side.name,
                    len(jobs),
                    _waits([(job.start_unix or 0) - job.submit_unix for job in jobs]),
                    sent,
                    sum(_cost(*each, cheap_unix) for each in ran),
                )
            )
        rows[0].later = max(starts[0][job] - starts[1][job] for job in starts[0])
        wrong += [f"seed {seed}: job {job} {fault}" for job, fault in broken(ours, day.begins, planned.accounts())]
        if asked.keep:
            shutil.copytree(site, asked.keep / site.name)
        if asked.dear:
            shapes = {job: words for job, (_, words, _) in zip(planned.jobs, work, strict=True)}
            rows += simulated(site, planned.accounts(), shapes, cheap_unix, zone)
    print(
        *(f"seed {seed}: refused {count} times: {why}" for why, count in day.refused.items()), sep="\n", file=sys.stderr
    )
    if day.changes and not asked.dear:
        wrong.append(f"seed {seed}: {day.changes} changes under a flat tariff")
    return rows, wrong


def broken(ours: Ours, begins: Mapping[str, int], jobs: Sequence[SlurmJob]) -> list[tuple[str, str]]:
    """The jobs that were held for longer than promised, or started before a begin time that Slurm had taken."""
    found = []
    for job in jobs:
        promise = ours.promise(job.label, job.submit_unix)
        for name in dict.fromkeys((job.label, job.array or job.label)):
            if name in begins and (promise is None or begins[name] > promise.latest_unix):
                found.append((job.label, "was held for longer than promised"))
            if name in begins and (job.start_unix or 0) < begins[name]:
                found.append((job.label, "started before the end of its hold"))
    return found


def simulated(
    site: Path, jobs: Sequence[SlurmJob], shapes: Mapping[str, Shape], cheap_unix: int, zone: str
) -> list[Row]:
    """The same jobs under EASY and under ``hold``, as `plan simulate` runs them after those of the day before."""
    place = site / "simulated"
    for name, text in {
        "scenarios/site.yaml": SIMULATED.replace("ZONE", zone) + HOLDING.replace(", history: HISTORY", ""),
        "tables/small.csv": small_table(),
        "scenarios/jobs.csv": (site / "scenarios" / "yesterday.csv").read_text("utf-8"),
    }.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")
    _write_tariff(place / "scenarios" / "site.yaml", cheap_unix, zone)
    ran_s = {job.label: max(1, (job.end_unix or 0) - (job.start_unix or 0)) for job in jobs}
    today = [(job.label, job.submit_unix, ran_s[job.label], shapes[job.label.partition("_")[0]]) for job in jobs]
    write_jobs(place / "scenarios" / "jobs.csv", today)
    with contextlib.chdir(place), contextlib.redirect_stdout(io.StringIO()):
        words = ("simulate", "scenarios/jobs.csv", "-s", "site", "-p", "easy,hold", "-e", "requested", "-q")
        if run([*words, "--out", "out"]):
            raise RuntimeError("plan simulate failed")
    cores = {job.label: job.had.cpus or 0 for job in jobs}
    submitted = {job.label: job.submit_unix for job in jobs}
    found = []
    for name in ("easy", "hold"):
        head = (place / "out" / f"{name}.requested.swf").read_text("utf-8")
        origin = int(head.partition("UnixStartTime:")[2].split()[0])
        starts = {
            row["job_id"]: origin + int(float(row["starting_time"]))
            for row in rows_of(place / "out" / f"{name}.requested.jobs.csv")
            if row["job_id"] in cores
        }
        wait = _waits(starts[job] - submitted[job] for job in starts)
        cost = sum(_cost(start, start + ran_s[job], cores[job], cheap_unix) for job, start in starts.items())
        found.append(Row(name, len(starts), wait, 0, cost))
    return found


def write_jobs(path: Path, jobs: Iterable[tuple[str, int, int, Shape]]) -> None:
    """Add jobs to a table, or begin it: name, submission [Unix s], runtime [s] and shape of each."""
    is_new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        names = ("job_id", "submit_unix", "begin_unix", "requested_s", "runtime_s", "unit_groups")
        if is_new:
            table.writerow((*names, "user", "name"))
        for name, submit_unix, runtime_s, words in jobs:
            begin = submit_unix + BEFORE_S
            table.writerow((name, submit_unix, begin, 60, runtime_s, SMALL[words], "root", "wrap"))


def compared(rows: Sequence[Sequence[Row]]) -> tuple[list[str], list[str]]:
    """How waits differ between the sides of all seeds, and which got worse by more than chance."""
    told, worse = ["", f"{'':<24}" + "".join(f"{each:>16}" for each in STATISTICS)], []
    lines: dict[str, list[str]] = {"with plan less alone": [], "alone less alone": []}
    for name in STATISTICS:
        of_plan = [plan.waits[name] - (one.waits[name] + two.waits[name]) / 2 for plan, one, two in rows]
        by_chance = [one.waits[name] - two.waits[name] for _, one, two in rows]
        for line, values in (("with plan less alone", of_plan), ("alone less alone", by_chance)):
            lines[line].append(f"{mean(values):>8.1f} +- {_error(values):<4.1f}")
        if mean(of_plan) > T_97_5.get(len(rows), 2.0) * _error(of_plan):
            worse.append(f"the {name} wait is worse than with Slurm alone, by {mean(of_plan):.1f} s")
    told += [f"{line + ', s':<24}" + "".join(f"{each:>16}" for each in cells) for line, cells in lines.items()]
    return told, worse


def saved(rows: Sequence[Sequence[Row]]) -> list[str]:
    """What was saved in each seed, really and by the simulator, and how much longer jobs waited."""
    told = ["", "seed   saved  simulated  waits longer by, s  simulated  at most"]
    percent: list[tuple[float, float]] = []
    for number, (planned, alone, easy, hold) in enumerate(rows, start=1):
        percent.append((100 * (1 - planned.cost / alone.cost), 100 * (1 - hold.cost / easy.cost)))
        longer = planned.waits["mean"] - alone.waits["mean"], hold.waits["mean"] - easy.waits["mean"]
        found = f"{number:<5} {percent[-1][0]:>4.1f} %{percent[-1][1]:>9.1f} %"
        told.append(f"{found}{longer[0]:>20.0f}{longer[1]:>11.0f}{planned.later:>9}")
    apart = [real - said for real, said in percent]
    told.append(f"saved less simulated: {mean(apart):.1f} +- {_error(apart):.1f} points")
    return told


def _error(values: Sequence[float]) -> float:
    """The standard error of a mean."""
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf


def _waits(seconds: Iterable[float]) -> dict[str, float]:
    wait = sorted(seconds)
    return dict(zip(STATISTICS, (mean(wait), median(wait), wait[int(0.95 * len(wait))], wait[-1]), strict=True))


def _work(
    rng: random.Random, jobs: int, seconds: float, sleep_s: tuple[int, int], shapes: Sequence[Shape] = tuple(SHAPES)
) -> Work:
    return sorted((rng.uniform(0, seconds), rng.choice(shapes), rng.randint(*sleep_s)) for _ in range(jobs))


def _feed(work: Work, began: float, sides: Sequence[Side], before_s: int) -> None:
    begin = (f"--begin=now+{before_s}",) if before_s else ()
    for number, (moment, shape, sleep_s) in enumerate(work):
        words = (*shape, f"--account=a{number * 7 % ACCOUNTS}")
        time.sleep(max(0.0, began + moment - time.monotonic()))
        for side in random.sample(sides, len(sides)):
            side.submit((*words, *begin), sleep_s)


def _write_tariff(path: Path, cheap_unix: int, zone: str) -> None:
    """Dear until a moment of today in the site's zone, cheap for two hours from then on."""
    text = path.read_text("utf-8")
    first, last = (dt.datetime.fromtimestamp(cheap_unix + each, ZoneInfo(zone)).strftime("%H:%M") for each in (0, 7200))
    band = f'{{from: "{first}", to: "{last}", eur_per_kwh: {CHEAP}}}'
    hourly = f"{{kind: bands, eur_per_kwh: {DEAR}, bands: [{band}]}}"
    path.write_text(text.replace(FLAT_TARIFF, hourly), encoding="utf-8")


def _ended_well(job: SlurmJob) -> bool:
    return "COMPLETED" in job.state_words


def _cost(start: float, end: float, cpus: int, cheap_unix: int) -> float:
    """What the energy of a job cost by when it ran [EUR]; flat where nothing is cheap."""
    kwh_per_s = cpus * W_PER_CORE / 1000 / 3600
    if not cheap_unix:
        return kwh_per_s * (end - start) * FLAT
    dear_s = max(0.0, min(end, cheap_unix) - start)
    return kwh_per_s * (dear_s * DEAR + (end - start - dear_s) * CHEAP)


if __name__ == "__main__":
    main()
