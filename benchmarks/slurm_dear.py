"""What holding saves on a real Slurm, beside one that is alone and beside the simulator: a price falls, jobs are held.

    python benchmarks/slurm_dear.py --seeds 2                 half an hour; each seed needs a quarter of its own
    python benchmarks/slurm_dear.py --seeds 1 --first 3
    python benchmarks/slurm_dear.py --seeds 1 --large         one job of 22 takes half of the machine

6 h are scaled down to ten minutes, and so is the price of waiting. A price of 0.30 EUR/kWh falls to 0.10 at a quarter
of an hour. Jobs come from ten minutes before until half a minute after it, and begin 30 s after their submission at the
earliest, so that a plan sees them before they start. In every other seed plans stop a minute before the price falls.
Then `plan simulate -p easy,hold` runs the same jobs; those that came after the last plan count there as without holds.
Costs are those of starts and of how long jobs sleep, at 10 W per
core and the price of the moment: what a busy machine adds to each is left out. Needs root and what `.ci/packages`
installs.

Exit code 1 where a job did not end well, was held for longer than promised, or started before the end of its hold.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import datetime as dt
import io
import math
import random
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean
from zoneinfo import ZoneInfo

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from slurm_ab import (
    HEADING,
    W_PER_CORE,
    Row,
    Shape,
    Side,
    Work,
    clusters_named,
    draw_work,
    ended_badly,
    play,
    standard_error,
    waits_of,
)
from slurm_day import Day, plan, require_slurm, standing_in

from planner.cli.main import run
from planner.inputs.slurm.job import SlurmJob
from planner.slurm.journal import JOURNAL, Ours, read_ours
from tests.days import rows_of, small_table
from tests.slurm.cluster import ACCOUNTING, NEEDED
from tests.slurm.site import day_zone, write_slurm_site

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
LARGE = {("--nodes=5", "--ntasks-per-node=24"): "5x cores=24 memory_gb=24"}
"""A job beside which no other one of its kind has room."""
WORDS = SMALL | LARGE
DAY_S, QUARTER_S = 86_400, 900
BEFORE_S = 30
"""How long after its submission a job begins at the earliest."""
AFTER_S = 30
"""How long jobs still come once electricity is cheap."""
STOPPED_S = 60
"""How long before electricity is cheap plans stop in every other seed."""
SLEEP_S = (5, 20)
DEAR, CHEAP = 0.3, 0.1
OPTED_IN = "slurm: {partitions: [batch], opt_in: {partitions: [batch]}}\n"
HOLDING = f"""\
rules: {{max_delay: 10m}}
hold: {{every: 15m, waiting_fraction: 0.72, history: HISTORY}}
power: {{w_per_core: {W_PER_CORE}}}
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


def main() -> None:
    """Run the seeds, print a line for each side, and what they say together."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=110, help="how often sbatch is called")
    parser.add_argument("--every", type=float, default=10.0, help="seconds between two plans")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--large", action="store_true", help="one job of 22 takes half of the machine")
    parser.add_argument("--window", type=int, default=600, help="for how many seconds jobs come while it is dear")
    asked = parser.parse_args()
    require_slurm(*NEEDED, *ACCOUNTING)
    wrong: list[str] = []
    told = ["", "seed   saved  simulated  waits longer by, s  simulated  at most"]
    apart: list[float] = []
    print(HEADING)
    with clusters_named("plan", "alone") as (folder, sides_of):
        for seed in range(asked.first, asked.first + asked.seeds):
            rows, later, faults = run_seed(seed, sides_of(seed), folder / f"site{seed}", asked)
            wrong += faults
            line, difference = saved(seed, rows, later)
            told.append(line)
            apart.append(difference)
            print("\n".join(f"{seed:<5} {row}" for row in rows), flush=True)
    if len(apart) > 1:
        told.append(f"saved less simulated: {mean(apart):.1f} +- {standard_error(apart):.1f} points")
    print("\n".join([*told, *wrong]))
    sys.exit(1 if wrong else 0)


def run_seed(
    seed: int, sides: Sequence[Side], site: Path, asked: argparse.Namespace
) -> tuple[list[Row], int, list[str]]:
    """The same jobs at the same moments on both sides and in the simulator; a row for each, by how much a job waited
    longer at most than alone [s], and what went wrong."""
    zone, rng, day = day_zone(), random.Random(seed), Day()
    cheap_unix = -(-int(time.time() + asked.window + 20) // QUARTER_S) * QUARTER_S
    shapes = (*tuple(SMALL) * 3, *LARGE) if asked.large else tuple(SMALL)
    yesterday, work = (draw_work(rng, asked.jobs, asked.window + AFTER_S, SLEEP_S, shapes) for _ in range(2))
    write_slurm_site(site, OPTED_IN + HOLDING.replace("HISTORY", "yesterday.csv"), zone=zone)
    began_unix = cheap_unix - asked.window - DAY_S
    known = [(f"y{k}", began_unix + int(at), sleep_s, words) for k, (at, words, sleep_s) in enumerate(yesterday)]
    write_jobs(site / "scenarios" / "yesterday.csv", known)
    _write_tariff(site / "scenarios" / "site.yaml", cheap_unix, zone)
    with standing_in(site, sides[0].cluster):
        plan(Day())  # the first plan of a process takes longer, as it loads what it needs
        time.sleep(max(0.0, cheap_unix - asked.window - time.time()))
        stop_unix = math.inf if seed % 2 else cheap_unix - STOPPED_S
        last_unix = play(work, sides, day, asked.every, BEFORE_S, stop_unix)
        ours = read_ours(Path("reports/site") / JOURNAL)
    planned, alone = (side.accounts() for side in sides)
    wrong = ended_badly(seed, (*planned, *alone))
    wrong += [f"seed {seed}: job {job} {fault}" for job, fault in broken(ours, day.begins, planned)]
    rows = [
        Row.of(
            side.name,
            jobs,
            sent,
            sum(_cost(job, job.start_unix or 0, _asked(side, work, job), cheap_unix) for job in jobs),
        )
        for side, jobs, sent in zip(sides, (planned, alone), (day.changes, 0), strict=True)
    ]
    waited, waited_alone = (_waited(side, jobs) for side, jobs in zip(sides, (planned, alone), strict=True))
    asked_for = {job.label: _asked(sides[0], work, job) for job in planned}
    rows += simulated(site, planned, asked_for, cheap_unix, zone, last_unix)
    return rows, max(waited[job] - waited_alone[job] for job in waited), wrong


def _asked(side: Side, work: Work, job: SlurmJob) -> tuple[Shape, int]:
    """The shape of a job, and for how long it sleeps [s]."""
    _, shape, sleep_s = work[side.jobs.index(job.label.partition("_")[0])]
    return shape, sleep_s


def _waited(side: Side, jobs: Iterable[SlurmJob]) -> dict[tuple[int, str], int]:
    """How long each job of a side waited [s], by its place among the calls of sbatch and its task."""
    names = ((job, *job.label.partition("_")) for job in jobs)
    return {(side.jobs.index(name), task): (job.start_unix or 0) - job.submit_unix for job, name, _, task in names}


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
    site: Path,
    jobs: Sequence[SlurmJob],
    asked_for: Mapping[str, tuple[Shape, int]],
    cheap_unix: int,
    zone: str,
    last_unix: float,
) -> list[Row]:
    """The same jobs under EASY and under ``hold``, as `plan simulate` runs them after those of the day before.

    What came after the last plan, which nobody could hold, starts under both as under EASY.
    """
    place = site / "simulated"
    for name, text in {
        "scenarios/site.yaml": SIMULATED.replace("ZONE", zone) + HOLDING.replace(", history: HISTORY", ""),
        "tables/small.csv": small_table(),
        "scenarios/jobs.csv": (site / "scenarios" / "yesterday.csv").read_text("utf-8"),
    }.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")
    _write_tariff(place / "scenarios" / "site.yaml", cheap_unix, zone)
    today = [(job.label, job.submit_unix, asked_for[job.label][1], asked_for[job.label][0]) for job in jobs]
    write_jobs(place / "scenarios" / "jobs.csv", today)
    with contextlib.chdir(place), contextlib.redirect_stdout(io.StringIO()):
        words = ("simulate", "scenarios/jobs.csv", "-s", "site", "-p", "easy,hold", "-e", "requested", "-q")
        if run([*words, "--out", "out"]):
            raise RuntimeError("plan simulate failed")
    by_name = {job.label: job for job in jobs}
    found, starts = [], dict[str, int]()
    for name in ("easy", "hold"):
        head = (place / "out" / f"{name}.requested.swf").read_text("utf-8")
        origin = int(head.partition("UnixStartTime:")[2].split()[0])
        starts |= {
            row["job_id"]: origin + int(float(row["starting_time"]))
            for row in rows_of(place / "out" / f"{name}.requested.jobs.csv")
            if row["job_id"] in by_name and (name == "easy" or by_name[row["job_id"]].submit_unix <= last_unix)
        }
        wait = waits_of(start - by_name[job].submit_unix for job, start in starts.items())
        cost = sum(_cost(by_name[job], start, asked_for[job], cheap_unix) for job, start in starts.items())
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
            table.writerow((name, submit_unix, begin, 60, runtime_s, WORDS[words], "root", "wrap"))


def saved(seed: int, rows: Sequence[Row], later_s: int) -> tuple[str, float]:
    """A line on what was saved, really and by the simulator, and on how much longer jobs waited; and by how many
    points the two differ."""
    planned, alone, easy, hold = rows
    real, said = 100 * (1 - planned.cost / alone.cost), 100 * (1 - hold.cost / easy.cost)
    longer = planned.waits["mean"] - alone.waits["mean"], hold.waits["mean"] - easy.waits["mean"]
    return f"{seed:<5} {real:>4.1f} %{said:>9.1f} %{longer[0]:>20.0f}{longer[1]:>11.0f}{later_s:>9}", real - said


def _write_tariff(path: Path, cheap_unix: int, zone: str) -> None:
    """Dear until a moment of today in the site's zone, cheap for two hours from then on."""
    text = path.read_text("utf-8")
    first, last = (dt.datetime.fromtimestamp(cheap_unix + each, ZoneInfo(zone)).strftime("%H:%M") for each in (0, 7200))
    band = f'{{from: "{first}", to: "{last}", eur_per_kwh: {CHEAP}}}'
    hourly = f"{{kind: bands, eur_per_kwh: {DEAR}, bands: [{band}]}}"
    path.write_text(text.replace(FLAT_TARIFF, hourly), encoding="utf-8")


def _cost(job: SlurmJob, start_unix: int, asked_for: tuple[Shape, int], cheap_unix: int) -> float:
    """What the energy of a job costs from a start on [EUR]."""
    _, sleep_s = asked_for
    dear_s = min(sleep_s, max(0, cheap_unix - start_unix))
    return (job.had.cpus or 0) * W_PER_CORE / 3.6e6 * (dear_s * DEAR + (sleep_s - dear_s) * CHEAP)


if __name__ == "__main__":
    main()
