"""The study of dispatchers for large machines with node classes: published figures beside ours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.defaults import DISPATCH_STEPS as STEPS
from planner.defaults import ROUND_ENGINE, ROUND_TIME_S
from planner.errors import InputError
from planner.limits import DISPATCH_STEPS, EVALUATIONS, QUEUE_JOBS, QUEUE_NODES, Bounds
from planner.methods import with_engine
from planner.online.estimates import estimate_named
from planner.online.policies import USUAL_SEARCH, Policy, policy_named
from planner.pages.charts import Bar, bar_groups, lines
from planner.pages.markup import THIN, Column, Html, hours, plain
from planner.places import full_path, scenario_folders
from planner.runs.compare_results import Row
from planner.scenario.load import load_scenario
from planner.studies.dispatcher_cells import DispatchLimits, dispatch_figures, growth_figures
from planner.studies.published import DISPATCHERS
from planner.studies.report import (
    Content,
    Shown,
    StudyReport,
    StudySection,
    StudyTable,
    curves,
    grouped,
    numbers,
    table_of,
    words,
)
from planner.studies.study import Study, StudyCell, option, require_known, require_traces, trace_name

PARTS = ("replays", "queues")
COLOURS = ("it", "cooling", "profit", "price", "good", "other")
GROWTH = (
    "Queues are made up, on nodes of 20 cores and 64 GB of which half are taken and a fifth half taken. Dispatchers"
    " look at no more than 100 jobs."
)
BRIEF = (
    *("policy", "mean slowdown", "mean wait", "a dispatch", "published", "longest", "whole replay"),
    *("found nothing", "end"),
)

"""Columns that a terminal shows."""


@dataclass(frozen=True, kw_only=True)
class DispatcherStudy(Study):
    """Dispatchers for large machines with node classes: slowdown, waits, and what a dispatch takes.

    Replays of the same jobs under each of them, beside the papers of 2019 and 2021, and made-up queues on machines that
    grow. An interrupted study goes on where it stopped.

    Examples: plan study dispatchers replay.csv kit.csv -s eurora,kit-forhlr2 -e actual --jobs 1000;
    plan study dispatchers --part queues
    """

    name = "dispatchers"
    title = "Dispatchers for large machines with node classes"
    reading = (
        "Every row is one dispatcher or policy on the same jobs, each of which runs as long as it really did; of"
        " runtimes it believes what the table says. A dispatch is a round in which some waiting job had room. Times are"
        " CPU time here; those of the paper are its authors', on their machine and with far more jobs: 400,000 of"
        " EURORA and 114,355 of KIT ForHLR II. So their order can be compared, not their size.",
        "A slowdown is (wait + runtime) / runtime. Found nothing: the search of a dispatch had no plan when its time"
        " was over, and the list plan was taken. Proven: the part of the dispatches in which no plan is better for the"
        " jobs that were looked at.",
    )
    files: tuple[Path, ...] = option((), "files if any", "Jobs to replay: CSV, Parquet or SWF.", metavar="[JOBS]...")
    scenarios: tuple[str, ...] = option(
        ("eurora",), "list", "The machine of all jobs, or by commas one for each file.", "--scenario", "-s"
    )
    policies: tuple[str, ...] = option(
        ("hcp19", "pcp19", "pcp21", "pcp21s", "order-stretch", "easy", "list", "spf-list"),
        "names",
        "By commas; default all of the study.",
        *("--policies", "-p"),
    )
    estimates: tuple[str, ...] = option(
        ("actual", "requested", "last2", "data"),
        "names",
        "What policies believe of runtimes, by commas.",
        *("--estimates", "-e"),
    )
    jobs: int | None = option(None, "number", "Only the first jobs of each file.", bounds=Bounds(1, math.inf))
    engine: str = option(ROUND_ENGINE, "text", "CP engine of hcp19 and pcp19; see `plan show engines`.", metavar="NAME")
    time_limit_s: float = option(
        ROUND_TIME_S, "time", "What it gets in a dispatch at first; up to 16 times that.", "--time-limit"
    )
    dispatch_steps: int = option(
        STEPS, "number", "Steps of pcp21 and pcp21s in a dispatch, at first.", bounds=Bounds(1, DISPATCH_STEPS.high)
    )
    evaluations: int = option(
        USUAL_SEARCH.evaluations, "number", "Orders that order-... tries per waiting job.", bounds=EVALUATIONS
    )
    cell_s: float = option(600.0, "time", "CPU time after which a replay is stopped, and shown as such.", "--cell-time")
    parts: tuple[str, ...] = option(
        (), "names", "replays, queues (made-up ones), or both by commas; both is the default.", "--part"
    )
    nodes: tuple[int, ...] = option(
        (64, 300, 1173, 5000), "numbers", "Sizes of the machines of made-up queues, by commas.", bounds=QUEUE_NODES
    )
    queues: tuple[int, ...] = option(
        (20, 100, 500), "numbers", "Lengths of made-up queues, by commas.", bounds=QUEUE_JOBS
    )

    def __post_init__(self) -> None:
        wanted = [policy_named(name) for name in self.policies]
        for policy in wanted:
            if policy.needs_prices:
                raise InputError(f"policy {policy.name!r} plans for money, and this study has no prices")
        require_known("part", self.chosen_parts, PARTS)
        if "replays" in self.chosen_parts and not self.files:
            raise InputError("nothing to replay; give a file of jobs, or --part queues")
        with_engine(wanted, self.engine)
        require_traces(self.files)
        if "replays" in self.chosen_parts and len(self.scenarios) not in (1, len(self.files)):
            raise InputError(
                f"--scenario names {len(self.scenarios)} machines for {len(self.files)} files of jobs; name one, or one"
                " for each"
            )

    @property
    def runnable(self) -> tuple[list[Policy], str]:
        """The policies whose engine is here, and a line on the others."""
        return with_engine([policy_named(name) for name in self.policies], self.engine)

    @property
    def chosen_parts(self) -> tuple[str, ...]:
        """The parts that are run: what was asked for, else all; without jobs only made-up queues."""
        return self.parts or (PARTS if self.files else ("queues",))

    def cells(self) -> list[StudyCell]:
        """Replays of each policy with each estimate on each machine, then its dispatches of made-up queues."""
        limits = DispatchLimits(self.engine, self.time_limit_s, self.dispatch_steps, self.evaluations, self.cell_s)
        policies = list(dict.fromkeys(each.name for each in self.runnable[0]))
        estimates = list(dict.fromkeys(estimate_named(name).name for name in self.estimates))
        found: list[StudyCell] = []
        if "replays" in self.chosen_parts:
            names = self.scenarios * (len(self.files) if len(self.scenarios) == 1 else 1)
            for path, machine in zip(self.files, names, strict=True):
                scenario = load_scenario(machine, folders=scenario_folders(Path.cwd()))
                given = {"path": full_path(path), "scenario": scenario, "jobs": self.jobs, "limits": limits}
                for estimate in estimates:
                    for policy in policies:
                        labels = {"machine": scenario.name, "trace": trace_name(path)}
                        labels |= {"estimate": estimate, "policy": policy}
                        run = {"policy": policy, "estimate": estimate}
                        found.append(StudyCell("/".join(labels.values()), labels, dispatch_figures, given | run))
        if "queues" in self.chosen_parts:
            for nodes in self.nodes:
                for jobs in self.queues:
                    for policy in policies:
                        size = {"nodes": nodes, "jobs": jobs, "policy": policy}
                        name = f"{nodes}-nodes/{jobs}-jobs/{policy}"
                        found.append(StudyCell(name, size, growth_figures, size | {"limits": limits}, kind="queues"))
        return found

    def report(self, found: Sequence[Row]) -> StudyReport:
        """Slowdown, waits and time per dispatch of each machine, all figures, then how dispatches grow."""
        replays = [replay_row(told) for told in found if "machine" in told]
        queues = [queue_row(told) for told in found if "machine" not in told]
        sections = [_machine(rows) for rows in grouped(replays, "machine", "trace")]
        if queues:
            grown = [_growth(group) for group in grouped(queues, "jobs")]
            parts: list[Content] = [GROWTH, *grown, queue_table(queues)]
            sections.append(StudySection("How a dispatch grows with machine and queue", parts))
        content = {"replays": replays, "queues": queues}
        notes = [line for line in (self.runnable[1],) if line]
        return StudyReport(content, {"dispatchers.csv": replays, "queues.csv": queues}, sections, notes)


def replay_row(told: Row) -> Row:
    """The row of a replay."""
    stopped, took = told["stopped"], told["dispatch_ms"] or {}
    published = DISPATCHERS.get((told["machine"], told["estimate"], told["policy"]))
    return {
        **{name: told[name] for name in ("machine", "nodes", "trace", "jobs", "estimate", "policy")},
        "stretch": told.get("stretch"),
        "wait_s": told.get("wait"),
        "longest_wait_s": told.get("longest_wait"),
        "dispatches": told["dispatches"],
        "dispatch_ms": took.get("mean"),
        "dispatch_95_ms": took.get("most_of_95"),
        "dispatch_most_ms": took.get("most"),
        "published_dispatch_ms": published.dispatch_ms if published else None,
        "cpu_s": told["cpu_s"],
        "published_simulation_s": published.simulation_s if published else None,
        "published_ended": None if published is None else "yes" if published.has_ended else "no",
        "rounds": told["rounds"],
        "ms_per_round": 1000 * told["cpu_s"] / told["rounds"] if told["rounds"] else None,
        **_engine_figures(told["engine"]),
        "ended": "yes" if stopped is None else "no",
        "started_jobs": told["jobs"] if stopped is None else stopped["started"],
        "stopped_at_s": None if stopped is None else stopped["moment_s"],
        "stopped_waiting": None if stopped is None else stopped["waiting"],
    }


def queue_row(told: Row) -> Row:
    """The row of a size of machine and queue and a policy."""
    row = {name: told[name] for name in ("nodes", "jobs", "policy", "queues", "dispatch_ms")}
    return row | {"dispatch_most_ms": told["most_ms"], "started": told["started"], **_engine_figures(told["engine"])}


def _engine_figures(counts: Mapping[str, int] | None) -> Row:
    """Rounds in which a dispatcher was asked, the part whose plan is proven, and those in which it found nothing."""
    if counts is None:
        return {"asked": None, "proven_fraction": None, "fallbacks": None}
    proven = counts["proven"] / counts["rounds"] if counts["rounds"] else None
    return {"asked": counts["rounds"], "proven_fraction": proven, "fallbacks": counts["fallbacks"]}


def replay_table(rows: Sequence[Row]) -> StudyTable:
    """The table of one machine, trace and estimate; published columns only where there are published figures."""
    columns = [
        words("policy", "policy"),
        numbers("mean slowdown", "", "stretch", 3),
        numbers("mean wait", "s", "wait_s", 1),
        numbers("longest wait", "s", "longest_wait_s"),
        _milliseconds("a dispatch", "ms of CPU", "dispatch_ms"),
        _published("ms", "published_dispatch_ms"),
        _milliseconds("95 % at most", "ms", "dispatch_95_ms"),
        _milliseconds("longest", "ms", "dispatch_most_ms"),
        numbers("whole replay", "s of CPU", "cpu_s", 1),
        _published("s", "published_simulation_s"),
        numbers("rounds", "", "rounds"),
        numbers("dispatches", "", "dispatches"),
        numbers("found nothing", "times", "fallbacks"),
        numbers("proven", "%", "proven_fraction", times=100),
        (Column("end", number=False), end_words),
    ]
    has_published = any(row["published_ended"] for row in rows)
    shown = [each for each in columns if has_published or each[0].title != "published"]
    first = rows[0]
    size = f"{first['machine']} ({plain(first['nodes'])} nodes)"
    title = f"{size}, {plain(first['jobs'])} jobs of {first['trace']}, {first['estimate']} runtimes"
    return table_of(title, rows, shown, brief=BRIEF)


def _published(unit: str, key: str) -> Shown:
    column, text = numbers("published", unit, key)
    return column, lambda row: "no end" if row["published_ended"] == "no" else text(row)


def _milliseconds(title: str, unit: str, key: str) -> Shown:
    return Column(title, unit), lambda row: milliseconds(row[key])


def milliseconds(value: float | None) -> str:
    """Milliseconds with as many digits as they are worth."""
    return "" if value is None else plain(value, 2 if value < 10 else 1 if value < 100 else 0)


def end_words(row: Row) -> str:
    """Whether a replay came to its end, or else where it was stopped; with plain spaces, for terminals too."""
    if row["ended"] == "yes":
        return "yes"
    where = f"stopped at job {plain(row['started_jobs'])} of {plain(row['jobs'])}"
    text = f"{where}, {hours(row['stopped_at_s'])} in, {plain(row['stopped_waiting'])} waiting"
    return text.replace(THIN, " ")


def queue_table(rows: Sequence[Row]) -> StudyTable:
    """Time per dispatch by size of machine and queue, a column per policy."""
    policies = list(dict.fromkeys(row["policy"] for row in rows))
    sizes = [
        {"nodes": group[0]["nodes"], "jobs": group[0]["jobs"], **{row["policy"]: _queue_words(row) for row in group}}
        for group in grouped(rows, "nodes", "jobs")
    ]
    columns = [numbers("nodes", "", "nodes"), numbers("waiting jobs", "", "jobs")]
    columns += [(Column(name, "ms of CPU"), words("", name)[1]) for name in policies]
    return table_of("One dispatch of made-up queues, mean of up to three", sizes, columns)


def _queue_words(row: Row) -> str:
    text = milliseconds(row["dispatch_ms"])
    if not row["asked"]:
        return text
    nothing = f", nothing found {row['fallbacks']} of {row['asked']}" if row["fallbacks"] else ""
    return f"{text}{', proven' if row['proven_fraction'] == 1 else ''}{nothing}"


def _machine(rows: Sequence[Row]) -> StudySection:
    """Bars by policy and estimate of one machine and trace, then its tables."""
    first = rows[0]
    estimates = dict.fromkeys(row["estimate"] for row in rows)
    colour = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(estimates)}
    slowdowns = [_bar(row, "stretch", 2, colour) for row in rows]
    waits = [_bar(row, "wait_s", 0, colour) for row in rows]
    took = [
        (row["policy"], Bar(name, value, milliseconds(value), shade))
        for row in rows
        for name, value, shade in (
            (row["estimate"], row["dispatch_ms"], colour[row["estimate"]]),
            (f"{row['estimate']}, published", row["published_dispatch_ms"], "other"),
        )
        if value is not None
    ]
    figures = [
        _bars("Mean slowdown", slowdowns),
        _bars("Mean wait [s]", waits),
        _bars("Mean CPU time of a dispatch [ms], and what was published", took),
    ]
    tables = [replay_table(group) for group in grouped(rows, "estimate")]
    return StudySection(f"{first['machine']}, {plain(first['jobs'])} jobs of {first['trace']}", [*figures, *tables])


def _bar(row: Row, figure: str, digits: int, colour: Mapping[str, str]) -> tuple[str, Bar]:
    text = "stopped" if row[figure] is None else plain(row[figure], digits)
    return row["policy"], Bar(row["estimate"], row[figure], text, colour[row["estimate"]])


def _bars(title: str, bars: Iterable[tuple[str, Bar]]) -> Html:
    """A group of bars per policy."""
    groups: dict[str, list[Any]] = {}
    for policy, bar in bars:
        groups.setdefault(policy, []).append(bar)
    return bar_groups(title, list(groups.items()))


def _growth(rows: Sequence[Row]) -> Html:
    """A curve per policy over the nodes, for one length of the queue."""
    drawn = curves(rows, "policy", "nodes", lambda row: max(row["dispatch_ms"], 1e-3))
    return lines(f"{plain(rows[0]['jobs'])} waiting jobs", drawn, across="nodes", up="ms of CPU", tenfold=True)
