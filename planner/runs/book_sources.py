"""Where a day's books come from: what sacct wrote, in a file or just now, and the nodes that it speaks of."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Sequence
from pathlib import Path

from planner.domain.horizon import Horizon, zone_named
from planner.domain.intake import Intake
from planner.errors import FileFormatError, InputError, SlurmError
from planner.inputs.books.booked_day import require_over
from planner.inputs.slurm.json_document import DocumentAnswer
from planner.inputs.slurm.machine import SlurmMachine, machine_of
from planner.inputs.slurm.nodes import read_nodes
from planner.inputs.slurm.sacct_json import read_accounting
from planner.inputs.slurm.sacct_text import read_accounts
from planner.inputs.slurm.saved_folder import read_saved
from planner.runs.asked import open_scenario, parse_day
from planner.runs.book import Books, book
from planner.runs.one_day import DoneDay
from planner.scenario.schema import Scenario
from planner.scenario.slurm import SlurmSection
from planner.slurm.commands import Slurm
from planner.slurm.snapshot import ask_nodes
from planner.store.read_json import cluster_of, read_run
from planner.store.write_day import require_formats


def book_asked(
    day: str | dt.date,
    scenario: str | Path | None = None,
    settings: Sequence[str] = (),
    *,
    sacct: Path | None = None,
    table: Path | None = None,
    out: Path = Path("reports"),
    also: Sequence[str] = (),
    rebook: bool = False,
    command: Sequence[str] = (),
) -> DoneDay:
    """Book a day of a scenario from what sacct wrote, from a table, or from Slurm's accounts."""
    if sacct is not None and table is not None:
        raise InputError("--sacct and --table both say what ran; leave one of them out")
    require_formats(tuple(also))
    now_unix = int(time.time())
    chosen = open_scenario(scenario, settings, slurm=True)
    wanted = day if isinstance(day, dt.date) else parse_day(day, chosen.zone)
    horizon = Horizon(wanted, chosen.zone)
    require_over(horizon, now_unix)
    if table is not None:
        books = Books(table=table, files=(table,))
    else:
        books = live_books(horizon, Slurm()) if sacct is None else saved_books(sacct, chosen)
    folder = out / chosen.name
    chosen = with_cluster(chosen, folder, horizon, Slurm())
    return book(chosen, wanted, books, folder, now_unix=now_unix, rebook=rebook, also=tuple(also), command=command)


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
    return slurm.ask_json("sacct", *words)


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
    nodes = read_nodes(ask_nodes(slurm)) if chosen.is_live else read_saved(chosen.documents).nodes()
    return machine_of(nodes, chosen.partitions)
