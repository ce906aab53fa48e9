"""How much of EASY's energy cost any schedule could save, and what that bound takes.

Run: ``python benchmarks/clairvoyant.py``. Five days of CEA Curie on 300 nodes of 32 cores, at the hourly prices of
prices/FR.csv.gz in the folder of the traces. Each line: how much later than under EASY a job may start, the bound, the
part of EASY's energy cost that it allows to save, time and rounds of the bound, memory.
"""

from __future__ import annotations

import datetime as dt
import gzip
import tempfile
import time
from pathlib import Path

from days import curie_jobs, french_prices, memory_gb

from planner.inputs.traces import read_cluster
from planner.online.policies import policy_named
from planner.online.replay import replay
from planner.places import TRACE, data_folder, shipped_folder
from planner.runs.bounds_over_days import clairvoyant_bound
from planner.runs.replay_ledger import settle_window, sum_of_days
from planner.scenario.load import load_scenario
from planner.scenario.schema import Scenario

FIRST_DAY = dt.date(2012, 6, 11)
SUBMITTED_DAYS = 5
LATER_H = (0, 6, 12, 24)
DAY_S = 86_400


def write_days(folder: Path) -> Path:
    """Write the jobs of Curie that were submitted on these days, with the header of the trace."""
    trace = data_folder() / TRACE
    lines = gzip.decompress(trace.read_bytes()).decode("utf-8", errors="replace").splitlines()
    header = [line for line in lines if line.startswith(";")]
    origin = next(int(line.split(":")[1]) for line in header if "UnixStartTime" in line)
    first = int(dt.datetime.combine(FIRST_DAY, dt.time(), tzinfo=dt.UTC).timestamp()) - origin
    jobs = [line for line in lines[len(header) :] if line.strip()]
    chosen = [line for line in jobs if first <= int(line.split()[1]) < first + SUBMITTED_DAYS * DAY_S]
    path = folder / "curie.swf"
    path.write_text("\n".join([*header, *chosen]) + "\n", encoding="utf-8")
    return path


def site(jobs: Path) -> Scenario:
    """300 nodes of 32 cores, for the jobs of a file, at French prices."""
    settings = (*curie_jobs(), f"jobs.source={jobs}", *french_prices())
    return load_scenario("sample", folders=[shipped_folder() / "scenarios"], overrides=settings)


def main() -> None:
    """Replay EASY, settle it, and bound what its jobs could earn."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_days(Path(folder))
        scenario = site(path)
        source = read_cluster(path, scenario)
    trace = source.trace
    easy = replay(trace, policy_named("easy"), trace.requested_s)
    last_day = dt.datetime.fromtimestamp(int(easy.end_s.max()) + (trace.origin_unix or 0), tz=dt.UTC).date()
    days = (last_day - FIRST_DAY).days + 1
    totals = sum_of_days(settle_window(scenario, source.jobs, easy, first_day=FIRST_DAY, days=days))
    cost = totals["energy_cost_eur"]
    print(f"{len(trace):,} jobs, {days} days; EASY: profit {totals['profit_eur']:.2f}, energy cost {cost:.2f}")
    print(f"{'later':>6}{'bound':>12}{'saving':>10}{'slack':>9}{'time':>9}{'rounds':>8}{'memory':>10}")
    for later_h in LATER_H:
        began = time.perf_counter()
        latest_s = easy.start_s + later_h * 3600
        bound = clairvoyant_bound(scenario, source.jobs, trace, latest_s, first_day=FIRST_DAY, days=days)
        seconds = time.perf_counter() - began
        saved = (bound.profit_eur - totals["profit_eur"]) / cost
        slack = "none" if bound.slack_eur is None else f"{bound.slack_eur:.3f}"
        print(
            f"{later_h:>4} h{bound.profit_eur:>12.2f}{100 * saved:>8.2f} %{slack:>9}{seconds:>7.1f} s{bound.rounds:>8}"
            f"{memory_gb():>7.2f} GB",
            flush=True,
        )


if __name__ == "__main__":
    main()
