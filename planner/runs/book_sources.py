"""Where a day's books come from: what sacct wrote, in a file or just now, and the nodes that it speaks of."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from pathlib import Path

from planner.domain.horizon import Horizon, zone_named
from planner.domain.intake import Intake
from planner.errors import FileFormatError, SlurmError
from planner.inputs.slurm.accounting import read_accounting
from planner.inputs.slurm.document import Answer, content_of
from planner.inputs.slurm.documents import read_saved
from planner.inputs.slurm.machine import machine_of
from planner.inputs.slurm.nodes import read_nodes
from planner.inputs.slurm.sacct_text import read_sacct_text
from planner.runs.book import Books
from planner.scenario.schema import Scenario
from planner.slurm.commands import Slurm
from planner.slurm.snapshot import ask_nodes
from planner.store.results import cluster_of, read_run


def saved_books(path: Path, scenario: Scenario) -> Books:
    """The books that a file with the output of ``sacct --json`` or ``sacct --parsable2`` holds."""
    name, content = content_of(path)
    repaired: Counter[str] = Counter()
    if content.lstrip()[:1] in (b"{", b"["):
        accounts = read_accounting(Answer(name, content))
    else:
        accounts, repaired = read_sacct_text(Answer(name, content), zone_named(scenario.zone))
    return Books(accounts=accounts, intake=Intake(name, repaired=repaired), files=(path,))


def live_books(horizon: Horizon, slurm: Slurm) -> Books:
    """The books that Slurm's accounts hold now; SlurmError where they cannot be asked."""
    first, last = (
        dt.datetime.fromtimestamp(unix, tz=dt.UTC).strftime("%Y-%m-%dT%H:%M:%S")
        for unix in (horizon.start_unix, horizon.end_unix)
    )
    words = ("--allusers", "--duplicates", f"--starttime={first}", f"--endtime={last}")
    try:
        command, output = slurm.ask_json("sacct", *words)
    except SlurmError as error:
        raise SlurmError(f"{error}; or give what ran with --sacct or --table") from error
    return Books(accounts=read_accounting(Answer(command, output)), intake=Intake("Slurm"))


def with_cluster(scenario: Scenario, folder: Path, horizon: Horizon, slurm: Slurm) -> Scenario:
    """The scenario with the cluster that the day was planned on; one whose nodes are Slurm's own has none itself."""
    if scenario.jobs.source != "slurm":
        return scenario
    try:
        return scenario.model_copy(update={"cluster": cluster_of(read_run(folder / horizon.day.isoformat()))})
    except FileFormatError:  # it was not planned, or cannot be read
        pass
    chosen = scenario.slurm
    nodes = read_nodes(Answer(*ask_nodes(slurm))) if chosen.is_live else read_saved(chosen.documents).nodes()
    cluster = machine_of(nodes, chosen.partitions).cluster(scenario.cluster.power_limit_w, chosen.idle_w)
    return scenario.model_copy(update={"cluster": cluster})
