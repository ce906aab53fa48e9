"""Finished jobs with their measured power, from tables or sacct, in files or just now; and what they teach, written."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from planner import __version__
from planner.domain.horizon import Horizon, zone_named
from planner.errors import InputError, OutputError, SlurmError
from planner.inputs.books.measured_power import Finished, accounted_candidates, chosen, table_candidates
from planner.inputs.jobs.power_models import LearnedFile, learned_power_text
from planner.inputs.slurm.job import SlurmJob
from planner.inputs.slurm.node_classes import SlurmMachine
from planner.inputs.slurm.sacct_json import Accounts, read_accounting
from planner.inputs.slurm.sacct_text import holds_accounts, read_accounts
from planner.places import is_folder
from planner.power.learned import learned_from
from planner.runs.book import ask_accounts, slurm_machine
from planner.scenario.schema import Scenario
from planner.slurm.commands import Slurm
from planner.store.folder import PRIVATE, write_file


@dataclass(frozen=True)
class PowerSources:
    """What finished jobs are read from.

    ``digests`` are the SHA-256 of each source that is no file, by its name; ``files`` the others. ``accounts`` are what
    Slurm's accounts say, each with where it is from; ``repaired`` counts by reason what was repaired while reading
    them. Of those that were asked for just now all jobs from ``since_unix`` until ``until_unix`` are there.
    """

    digests: Mapping[str, str]
    tables: tuple[Path, ...] = ()
    accounts: tuple[tuple[str, Accounts], ...] = ()
    repaired: Counter[str] = field(default_factory=Counter)
    since_unix: int | None = None
    until_unix: int | None = None
    files: tuple[Path, ...] = ()


def saved_sources(paths: Sequence[Path], scenario: Scenario) -> PowerSources:
    """Files: those that sacct wrote, in any form that `plan book` takes, and tables."""
    tables, accounts = [], []
    repaired: Counter[str] = Counter()
    for path in paths:
        if holds_accounts(path):
            found, mended = read_accounts(path, zone_named(scenario.zone))
            accounts.append((str(path), found))
            repaired += mended
        else:
            tables.append(path)
    return PowerSources({}, tuple(tables), tuple(accounts), repaired, files=tuple(paths))


def days_before(moment_unix: int, count: int, zone: str) -> tuple[Horizon, ...]:
    """The last days that were over at a moment, in order."""
    found: list[Horizon] = []
    first_unix = Horizon.of_unix(moment_unix, zone).start_unix
    for _ in range(count):
        found.append(Horizon.of_unix(first_unix - 1, zone))
        first_unix = found[-1].start_unix
    return tuple(reversed(found))


def live_sources(days: Sequence[Horizon], slurm: Slurm) -> PowerSources:
    """What Slurm's accounts have of some days in a row, asked for day by day; SlurmError where they cannot be asked."""
    digests: dict[str, str] = {}
    # Jobs that are there on several days are in the answers of each.
    jobs: dict[SlurmJob, None] = {}
    for day in days:
        try:
            answer = ask_accounts(day, slurm)
        except SlurmError as error:
            raise SlurmError(f"{error}; or give finished jobs with --from") from error
        digests[answer.command] = hashlib.sha256(answer.output).hexdigest()
        jobs |= dict.fromkeys(read_accounting(answer).jobs)
    return PowerSources(
        digests,
        accounts=(("Slurm", Accounts(tuple(jobs))),),
        since_unix=days[0].start_unix,
        until_unix=days[-1].end_unix,
    )


def with_nodes(scenario: Scenario, sources: PowerSources, slurm: Slurm) -> tuple[Scenario, SlurmMachine | None]:
    """The scenario with the nodes that accounts speak of, and Slurm's machine where these are Slurm's own."""
    if scenario.jobs.source != "slurm" or not sources.accounts:
        return scenario, None
    machine = slurm_machine(scenario.slurm, slurm)
    cluster = machine.cluster(scenario.cluster, scenario.slurm)
    return scenario.model_copy(update={"cluster": cluster}), machine


def finished_jobs(
    sources: PowerSources,
    scenario: Scenario,
    machine: SlurmMachine | None,
    *,
    until_unix: int | None = None,
    one_node: bool = False,
) -> Finished:
    """The finished jobs of all sources that can be learned from, each once.

    Scenario and machine are as `with_nodes` gives them. Only jobs count that ended before ``until_unix``, and with
    ``one_node`` none of several units.
    """
    left_out: Counter[str] = Counter()
    found = [
        *table_candidates(sources.tables, scenario, left_out),
        *accounted_candidates(sources.accounts, scenario, machine, left_out, sources.since_unix),
    ]
    moments = [each for each in (until_unix, sources.until_unix) if each is not None]
    return chosen(found, left_out, until_unix=min(moments, default=None), one_node=one_node)


def learned_file(finished: Finished, sources: Mapping[str, str], made: str) -> LearnedFile:
    """What finished jobs teach, with its provenance; InputError when there is no job to learn from.

    ``sources`` are the SHA-256 of what they were read from, by name.
    """
    if not finished.jobs:
        reasons = "; ".join(f"{count:,} {reason}" for reason, count in finished.left_out.most_common())
        raise InputError(
            f"no finished job can be learned from: {reasons or 'none has ended on the whole days that were read'}"
        )
    return LearnedFile(
        learned_from(finished.jobs),
        len(finished.jobs),
        finished.jobs[0].end_unix,
        finished.jobs[-1].end_unix,
        sources,
        finished.left_out,
        made,
        __version__,
    )


def write_learned_power(file: LearnedFile, path: Path) -> None:
    """Write the file in one step: a crash, a full disk or a kill leaves the earlier one as it was."""
    if is_folder(path):
        raise OutputError(f"{path}: is a folder; give the name of a file with --out")
    write_file(path, learned_power_text(file).encode(), PRIVATE)
