"""Tables of a written day, read one by one: rows, cells, and how long jobs waited; or which file is damaged."""

from __future__ import annotations

import csv
import datetime as dt
import io
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TypeVar, get_args

import numpy as np

from planner import limits
from planner.domain.cluster import Cluster
from planner.domain.columns import Ints
from planner.domain.horizon import Horizon
from planner.domain.job import Job, Promise, parse_dependencies
from planner.domain.node_lists import parse_unit_nodes
from planner.domain.plan import DeferralKind, Placement
from planner.errors import FileFormatError
from planner.inputs.jobs.unit_groups import parse_unit_groups
from planner.limits import Bounds
from planner.printable import one_line
from planner.store.read_json import QUOTED, REMEDY, shown, text_of
from planner.store.write_tables import COLUMNS, OPTIONAL, STATES, Table

T = TypeVar("T")

REJECTED: DeferralKind = "rejected"

_NAMES = re.compile(r"([^\s=;]+)=")
"""Resources in a text of unit groups."""

LONGEST_CELL = 256 * 1024 * 1024
"""Characters of a cell: the nodes of one job on a large machine are long."""


def read_table(folder: Path, name: str) -> Table:
    """A table of a day as it stands, once its columns are the ones that a run writes and no row is cut short."""
    path = folder / f"{name}.csv"
    text = text_of(path)
    if not text.endswith("\n"):
        raise FileFormatError(path, "it is cut short", remedy=REMEDY)
    rows = []
    try:
        with _long_cells():
            reader = csv.reader(io.StringIO(text, newline=""), strict=True)
            header = tuple(next(reader, []))
            columns = tuple(each for each in COLUMNS[name] if each not in OPTIONAL[name] or each in header)
            if header != columns:
                odd = ", ".join(sorted(set(header) ^ set(columns))) or "their order"
                problem = f"other columns than expected: {one_line(odd, QUOTED)}"
                raise FileFormatError(path, problem, line=1, remedy=REMEDY)
            for row in reader:
                if len(row) != len(header):
                    problem = f"expected {len(header)} fields, found {len(row)}"
                    raise FileFormatError(path, problem, line=reader.line_num, remedy=REMEDY)
                rows.append(tuple(row))
    except csv.Error as error:
        raise FileFormatError(path, f"cannot read it ({one_line(str(error), QUOTED)})", remedy=REMEDY) from error
    return Table(header, tuple(rows))


@contextmanager
def _long_cells() -> Iterator[None]:
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def read_rows(folder: Path, name: str, parse: Callable[[dict[str, str]], T], table: Table | None = None) -> list[T]:
    """The rows of a table, each through ``parse``; errors name the row. ``table``: as it was read before."""
    table = read_table(folder, name) if table is None else table
    parsed = []
    for row in table.rows:
        try:
            parsed.append(parse(dict(zip(table.columns, row, strict=True))))
        except ValueError as error:
            problem = f"cannot read the row of {one_line(row[0], 40)} ({one_line(str(error), QUOTED)})"
            raise FileFormatError(folder / f"{name}.csv", problem, remedy=REMEDY) from error
    return parsed


def scheduled_of(row: dict[str, str], cluster: Cluster) -> tuple[Job, str, Placement, int]:
    """Job, state, placement and end [s] of a row of schedule.csv.

    That a job which is planned is on nodes of the cluster is a rule of the audit; work that has started already is what
    it rests on.
    """
    state = choice(row, "state", *STATES)
    job = job_of(row, cluster)
    nodes = parse_unit_nodes(row["unit_nodes"])
    if len(nodes) != job.unit_count:
        raise ValueError(f"{job.unit_count} units on {len(nodes)} nodes")
    if state != "planned" and any(node >= cluster.node_count for node in nodes):
        raise ValueError(f"unit_nodes names a node that is none of the {cluster.node_count}")
    start_s, end_s = whole(row, "start_s", OFFSET_S), whole(row, "end_s", OFFSET_S)
    if end_s < start_s:
        raise ValueError(f"end_s is {end_s}, before start_s, which is {start_s}")
    return job, state, Placement(job.id, start_s, nodes), end_s


def deferred_of(row: dict[str, str], cluster: Cluster) -> Job | None:
    """The job of a row; None for one that waits for nothing: rejected or withdrawn."""
    if choice(row, "kind", *get_args(DeferralKind)) != "deferred":
        return None
    if row["planned_start"]:
        moment(row, "planned_start")
    whole(row, "times_deferred")
    return job_of(row, cluster)


def job_of(row: dict[str, str], cluster: Cluster) -> Job:
    """The job of a row of schedule.csv or deferred.csv; one that was refused may ask for what no node has."""
    asked = row["unit_groups"]
    resources = _NAMES.findall(asked) if row.get("kind") == REJECTED else cluster.resources
    return Job(
        id=row["job_id"],
        submit_unix=unix(row, "submit_time"),
        requested_s=whole(row, "requested_s", limits.REQUESTED_S),
        units=parse_unit_groups(asked, resources),
        power_w=number(row, "power_w", limits.JOB_W),
        account=row["account"],
        user=row["user"],
        name=row["name"],
        runtime_s=whole(row, "runtime_s", limits.RUNTIME_S) if row["runtime_s"] else None,
        deadline_unix=unix(row, "deadline") if row["deadline"] else None,
        revenue_weight=number(row, "revenue_weight", limits.REVENUE_WEIGHT),
        estimate_s=whole(row, "estimate_s", limits.REQUESTED_S) if row["estimate_s"] else None,
        promise=_promise(row),
        classes=tuple(row["node_class"].split(",")) if row.get("node_class") else (),
        exclusive=bool(row.get("exclusive")) and choice(row, "exclusive", "yes") == "yes",
        begin_unix=unix(row, "begin_time") if row.get("begin_time") else None,
        easy_unix=unix(row, "easy_start") if row.get("easy_start") else None,
        priority=number(row, "priority", limits.PRIORITY) if row.get("priority") else 1.0,
        after=parse_dependencies(row.get("dependency", "")),
        qos=row.get("qos", ""),
        partition=row.get("partition", ""),
    )


def _promise(row: dict[str, str]) -> Promise | None:
    if not row["reference_start"] and not row["latest_start"]:
        return None
    reference, latest = unix(row, "reference_start"), unix(row, "latest_start")
    if latest < reference:
        raise ValueError("latest_start is before reference_start")
    return Promise(reference, latest)


# Cells, each read as its type and within bounds; ValueError says what was expected.

OFFSET_S = Bounds(-2 * limits.REQUESTED_S.high, 2 * limits.REQUESTED_S.high, "s")
"""No start or end is further from its day."""
_COUNT = Bounds(0, 10**9)

_WHOLE = re.compile(r"-?\d{1,18}", re.ASCII)
_AMOUNT = re.compile(r"-?\d{1,15}\.\d{1,6}", re.ASCII)
Row = Mapping[str, str]


def whole(row: Row, name: str, limits: Bounds = _COUNT) -> int:
    """A whole number."""
    text = row[name]
    if not _WHOLE.fullmatch(text) or int(text) not in limits:
        raise ValueError(f"{name} is {shown(text)}, expected a whole number {limits}")
    return int(text)


def number(row: Row, name: str, limits: Bounds) -> float:
    """A number."""
    try:
        value = float(row[name])
    except ValueError:
        value = math.nan
    if value not in limits:
        raise ValueError(f"{name} is {shown(row[name])}, expected a number {limits}")
    return value


def amount(row: Row, name: str) -> Decimal:
    """A number with at most six digits after the point, exactly."""
    if not _AMOUNT.fullmatch(row[name]):
        raise ValueError(f"{name} is {shown(row[name])}, expected a number with six digits after the point")
    return Decimal(row[name])


def moment(row: Row, name: str) -> dt.datetime:
    """A time with its offset from UTC."""
    try:
        found = dt.datetime.fromisoformat(row[name])
    except ValueError:
        found = None
    if found is None or not 1 < found.year < 9999:
        raise ValueError(f"{name} is {shown(row[name])}, expected a time such as 2024-06-01T08:00:00+02:00")
    if found.tzinfo is None:
        raise ValueError(f"{name} is {shown(row[name])}, which has no offset from UTC")
    return found


def unix(row: Row, name: str) -> int:
    """The same [Unix seconds]."""
    return int(moment(row, name).timestamp())


def choice(row: Row, name: str, *known: str) -> str:
    """One of a few words."""
    if row[name] not in known:
        raise ValueError(f"{name} is {shown(row[name])}; known: {', '.join(known)}")
    return row[name]


Came = dict[str, tuple[int, int]]
"""Start and end of jobs [Unix seconds]."""

NOT_YET = 2**60
"""When a job comes that no day has started [Unix seconds]: later than anything."""


def waits_of(schedule: Table, horizon: Horizon, came: Came) -> Ints:
    """Seconds that each job of a schedule.csv waited, in its order; `came` is about the jobs of earlier days."""
    known = Came(came)
    take_in(known, schedule, horizon)
    waited: Ints = np.maximum(start_unix(schedule, horizon) - ready_unix(schedule, horizon, known), 0)
    return waited


def start_unix(schedule: Table, horizon: Horizon) -> Ints:
    """When each job of a schedule.csv starts [Unix seconds]. ValueError where a cell cannot be read."""
    return np.array([horizon.start_unix + int(text) for text in schedule.column("start_s")], dtype=np.int64)


def ready_unix(table: Table, horizon: Horizon, came: Came) -> Ints:
    """When each job of a schedule.csv or deferred.csv could first start [Unix seconds].

    That is when it was submitted, when the begin that its user asked for had come, and when all that it waits for had
    come first: not at all where a job of the same deferred.csv must. A job that no day knows had come first by the
    midnight of this one. ValueError where a cell cannot be read.
    """
    never = Came({} if "start_s" in table.columns else dict.fromkeys(table.column("job_id"), (NOT_YET, NOT_YET)))
    ready = [unix_of(text) for text in table.column("submit_time")]
    for row, begin in enumerate(table.column("begin_time")):
        if begin:
            ready[row] = max(ready[row], unix_of(begin))
    for row, needed in enumerate(table.column("dependency")):
        if needed:
            ready[row] = max(ready[row], _come_first(needed, never | came, horizon.start_unix))
    return np.array(ready, dtype=np.int64)


def take_in(came: Came, schedule: Table, horizon: Horizon) -> None:
    """Add the jobs of a day to those of earlier ones."""
    cells = zip(*(schedule.column(name) for name in ("job_id", "start_s", "end_s")), strict=True)
    origin = horizon.start_unix
    came.update({job: (origin + int(start), origin + int(end)) for job, start, end in cells})


def _come_first(text: str, known: Mapping[str, tuple[int, int]], gone_unix: int) -> int:
    """When all that a job waits for had come first [Unix seconds]."""
    return max(
        known[each.job_id][each.waits_for_end] if each.job_id in known else gone_unix
        for each in parse_dependencies(text)
    )


def unix_of(text: str) -> int:
    """A written time [Unix seconds]."""
    return int(dt.datetime.fromisoformat(text).timestamp())
