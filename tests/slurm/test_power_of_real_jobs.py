"""Jobs of a real Slurm that have ended, and equal ones that wait: power is learned from the ones for the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.cli.main import run
from planner.inputs.slurm.read_site import SlurmSite
from planner.inputs.slurm.saved_folder import read_saved
from planner.scenario.load import load_scenario
from tests.slurm.cluster import ACCOUNTING, SEARCH, Cluster, until, why_not
from tests.slurm.site import write_slurm_site

SITE = "slurm: {partitions: [batch], idle_w: 0}\npower: {metered: job}\n"
LIKE = {
    "some": ("--ntasks=3",),
    "uneven": ("--nodes=2", "--ntasks=5"),
    "whole": ("--exclusive", "--nodes=1"),
    "wide": ("--ntasks=40", "--mem-per-cpu=500"),
    "threads": ("--nodes=2", "--ntasks=2", "--cpus-per-task=3", "--mem=3G"),
    "array": ("--array=1-2", "--time=7"),
}
"""Requests by the names of their jobs; nothing is said of GPUs, which this Slurm does not account."""


def test_waiting_jobs_are_known_by_their_like(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each at the most specific level, with the 90 W that were measured of its like."""
    reason = why_not((*ACCOUNTING, "sacct"))
    if reason:
        pytest.skip(f"no Slurm with accounting: {reason}")
    base = write_slurm_site(tmp_path / "site", SITE)
    monkeypatch.chdir(base)
    monkeypatch.setenv("PATH", SEARCH)
    monkeypatch.setenv("SLURM_CONF", str(cluster.conf))
    jobs = [cluster.submit(f"--job-name={name}", *words, sleep_s=1) for name, words in LIKE.items()]
    assert run(["slurm", "snapshot", "--out", "saved"]) == 0

    cluster.command("scancel", cluster.fill())
    until(lambda: not cluster.command("squeue", "--noheader").strip(), "all jobs to end")
    wanted = ("sacct", "--allusers", f"--jobs={','.join(jobs)}")
    until(lambda: _ended(cluster.command(*wanted, "-X", "-n", "--format=State")), "the accounts of all jobs")
    sock = cluster.folder / "database.sock"
    runs = f"id_job in ({','.join(jobs)}) or id_array_job={jobs[-1]}"
    # Nothing measures energy here: each job has drawn 90 W, and the mark for "none" gives way to it.
    energy = "replace(tres_alloc, '3=18446744073709551614', concat('3=', 90 * (time_end - time_start)))"
    sql = f"use slurm_acct; update ci_job_table set tres_alloc={energy} where {runs}"
    cluster.command("mariadb", "--no-defaults", f"--socket={sock}", "--execute", sql)
    Path("sacct.json").write_text(cluster.command(*wanted, "--json"), encoding="utf-8")
    assert run(["power", "learn", "--from", "sacct.json", "--out", "power.json"]) == 0

    chosen = load_scenario("site", folders=[base / "scenarios"], overrides=["power.learned=power.json"])
    site = SlurmSite.of(read_saved(Path("saved")), chosen.slurm)
    snapshot, intake = site.snapshot(site.scenario(chosen), lambda queued: queued.begin_unix)
    assert {job.id: job.power_w for job in snapshot.pending} == pytest.approx(
        dict.fromkeys([*jobs[:-1], f"{jobs[-1]}_1", f"{jobs[-1]}_2"], 90.0)
    )
    assert "power by jobs of the same user + account + name + partition + request: 7 jobs" in intake.notes


def _ended(states: str) -> bool:
    return len(states.split()) == len(LIKE) + 1 and set(states.split()) == {"COMPLETED"}
