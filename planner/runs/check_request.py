"""What somebody asks for, opened: day, scenario, method, moment. The one way of the command line and of scripts."""

from __future__ import annotations

import datetime as dt
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner import defaults
from planner.errors import InputError
from planner.limits import PLANNED_YEARS
from planner.places import full_path, is_folder

if TYPE_CHECKING:
    from planner.methods import Params
    from planner.online.policies import Policy
    from planner.runs.one_day import PlanRequest
    from planner.scenario.schema import Scenario

WORDS = {"yesterday": -1, "today": 0, "tomorrow": 1}
"""Days by name, as so many days from today."""


def parse_day(text: str | dt.date, zone: str | None = None, *, by_name: bool = False) -> dt.date:
    """A calendar day such as 2024-06-01; with a zone also yesterday, today or tomorrow there; a date is one already.

    ``by_name``: the caller takes those words itself, and errors name them.
    """
    if isinstance(text, dt.date):
        return text
    if zone is not None and text.strip().lower() in WORDS:
        from planner.domain.horizon import Horizon

        today = Horizon.of_unix(int(time.time()), zone).day
        return today + dt.timedelta(days=WORDS[text.strip().lower()])
    try:
        day = dt.date.fromisoformat(text)
    except ValueError as error:
        words = ", or yesterday, today or tomorrow" if by_name or zone is not None else ""
        raise InputError(f"cannot read {text!r} as a day; write it as 2024-06-01{words}") from error
    if day.year not in PLANNED_YEARS:
        raise InputError(f"the day {text} is out of range; its year must be {PLANNED_YEARS}")
    return day


def parse_moment(text: str | None) -> int:
    """A moment with its offset from UTC, in whole Unix seconds; None is this moment."""
    if text is None:
        moment = dt.datetime.now(dt.UTC)
    else:
        try:
            moment = dt.datetime.fromisoformat(text)
        except ValueError as error:
            raise InputError(f"cannot read {text!r} as a moment; write it as 2024-06-01T10:00+02:00") from error
    if moment.tzinfo is None:
        raise InputError(f"the moment {text} has no offset from UTC; write it as 2024-06-01T10:00+02:00, or with Z")
    if moment.year not in PLANNED_YEARS:
        raise InputError(f"the moment {text} is out of range; its year must be {PLANNED_YEARS}")
    return int(moment.timestamp())


def open_scenario(
    name: str | Path | None,
    settings: Sequence[str] = (),
    seed: int | None = None,
    jobs: Path | None = None,
    *,
    slurm: bool = False,
) -> Scenario:
    """The scenario that is meant, with all that is set: by default ``site`` where there is one, else ``sample``.

    InputError when its jobs come from Slurm, unless the caller reads those itself (``slurm``).
    """
    from planner.places import scenario_folders
    from planner.scenario.load import load_scenario
    from planner.text_files import require_file

    folders = scenario_folders(Path.cwd())
    if name is None:
        name = "site" if any((folder / "site.yaml").is_file() for folder in folders) else "sample"
    overrides = list(settings)
    if jobs is not None:
        # What the scenario says of its own file does not hold for another one.
        source = json.dumps(str(full_path(require_file(jobs))), ensure_ascii=False)
        own = [f"jobs.source={source}", "jobs.format=auto", "jobs.start_unix=null", "jobs.whole_queue=null"]
        overrides = own + overrides
    if seed is not None:
        overrides.append(f"seed={seed}")
    scenario = load_scenario(name, folders=folders, overrides=overrides)
    _require_estimate(scenario.rules.estimate)
    if scenario.jobs.source == "slurm" and not slurm:
        from planner.inputs.jobs.read import only_now

        raise only_now()
    return scenario


def _require_estimate(name: str) -> None:
    """InputError when no such estimate is known; the scenario itself knows only its name."""
    if name == "requested":
        return
    from planner.online.estimates import estimate_named

    try:
        estimate_named(name)
    except InputError as error:
        raise InputError(f"rules.estimate: {error}") from None


def require_names(method: str | None, engine: str | None) -> None:
    """InputError for a method, and SolverError for an engine, that there is not: told before files are read."""
    from planner.methods import method_named, require_engine

    if method is not None:
        method_named(method)
    if engine is not None:
        require_engine(engine)


def params_of(
    scenario: Scenario,
    *,
    method: str | None = None,
    engine: str | None = None,
    iterations: int | None = None,
    also: Sequence[str] = (),
    command: Sequence[str] = (),
    from_moment: bool = False,
    **how: Any,
) -> Params:
    """How days of a scenario are planned; without a method by the usual one, which differs from a moment on.

    ``how`` are further fields of `Params`.
    """
    from planner.methods import Params, usual_method
    from planner.store.write_day import require_formats

    require_names(method, engine)
    require_formats(tuple(also))
    return Params(
        method or usual_method(scenario, from_moment=from_moment),
        engine=engine,
        iterations=iterations or defaults.ITERATIONS,
        also=tuple(also),
        command=tuple(command),
        **how,
    )


def refuse_contradictions(snapshot: Path | None, nodes: Path | None, jobs: Path | None, *, fresh: bool = False) -> None:
    """InputError for options that a snapshot leaves without a meaning, or that need one."""
    if snapshot is None:
        if nodes is not None:
            raise InputError("--nodes goes with --snapshot, whose nodes it is about; give both")
        return
    if jobs is not None:
        raise InputError("--snapshot has all jobs, so that --jobs would be lost; leave one of them out")
    if fresh:
        raise InputError(
            "--snapshot says what runs and waits, so that there is nothing to start anew; leave out --fresh"
        )


def asked_day(
    scenario: Scenario, day: dt.date, *, fresh: bool = False, snapshot: Path | None = None, nodes: Path | None = None
) -> PlanRequest:
    """A day from its midnight on."""
    from planner.domain.horizon import Horizon
    from planner.runs.one_day import PlanRequest

    midnight = Horizon(day, scenario.zone).start_unix
    return PlanRequest(midnight, nightly=snapshot is None, fresh=fresh, snapshot=snapshot, nodes=nodes)


def asked_now(
    name: str | Path | None,
    settings: Sequence[str] = (),
    seed: int | None = None,
    jobs: Path | None = None,
    *,
    at: str | None = None,
    snapshot: Path | None = None,
    nodes: Path | None = None,
    hours: float = 24.0,
) -> tuple[Scenario, PlanRequest]:
    """The scenario and what is planned of it from a moment on: of a table, of Slurm, or of the last plan."""
    moment = parse_moment(at)
    refuse_contradictions(snapshot, nodes, jobs)
    documents = _documents(snapshot, nodes)

    from planner.inputs.build import HOURS
    from planner.runs.one_day import PlanRequest

    HOURS.require("--hours", hours)
    scenario = open_scenario(name, (*documents, *settings), seed, jobs, slurm=True)
    asked = PlanRequest(moment, snapshot=None if documents else snapshot, nodes=nodes, hours=hours)
    return _of_slurm(scenario, asked, at) if scenario.jobs.source == "slurm" else (scenario, asked)


def _documents(snapshot: Path | None, nodes: Path | None) -> tuple[str, ...]:
    """A saved folder of Slurm's documents in the place of a table, as settings of the scenario; none for a table."""
    if snapshot is None or not is_folder(snapshot):
        return ()
    if nodes is not None:
        raise InputError("--nodes goes with a table; Slurm itself says which nodes cannot be used; leave it out")
    return "jobs.source=slurm", f"slurm.documents={json.dumps(str(full_path(snapshot)), ensure_ascii=False)}"


def _of_slurm(scenario: Scenario, asked: PlanRequest, at: str | None) -> tuple[Scenario, PlanRequest]:
    """The scenario with the cluster of Slurm, and what it says; its moment is that of planning."""
    if at is not None:
        raise InputError(
            "--at does not go with Slurm, which is planned from the moment that it speaks of; leave it out"
        )
    if asked.snapshot is not None:
        raise InputError("jobs.source is slurm and --snapshot is a table; give a folder of `plan slurm snapshot`")

    from planner.inputs.slurm.read_site import SlurmSite
    from planner.inputs.slurm.saved_folder import read_saved

    chosen = scenario.slurm
    if chosen.is_live:
        from planner.slurm.commands import Slurm, take

        documents = take(Slurm())
    else:
        documents = read_saved(chosen.documents)
    site = SlurmSite.of(documents, chosen)
    return site.scenario(scenario), replace(asked, moment_unix=documents.moment_unix, slurm=site)


def asked_runs(
    names: Sequence[str | Path],
    methods: Sequence[str],
    policies: Sequence[str],
    settings: Sequence[str] = (),
    seed: int | None = None,
    jobs: Path | None = None,
    carbon_weights: Sequence[object] | None = None,
    waiting: Sequence[object] | None = None,
) -> tuple[list[Scenario], list[Policy]]:
    """The scenarios and policies of a comparison; with a curve, each scenario once for each of its values."""
    from planner.methods import method_named
    from planner.online.policies import policy_named

    for name in methods:
        method_named(name)
    replayed = [policy_named(name) for name in policies]
    for each in replayed:
        if each.kind == "cp":
            raise InputError(f"policy {each.name} needs a CP search, which `plan simulate` has; order-... needs none")
    if carbon_weights is not None and waiting is not None:
        raise InputError("--waiting and --carbon-weights each make a curve of their own; give one of them")
    for key, values, mark in (("goal.carbon_weight", carbon_weights, "@"), ("goal.waiting", waiting, "~")):
        if values is not None:
            return _by_value(names, key, values, mark, settings, seed, jobs), replayed
    return [open_scenario(name, settings, seed, jobs) for name in names], replayed


def _by_value(
    names: Sequence[str | Path],
    key: str,
    values: Sequence[object],
    mark: str,
    settings: Sequence[str],
    seed: int | None,
    jobs: Path | None,
) -> list[Scenario]:
    """Each scenario once for each value of a key, called after both."""
    opened = []
    for name in names:
        for value in values:
            scenario = open_scenario(name, (*settings, f"{key}={value}"), seed, jobs)
            opened.append(scenario.model_copy(update={"name": f"{scenario.name}{mark}{value}"}))
    return opened
