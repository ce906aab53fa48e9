"""Replays that somebody asks for: the trace read, policies replayed and measured, files and a page written."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from planner import defaults
from planner.errors import InputError
from planner.inputs.traces import Source, read_cluster, read_pool, read_window
from planner.limits import PERCENT
from planner.methods import with_engine
from planner.metrics import DEFAULT, METRICS, MONEY, TRIMMING
from planner.online.estimates import estimate_named
from planner.online.offline import offline_objective
from planner.online.policies import OfflineSearch, Policy, policy_named
from planner.pages.simulate import replay_page
from planner.runs.check_request import open_scenario, parse_day
from planner.runs.measured_replays import (
    Conduct,
    Measurement,
    ReplayRun,
    RoundEngine,
    simulate,
    simulate_offline,
    with_money,
)
from planner.runs.one_day import require_order
from planner.runs.replay_ledger import require_first_day
from planner.scenario.schema import Scenario
from planner.store.folder import filled, write_rows, write_text
from planner.store.swf_batsim import write_batsim_jobs, write_replay_swf


@dataclass(frozen=True)
class AskedReplay:
    """What is replayed, and how; the defaults are those of `plan simulate`."""

    jobs: Path | None = None
    policies: Sequence[str] = ("easy",)
    estimates: Sequence[str] = ()
    processors: int | None = None
    scenario: str | Path | Scenario | None = None
    first: str | dt.date | None = None
    last: str | dt.date | None = None
    settings: Sequence[str] = ()
    metrics: Sequence[str] = ()
    trim: str = "none"
    correction: str = "request"
    round_estimates: bool = False
    partitions: tuple[int, ...] = ()
    deadlines: float = 0.0
    seed: int = 0
    engine: str = defaults.ROUND_ENGINE
    time_limit_s: float = defaults.ROUND_TIME_S
    offline: Sequence[str] = ()

    def __post_init__(self) -> None:
        PERCENT.require("--deadlines", self.deadlines)
        if self.settings and self.scenario is None:
            raise InputError("--set changes what a scenario says; give --scenario as well")
        if not self.policies and not self.offline:
            raise InputError("give a policy, such as easy; `plan show policies` names them all")
        if self.processors is not None and self.scenario is not None:
            raise InputError("give --processors or --scenario, not both: one pool, or the scenario's cluster")
        if self.scenario is not None and self.partitions:
            raise InputError("--partition is for one pool; a scenario's own rules say which jobs it takes")
        if self.jobs is None and (self.scenario is None or self.first is None):
            raise InputError("give a trace, or --scenario and --from: the days whose submissions are replayed")
        if self.jobs is not None and (self.first is not None or self.last is not None):
            raise InputError("--from and --to choose among the scenario's own jobs; a trace is replayed whole")
        if self.offline and self.scenario is not None:
            raise InputError(
                "--offline plans one pool of processors, not a scenario's cluster; give --processors instead"
            )


@dataclass(frozen=True)
class Replays:
    """Replays of one trace, with what they were measured and done with."""

    source: Source
    runs: list[ReplayRun]
    conduct: Conduct
    engine: RoundEngine
    policies: list[Policy]
    trim: str

    @property
    def size(self) -> str:
        """How large the trace and its machine are."""
        trace = self.source.trace
        return f"{len(trace):,} jobs on {trace.machine.processors:,.0f} processors"

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each run, with its metrics."""
        return [run.row() for run in self.runs]

    @property
    def full_rows(self) -> list[dict[str, Any]]:
        """The same with what the engine did."""
        return [run.row() | run.engine_row() for run in self.runs]

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is to be said of the runs, each once."""
        return tuple(dict.fromkeys(run.remark for run in self.runs if run.remark))

    @property
    def done_with(self) -> dict[str, Any]:
        """How the trace was replayed, by name."""
        return asdict(self.conduct) | self.engine.row(self.policies)

    @property
    def meanings(self) -> dict[str, str]:
        """What the metrics that were measured mean, by name."""
        known = {name: metric.meaning for name, metric in METRICS.items()} | MONEY
        return {name: known[name] for name in dict.fromkeys(key for row in self.rows for key in row) if name in known}

    def write(self, out: Path) -> None:
        """Write metrics.csv, and jobs.csv and .swf of each run, to a folder."""
        with filled(out) as place:
            for run in self.runs:
                stem = f"{run.policy}.{run.estimate}".replace("*", "x")
                write_batsim_jobs(run.replay, place / f"{stem}.jobs.csv")
                note = ", ".join(filter(None, (self.conduct.changed(), run.remark)))
                write_replay_swf(run.replay, place / f"{stem}.swf", note)
            write_rows([row | self.done_with for row in self.full_rows], place / "metrics.csv")

    def write_page(self, path: Path) -> None:
        """Write the page of the metrics and of how long jobs waited."""
        waits = [
            (f"{run.policy}, {run.estimate}", (run.replay.start_s - run.replay.ready_s)[run.replay.is_started])
            for run in self.runs
        ]
        notes = [f"{TRIMMING[self.trim]}; {self.size}", *self.remarks]
        late = [row for run in self.runs for row in run.late_rows()]
        title = f"Replay of {Path(self.source.trace.source).name}"
        write_text(path, replay_page(title, notes, self.rows, self.meanings, waits, late))


def replays(
    asked: AskedReplay,
    *,
    on_remark: Callable[[str], None] = lambda line: None,
    on_source: Callable[[Source], None] = lambda source: None,
    on_run: Callable[[str, int, int], None] = lambda title, done, total: None,
) -> Replays:
    """Replay what is asked for.

    ``on_remark`` is told what is odd, ``on_source`` has the trace once it is read, ``on_run`` how many jobs of a run
    have finished.
    """
    objectives = [offline_objective(name) for name in asked.offline]
    policies, not_run = with_engine(list(dict.fromkeys(map(policy_named, asked.policies))), asked.engine)
    if not_run:
        on_remark(not_run)
    scenario = asked.scenario
    if scenario is not None and not isinstance(scenario, Scenario):
        scenario = open_scenario(scenario, asked.settings)
    names = list(asked.metrics or DEFAULT)
    if names == ["all"]:
        names = [*METRICS, *(MONEY if scenario is not None else ())]
    usual = "requested" if scenario is None else scenario.rules.estimate
    estimates = [estimate_named(name) for name in asked.estimates or [usual]]
    if asked.round_estimates:
        estimates = [each.rounded() for each in estimates]
    measured = Measurement.named(names, asked.trim, scenario)
    conduct = Conduct(asked.correction, deadline_percent=asked.deadlines, seed=asked.seed)
    used = RoundEngine(asked.engine, asked.time_limit_s)
    source = _source(asked, scenario)
    on_source(source)
    if measured.money and scenario is not None:
        require_first_day(scenario, source.trace)
    runs = simulate(source, policies, estimates, measured, conduct=conduct, engine=used, on_run=on_run)
    if objectives:
        search = OfflineSearch(seed=asked.seed)
        runs += simulate_offline(source, objectives, measured, search, conduct=conduct, on_run=on_run)
    return Replays(source, with_money(runs, source, measured), conduct, used, policies, asked.trim)


def _source(asked: AskedReplay, scenario: Scenario | None) -> Source:
    """The trace: a file on one pool or on a scenario's cluster, or a scenario's own jobs of some days."""
    if scenario is None:
        assert asked.jobs is not None
        return read_pool(asked.jobs, asked.processors, partitions=asked.partitions)
    if asked.jobs is not None:
        return read_cluster(asked.jobs, scenario)
    days = [parse_day(each, scenario.zone) for each in (asked.first, asked.last) if each is not None]
    require_order(days[0], days[-1])
    return read_window(scenario, days[0], days[-1])
