"""Where a day's books come from: what sacct wrote, in a file or just now, and the nodes that it speaks of."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from planner.domain.horizon import Horizon, zone_named
from planner.domain.intake import Intake
from planner.errors import FileFormatError, SlurmError
from planner.inputs.slurm.accounting import read_accounting
from planner.inputs.slurm.document import DocumentAnswer
from planner.inputs.slurm.documents import read_saved
from planner.inputs.slurm.machine import SlurmMachine, machine_of
from planner.inputs.slurm.nodes import read_nodes
from planner.inputs.slurm.sacct_text import read_accounts
from planner.runs.book import Books
from planner.scenario.schema import Scenario
from planner.scenario.slurm import SlurmSection
from planner.slurm.commands import Slurm
from planner.slurm.snapshot import ask_nodes
from planner.store.results import cluster_of, read_run


def saved_books(path: Path, scenario: Scenario) -> Books:
    """The books that a file with the output of ``sacct --json`` or ``sacct --parsable2`` holds."""
    accounts, repaired = read_accounts(path, zone_named(scenario.zone))
    return Books(accounts=accounts, intake=Intake(str(path), repaired=repaired), files=(path,))


def live_books(horizon: Horizon, slurm: Slurm) -> Books:
    """The books that Slurm's accounts hold now; SlurmError where they cannot be asked."""
    try:
        answer = ask_accounts(horizon, slurm)
    except SlurmError as error:
        raise SlurmError(f"{error}; or give what ran with --sacct or --table") from error
    return Books(accounts=read_accounting(answer), intake=Intake("Slurm"))


def ask_accounts(horizon: Horizon, slurm: Slurm) -> DocumentAnswer:
    """What Slurm's accounts have of a day: every job that waited or ran on it."""
    first, last = (
        dt.datetime.fromtimestamp(unix, tz=dt.UTC).strftime("%Y-%m-%dT%H:%M:%S")
        for unix in (horizon.start_unix, horizon.end_unix)
    )
    words = ("--allusers", "--duplicates", f"--starttime={first}", f"--endtime={last}")
    return DocumentAnswer(*slurm.ask_json("sacct", *words))


def with_cluster(scenario: Scenario, folder: Path, horizon: Horizon, slurm: Slurm) -> Scenario:
    """The scenario with the cluster that the day was planned on; one whose nodes are Slurm's own has none itself."""
    if scenario.jobs.source != "slurm":
        return scenario
    try:
        return scenario.model_copy(update={"cluster": cluster_of(read_run(folder / horizon.day.isoformat()))})
    except FileFormatError:  # it was not planned, or cannot be read
        pass
    machine = slurm_machine(scenario.slurm, slurm)
    cluster = machine.cluster(scenario.cluster, scenario.slurm)
    return scenario.model_copy(update={"cluster": cluster})


def slurm_machine(chosen: SlurmSection, slurm: Slurm) -> SlurmMachine:
    """The nodes that Slurm has now, or had when its documents were saved."""
    nodes = read_nodes(DocumentAnswer(*ask_nodes(slurm))) if chosen.is_live else read_saved(chosen.documents).nodes()
    return machine_of(nodes, chosen.partitions)
