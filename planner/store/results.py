"""run.json and summary.json of a written day, read whole: every key that is used must have its type.

Everything that reads results back goes through here: the audit, cost reports, rolling runs, handovers and the index.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

from planner import __version__, bounds
from planner.domain.cluster import Cluster, IdleRule, NodeClass
from planner.domain.day_summary import FORMAT, DaySummary
from planner.domain.executed import ExecuteRule
from planner.domain.job import DeferRule
from planner.domain.rates import Rates
from planner.domain.site_state import SiteState
from planner.domain.snapshot import NodeState, Outage
from planner.errors import FileFormatError, InputError
from planner.printable import one_line
from planner.store.shape import (
    AMOUNT,
    COUNT,
    DIGEST,
    FLAG,
    MAPPING,
    TEXT,
    WORD,
    ZONE,
    Every,
    Maybe,
    Named,
    Record,
    Shape,
    misfit,
    number,
    shown,
    whole,
)
from planner.store.typed import made, shape_of

REMEDY = "plan the day again"
TOLD = 160
"""Characters of another message that a message repeats."""

_CLUSTER = Record(
    {
        "classes": Every(
            Record(
                {
                    "name": WORD,
                    "count": whole(bounds.NODES),
                    "capacity": Named(number(bounds.NODE_AMOUNT)),
                    "idle_w": number(bounds.IDLE_W),
                    "nodes": Every(WORD),
                    "sleep_w": Maybe(number(bounds.IDLE_W)),
                },
                frozenset({"idle_w", "nodes", "sleep_w"}),
            ),
            least=1,
        ),
        "power_limit_w": Maybe(number(bounds.POWER_LIMIT_W)),
        "partitions": Named(Every(TEXT)),
        "idle_rule": shape_of(IdleRule),
    },
    frozenset({"partitions", "idle_rule"}),
)
_OUTAGES = Every(
    Record(
        {
            "node": whole(bounds.Bounds(0, bounds.NODES.high)),
            "start_unix": whole(bounds.MOMENT_S),
            "end_unix": Maybe(whole(bounds.MOMENT_S)),
            "state": shape_of(NodeState),
        }
    )
)
_SCENARIO = Record(
    {
        "name": WORD,
        "zone": ZONE,
        "jobs": Record({"visibility": WORD}),
        "cluster": _CLUSTER,
        "cooling": Record({"table": WORD}),
        "revenue": Record({"eur_per_core_hour": number(bounds.EUR_PER_CORE_HOUR)}),
        "rules": Record(
            {
                "defer": shape_of(DeferRule),
                "execute": shape_of(ExecuteRule),
                "max_delay_s": Maybe(whole(bounds.MAX_DELAY_S)),
            },
            frozenset({"execute", "max_delay_s"}),
        ),
        "demand": Record({"eur_per_kw": number(bounds.EUR_PER_KW), "interval_s": whole(bounds.DEMAND_INTERVAL_S)}),
        "carbon": Record({"eur_per_tonne": number(bounds.EUR_PER_TONNE)}),
        "outages": _OUTAGES,
        "slurm": Record(
            {
                "opt_in": Record({"partitions": Every(TEXT), "qos": Every(TEXT), "comment": Every(TEXT)}),
            }
        ),
    },
    frozenset({"outages", "slurm"}),
)
SNAPSHOT = Record(
    {
        "moment_unix": whole(bounds.UNIX_S),
        "source": TEXT,
        "outages": _OUTAGES,
        "left_alone": Every(Record({"job_id": TEXT, "reason": TEXT})),
    },
    frozenset({"left_alone"}),
)
"""What run.json keeps of the snapshot that a day was planned from."""

RUN = Record(
    {
        "format": COUNT,
        "planner": TEXT,
        "command": Every(TEXT),
        "began": TEXT,
        "method": WORD,
        "seed": whole(bounds.SEED),
        "workers": COUNT,
        "time_limit_s": AMOUNT,
        "engine": Maybe(TEXT),
        "iterations": Maybe(COUNT),
        "continues": Maybe(Named(TEXT)),
        "closed": FLAG,
        "snapshot": Maybe(SNAPSHOT),
        "books": Record({"known_until_unix": whole(bounds.UNIX_S)}),
        "conflicts": Every(TEXT),
        "versions": Named(TEXT),
        "inputs": Named(DIGEST),
        "scenario": _SCENARIO,
        "rates": shape_of(Rates),
        "left": shape_of(SiteState),
        "outside": Record({"start_s": Every(COUNT, least=1), "temperature_c": Every(number(), least=1)}),
        "bound": Maybe(MAPPING),
        "real_bound": Maybe(MAPPING),
        "outputs": Named(DIGEST),
        "seal": DIGEST,
    },
    frozenset(
        {"format", "outputs", "seal", "snapshot", "books", "conflicts", "real_bound", "rates", "left", "outside"}
    ),
)
"""What run.json says. Results of the earliest versions have no ``outputs``; those that need them say so."""

SUMMARY = shape_of(DaySummary, scenario=WORD, zone=ZONE, solve_s=AMOUNT, found_s=Maybe(AMOUNT))
"""What summary.json says."""


def read_run(folder: Path) -> dict[str, Any]:
    """The run.json of a day; FileFormatError names the key that is missing or has another type."""
    return _read(folder / "run.json", RUN)


def read_summary(folder: Path) -> DaySummary:
    """The summary.json of a day; FileFormatError names the key that is missing or has another type."""
    summary: DaySummary = made(DaySummary, _read(folder / "summary.json", SUMMARY))
    return summary


def cluster_of(run: Mapping[str, Any]) -> Cluster:
    """The cluster that a run was planned for, from the scenario in its run.json."""
    written, known = run["scenario"]["cluster"], {field.name for field in fields(NodeClass)}
    classes = [{name: value for name, value in each.items() if name in known} for each in written["classes"]]
    classes = [each | {"nodes": tuple(each.get("nodes", ()))} for each in classes]
    partitions = {name: tuple(members) for name, members in written.get("partitions", {}).items()}
    rule: IdleRule = made(IdleRule, written.get("idle_rule", {}))
    return Cluster(tuple(NodeClass(**each) for each in classes), written["power_limit_w"], partitions, rule)


def outages_of(run: Mapping[str, Any]) -> tuple[Outage, ...]:
    """The outages that a run knew of: those of its snapshot, or where it had none, of its scenario."""
    known = (run.get("snapshot") or run["scenario"]).get("outages", ())
    return tuple(Outage(**{field.name: each[field.name] for field in fields(Outage)}) for each in known)


def moment_of(run: Mapping[str, Any]) -> int | None:
    """The moment of the snapshot that a run planned from [Unix seconds]; None where there was none."""
    snapshot = run.get("snapshot")
    return None if snapshot is None else int(snapshot["moment_unix"])


def known_until_of(run: Mapping[str, Any]) -> int | None:
    """The moment from which jobs may be new to a run [Unix seconds]; None where its scenario says it.

    Books are no news of jobs that wait: these are known as far as the plan before them knew them.
    """
    return int(run["books"]["known_until_unix"]) if "books" in run else moment_of(run)


def is_booked(folder: Path) -> bool:
    """Whether a folder holds a booked day, by its run.json or else by its summary; one of them may be damaged."""
    with suppress(FileFormatError):
        if "books" in read_run(folder):
            return True
    with suppress(FileFormatError):
        return read_summary(folder).booked is not None
    return False


def text_of(path: Path) -> str:
    """The text of a file that a run wrote; FileFormatError when it is missing, not a file, or not UTF-8."""
    try:
        if not path.exists():
            raise FileFormatError(path, "it is missing", remedy=REMEDY)
        if not path.is_file():
            raise FileFormatError(path, "it is not a file", remedy=REMEDY)
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileFormatError(path, "it is damaged (not UTF-8 text)", remedy=REMEDY) from error
    except OSError as error:
        raise FileFormatError(path, f"cannot read it ({error.strerror or error})", remedy=REMEDY) from error


def _read(path: Path, shape: Shape) -> dict[str, Any]:
    text = text_of(path)
    try:
        content = json.loads(text)
    except RecursionError as error:
        raise FileFormatError(path, "it is damaged (nested too deeply)", remedy=REMEDY) from error
    except ValueError as error:
        raise FileFormatError(path, f"it is damaged ({one_line(str(error), TOLD)})", remedy=REMEDY) from error
    written = content.get("format", FORMAT) if isinstance(content, dict) else FORMAT
    if written != FORMAT:
        problem = f"it has format {shown(written)}, and this planner ({__version__}) reads format {FORMAT}"
        raise FileFormatError(path, problem, remedy=f"read it with the planner that wrote it, or {REMEDY}")
    wrong = misfit(content, shape)
    if wrong is None and shape is RUN:
        wrong = _no_cluster(content)
    if wrong is not None:
        raise FileFormatError(path, f"it is damaged: {wrong}", remedy=REMEDY)
    found: dict[str, Any] = content
    return found


def _no_cluster(run: dict[str, Any]) -> str | None:
    """Why the machine in a run.json is not a cluster, in words."""
    try:
        cluster_of(run)
    except InputError as error:
        return f"scenario.cluster is not a cluster: {one_line(str(error), TOLD)}"
    return None
