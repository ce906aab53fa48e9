"""The same jobs on two real Slurms, side by side: one alone, one with `plan now --apply` every few seconds.

    python benchmarks/slurm_ab.py --seeds 3                   a flat tariff: nothing may be sent, no wait may be worse
    python benchmarks/slurm_ab.py --seeds 2 --dear            dear until the next quarter of an hour, cheap from then on

Jobs of several shapes sleep for 3 to 12 s under limits of a minute, Slurm's least, so that all end early. With
``--dear`` the day is scaled down: a job may be held for ten minutes, and begins 10 s after its submission at the
earliest, so that a plan sees it before it starts. Costs are those of the accounts: 10 W per core and the price of the
moment. Needs root and what `.ci/packages` installs. Exit code 1 where something was sent under the flat tariff, a job
did not end well, or one started later than promised.
"""

from __future__ import annotations

import argparse
import datetime as dt
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from zoneinfo import ZoneInfo

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from slurm_day import SHAPES as DAY_SHAPES
from slurm_day import Day, plan, standing_in, waits

from planner.inputs.slurm.accounting import read_accounting
from planner.inputs.slurm.document import DocumentAnswer
from planner.inputs.slurm.job import SlurmJob
from planner.slurm.journal import read_ours
from planner.slurm.wanted import JOURNAL
from tests.slurm.cluster import ACCOUNTING, NEEDED, Cluster, running_cluster, until, why_not
from tests.slurm.site import day_zone, write_slurm_site

SHAPES = (*DAY_SHAPES[:6], ("--array=1-3", "--ntasks=8"))
SLEEP_S = (3, 12)
BEFORE_S = 10
"""How long after its submission a job begins at the earliest where jobs may be held."""
DELAY_S = 600
QUARTER_S = 900
DEAR, CHEAP = 0.9, 0.1
W_PER_CORE = 10
LATE_S = 60
"""What a full machine may add to the end of a hold."""
SITE = """\
slurm: {opt_in: {partitions: [batch, open]}}
rules: {max_delay: 10m}
goal: {waiting: 0}
power: {w_per_core: 10}
"""


@dataclass
class Side:
    """A cluster, and what was submitted to it."""

    cluster: Cluster
    jobs: list[str] = field(default_factory=list)

    def submit(self, words: Iterable[str], sleep_s: int) -> None:
        """One more job."""
        self.jobs.append(self.cluster.submit("--time=1", *words, sleep_s=sleep_s))

    def accounts(self) -> list[SlurmJob]:
        """Every job and task, once the accounts have all of them."""
        command = "sacct --allusers --starttime=now-2hours --json"

        def all_written() -> list[SlurmJob]:
            found = read_accounting(DocumentAnswer(command, self.cluster.command(*command.split()).encode()))
            mine = [job for job in found.jobs if str(job.array_job_id or job.job_id) in self.jobs]
            return mine if mine and all(job.end_unix for job in mine) else []

        return list(until(all_written, "the accounts of all jobs"))


def main() -> None:
    """Run the seeds and print a line for each side."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=70, help="how often sbatch is called")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long jobs come in")
    parser.add_argument("--every", type=float, default=4.0, help="seconds between two plans")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--dear", action="store_true", help="dear until the next quarter of an hour")
    asked = parser.parse_args()
    reason = why_not((*NEEDED, *ACCOUNTING))
    if reason:
        sys.exit(f"no Slurm: {reason}")
    wrong: list[str] = []
    heads = ("mean", "median", "p95", "longest")
    print(f"{'seed':<5} {'side':<6} {'jobs':>5}" + "".join(f"{each:>8}" for each in heads) + f"{'sent':>7} {'cost':>9}")
    with (
        tempfile.TemporaryDirectory() as folder,
        running_cluster(Path(folder) / "alone", accounting=True) as alone,
        running_cluster(Path(folder) / "planned", accounting=True) as planned,
    ):
        for seed in range(1, asked.seeds + 1):
            site = write_slurm_site(Path(folder) / f"site{seed}", SITE, zone=day_zone())
            wrong += run_seed(seed, Side(alone), Side(planned), site, asked)
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


def run_seed(seed: int, alone: Side, planned: Side, site: Path, asked: argparse.Namespace) -> list[str]:
    """The same jobs at the same moments on both sides; what went wrong."""
    rng, day = random.Random(seed), Day()
    begin: tuple[str, ...] = ()
    cheap_unix = 0
    if asked.dear:
        cheap_unix = _next_quarter(asked.seconds + 30)
        time.sleep(max(0.0, cheap_unix - asked.seconds - 60 - time.time()))
        _write_tariff(site, cheap_unix)
        begin = (f"--begin=now+{BEFORE_S}",)
    work = sorted(
        (rng.uniform(0, asked.seconds), (*rng.choice(SHAPES), *begin), rng.randint(*SLEEP_S)) for _ in range(asked.jobs)
    )
    with standing_in(site, planned.cluster):
        plan(day)  # the first plan of a process takes longer, as it loads what it needs
        began = time.monotonic()
        feeder = threading.Thread(target=_feed, args=(work, began, alone, planned))
        feeder.start()
        while feeder.is_alive() or waits(planned.cluster):
            plan(day)
            time.sleep(asked.every)
        feeder.join()
        until(lambda: not waits(alone.cluster), "the other cluster", patience_s=600)
        ours = read_ours(Path("reports/site") / JOURNAL)
    wrong = []
    for name, side, sent in (("alone", alone, 0), ("plan", planned, day.changes)):
        jobs = side.accounts()
        wrong += [f"seed {seed}: job {job.label} ended as {job.state_text}" for job in jobs if not _ended_well(job)]
        wait = sorted((job.start_unix or 0) - job.submit_unix for job in jobs)
        cost = sum(_cost(job, cheap_unix) for job in jobs)
        figures = (mean(wait), median(wait), wait[int(0.95 * len(wait))], wait[-1])
        print(
            f"{seed:<5} {name:<6} {len(jobs):>5}"
            + "".join(f"{each:>8.1f}" for each in figures)
            + f"{sent:>7} {cost:>9.5f}"
        )
        if side is planned:
            for job in jobs:
                promise = ours.promise(job.label, job.submit_unix)
                if promise is not None and (job.start_unix or 0) > promise.latest_unix + LATE_S:
                    wrong.append(f"seed {seed}: job {job.label} started later than promised")
    if day.changes and not asked.dear:
        wrong.append(f"seed {seed}: {day.changes} changes under a flat tariff")
    return wrong


def _feed(work: list[tuple[float, tuple[str, ...], int]], began: float, *sides: Side) -> None:
    for moment, words, sleep_s in work:
        time.sleep(max(0.0, began + moment - time.monotonic()))
        for side in random.sample(sides, len(sides)):
            side.submit(words, sleep_s)


def _next_quarter(ahead_s: float) -> int:
    """The first quarter of an hour that is so far ahead."""
    return int(-(-(time.time() + ahead_s) // QUARTER_S)) * QUARTER_S


def _write_tariff(site: Path, cheap_unix: int) -> None:
    """Dear until a moment of today in the site's zone, cheap for two hours from then on."""
    path = site / "scenarios" / "site.yaml"
    text = path.read_text("utf-8")
    zone = ZoneInfo(day_zone())
    first, last = (dt.datetime.fromtimestamp(cheap_unix + each, zone).strftime("%H:%M") for each in (0, 7200))
    band = f'{{from: "{first}", to: "{last}", eur_per_kwh: {CHEAP}}}'
    hourly = f"{{kind: bands, eur_per_kwh: {DEAR}, bands: [{band}]}}"
    path.write_text(text.replace("{kind: flat, eur_per_kwh: 0.2}", hourly), encoding="utf-8")


def _ended_well(job: SlurmJob) -> bool:
    return "COMPLETED" in job.state_words


def _cost(job: SlurmJob, cheap_unix: int) -> float:
    """What the energy of a job cost by when it ran [EUR]; flat where nothing is cheap."""
    start, end = job.start_unix or 0, job.end_unix or 0
    dear_s = max(0, min(end, cheap_unix) - start)
    kw = (job.had.cpus or 0) * W_PER_CORE / 1000
    if not cheap_unix:
        return kw * (end - start) / 3600 * 0.2
    return kw * (dear_s * DEAR + (end - start - dear_s) * CHEAP) / 3600


if __name__ == "__main__":
    main()
