"""Costs over written days by account, user, class of nodes, partition, QOS or job.

Every sum is exact, and equal to the totals of the days.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path

from planner.domain.cluster import Cluster
from planner.domain.day_summary import DayTotals
from planner.domain.horizon import Horizon
from planner.domain.node_lists import parse_unit_nodes
from planner.errors import FileFormatError, PlannerError
from planner.places import full_path
from planner.printable import one_line
from planner.store.plan_versions import VERSIONS
from planner.store.provenance import changed
from planner.store.read_json import REMEDY, cluster_of, read_run, read_summary
from planner.store.read_tables import (
    OFFSET_S,
    Came,
    amount,
    choice,
    moment,
    read_rows,
    read_table,
    take_in,
    waits_of,
    whole,
)
from planner.store.write_tables import STATES, Table

SITE = "site"
"""The line of what no job carries."""

FOLDER = "costs"
"""Where reports stand, beside the days of a scenario."""

QUANTITIES = (
    "core_hours",
    "gpu_hours",
    "work_kwh",
    "idle_kwh",
    "it_kwh",
    "cooling_kwh",
    "kwh",
    "carbon_kg",
    "revenue_eur",
    "it_cost_eur",
    "cooling_cost_eur",
    "carbon_cost_eur",
    "demand_cost_eur",
    "cost_eur",
    "credit_eur",
    "profit_eur",
)
"""What is summed; ``kwh`` is IT and cooling, ``cost_eur`` the four costs, ``gpu_hours`` those that jobs asked for.

``credit_eur`` is what feeding in and the battery bring, which no job carries: profit is revenue less costs with it.
"""

_IN_ROWS = tuple(name for name in QUANTITIES if name not in ("gpu_hours", "it_kwh", "kwh", "cost_eur", "credit_eur"))
_COSTS = ("it_cost_eur", "cooling_cost_eur", "carbon_cost_eur", "demand_cost_eur")
_CENT = Decimal("0.005")
_DIGIT = Decimal("0.000001")

_GPUS = re.compile(r"(?P<count>\d+)x [^;]*?\bgpus=(?P<gpus>[\d.]+)")

WHERE_USED = ("gpu_hours", "carbon_kg", "carbon_cost_eur", "demand_cost_eur", "credit_eur")
"""Quantities that not every site has: people are shown them where they are not zero."""

ABOUT = ("name", "account", "user", "node_class", "partition", "qos")
"""What lines say about their jobs."""

Sums = dict[str, Decimal]


@dataclass(frozen=True)
class JobDay:
    """One job on one day: what the row of schedule.csv says.

    ``node_class`` is the class of the nodes that it ran on, several with a plus; ``wait_s`` is None where it did not
    start on the day.
    """

    job: str
    name: str
    account: str
    user: str
    node_class: str
    partition: str
    qos: str
    day: dt.date
    wait_s: float | None
    sums: Sums


@dataclass(frozen=True)
class CostDay:
    """A written day in its folder: its jobs, its totals, and ``site``, the part that no job carries.

    What rounding leaves is in that part, too. ``is_booked``: it is what happened, not a plan. ``planned`` is then the
    plan of it, None where none is kept.
    """

    day: dt.date
    horizon: Horizon
    currency: str
    jobs: tuple[JobDay, ...]
    totals: Sums
    site: Sums
    folder: Path
    is_booked: bool = False
    planned: CostDay | None = None


@dataclass
class CostLine:
    """The sums of an account, a user or a job over all days; ``about`` is what its jobs have in common, or not."""

    key: str
    job_ids: set[str] = field(default_factory=set)
    days: set[dt.date] = field(default_factory=set)
    about: dict[str, set[str]] = field(default_factory=lambda: {name: set() for name in ABOUT})
    waits_s: list[float] = field(default_factory=list)
    sums: Sums = field(default_factory=lambda: dict.fromkeys(QUANTITIES, Decimal(0)))

    def add(self, job: JobDay) -> None:
        """Take in one day of a job; it waited once, before it started."""
        self.job_ids.add(job.job)
        self.days.add(job.day)
        for name, found in self.about.items():
            found.add(getattr(job, name))
        if job.wait_s is not None:
            self.waits_s.append(job.wait_s)
        for name in QUANTITIES:
            self.sums[name] += job.sums[name]

    @property
    def mean_wait_h(self) -> float | None:
        """Mean time from when they could first start to start of the jobs that start in these days [h]."""
        return mean_hours(self.waits_s)


def mean_hours(waits_s: Sequence[float]) -> float | None:
    """The mean of waits [h]; None where there are none."""
    return sum(waits_s) / len(waits_s) / 3600 if waits_s else None


def read_days(
    folder: Path, first: dt.date | None, last: dt.date | None
) -> tuple[list[CostDay], list[tuple[Path, str]]]:
    """The days of a scenario's folder that lie in the range, and what was skipped there with its reason."""
    days, skipped = [], []
    came: Came = {}
    for path in sorted(folder.iterdir()):
        if not path.is_dir() or path.name.startswith(".") or path.name == FOLDER:
            continue
        day = day_of(path)
        if day is None:
            skipped.append((path, "not the folder of a day"))
            continue
        if (first is not None and day < first) or (last is not None and day > last):
            continue
        try:
            found, schedule = read_cost_day(path, day, full_path(path).parent.name, came)
        except PlannerError as error:
            skipped.append((path, str(error)))
            continue
        version = plan_of(path)
        if version is not None:
            try:
                planned, _ = read_cost_day(version, day, full_path(path).parent.name, came)
                found = replace(found, planned=planned)
            except PlannerError as error:
                skipped.append((version, str(error)))
        take_in(came, schedule, found.horizon)
        days.append(found)
    return days, skipped


def day_of(folder: Path) -> dt.date | None:
    """The day that a folder is named after; None where it is none."""
    try:
        return dt.date.fromisoformat(folder.name)
    except ValueError:
        return None


def plan_of(folder: Path) -> Path | None:
    """The folder with the plan of a booked day; None where the day is not booked, or no plan of it is kept."""
    booked = read_summary(folder).booked
    if booked is None or booked.planned is None:
        return None
    version = folder / VERSIONS / Path(booked.planned.version).name
    return version if version.is_dir() else None


def read_cost_day(folder: Path, day: dt.date, scenario: str, came: Came) -> tuple[CostDay, Table]:
    """A written day and its schedule; ``came`` has the jobs of earlier days, for which others may have waited.

    FileFormatError when a file is missing or damaged, is of another day, or its sums do not hold.
    """
    run, summary = read_run(folder), read_summary(folder)
    if (summary.day, summary.scenario) != (day, scenario):
        problem = f"it is {summary.day} of {one_line(summary.scenario, 40)}; the folder is another day's"
        raise FileFormatError(folder / "summary.json", problem, remedy="move it where it belongs")
    schedule = read_table(folder, "schedule")
    cluster, horizon = cluster_of(run), summary.horizon
    jobs = tuple(read_rows(folder, "schedule", lambda row: _job_day(row, day, horizon.length_s, cluster), schedule))
    totals = _totals(summary.totals) | {"gpu_hours": sum((job.sums["gpu_hours"] for job in jobs), Decimal(0))}
    site = {name: totals[name] - sum((job.sums[name] for job in jobs), Decimal(0)) for name in QUANTITIES}
    site_cost = exact(summary.site_cost_eur)
    wrong = next(changed(folder, run), None)
    if wrong is not None:
        raise FileFormatError(*wrong, remedy=REMEDY)
    if abs(site["profit_eur"] + site_cost) > _CENT or abs(site["revenue_eur"]) > _CENT:
        raise FileFormatError(folder, "its jobs do not sum to its totals", remedy=REMEDY)
    waits = waits_of(schedule, horizon, came).tolist()
    jobs = tuple(
        replace(job, wait_s=None if job.wait_s is None else wait) for job, wait in zip(jobs, waits, strict=True)
    )
    is_booked = summary.booked is not None
    return CostDay(day, horizon, summary.currency, jobs, totals, site, folder, is_booked), schedule


def _job_day(row: dict[str, str], day: dt.date, length_s: int, cluster: Cluster) -> JobDay:
    """The job of a row; its wait is from submission, as long as nothing is known of the others."""
    sums = {name: amount(row, name) if name in row else Decimal(0) for name in _IN_ROWS}
    sums["gpu_hours"] = _gpu_hours(row, length_s)
    waited = (moment(row, "start_time") - moment(row, "submit_time")).total_seconds()
    is_new = choice(row, "state", *STATES) != "carried" and whole(row, "start_s", OFFSET_S) >= 0
    return JobDay(
        job=row["job_id"],
        name=row["name"],
        account=row["account"],
        user=row["user"],
        node_class=_classes(row["unit_nodes"], cluster),
        partition=row.get("partition", ""),
        qos=row.get("qos", ""),
        day=day,
        wait_s=waited if is_new else None,
        sums=_with_sums(sums),
    )


def _classes(unit_nodes: str, cluster: Cluster) -> str:
    """The classes of the nodes that a job ran on."""
    nodes = parse_unit_nodes(unit_nodes)
    if any(node >= cluster.node_count for node in nodes):
        raise ValueError(f"unit_nodes names a node that is none of the {cluster.node_count}")
    return "+".join(cluster.classes[index].name for index in sorted({cluster.class_index(node) for node in nodes}))


def _gpu_hours(row: dict[str, str], length_s: int) -> Decimal:
    """GPUs that a job asked for, times the hours that it ran within the day."""
    gpus = sum(int(group["count"]) * Decimal(group["gpus"]) for group in _GPUS.finditer(row["unit_groups"]))
    ran_s = max(0, min(int(row["end_s"]), length_s) - max(int(row["start_s"]), 0))
    return (Decimal(gpus) * ran_s / 3600).quantize(_DIGIT)


def _totals(written: DayTotals) -> Sums:
    sums = {name: exact(getattr(written, name)) for name in _IN_ROWS}
    it_kwh, cost = exact(written.it_kwh), exact(written.energy_cost_eur)
    credit = exact(written.feed_in_eur) + exact(written.battery_eur)
    return sums | {"it_kwh": it_kwh, "kwh": it_kwh + sums["cooling_kwh"], "cost_eur": cost, "credit_eur": credit}


def exact(value: float) -> Decimal:
    """A number of a summary with the six digits that were written."""
    return Decimal(str(value)).quantize(_DIGIT)


def _with_sums(sums: Sums) -> Sums:
    it_kwh = sums["work_kwh"] + sums["idle_kwh"]
    cost = sum((sums[name] for name in _COSTS), Decimal(0))
    none = {"credit_eur": Decimal(0)}
    return sums | {"it_kwh": it_kwh, "kwh": it_kwh + sums["cooling_kwh"], "cost_eur": cost} | none


KEYS: dict[str, Callable[[JobDay], str]] = {
    "account": lambda job: job.account,
    "user": lambda job: job.user,
    "account-user": lambda job: f"{job.account or '-'} / {job.user or '-'}",
    "class": lambda job: job.node_class,
    "partition": lambda job: job.partition,
    "qos": lambda job: job.qos,
    "job": lambda job: job.job,
}
"""What jobs of a line have in common, by what a report is by."""


def cost_lines(jobs: Iterable[JobDay], by: str) -> list[CostLine]:
    """One line for all that have the same account, user, both, node class, partition or QOS, or for each job.

    The largest revenue is first.
    """
    key_of, lines = KEYS[by], dict[str, CostLine]()
    for job in jobs:
        key = key_of(job)
        lines.setdefault(key, CostLine(key)).add(job)
    return sorted(lines.values(), key=lambda line: (-line.sums["revenue_eur"], line.key))


def jobs_of(days: Iterable[CostDay]) -> list[JobDay]:
    """The jobs of several days, each once for every day on which it ran."""
    return [job for day in days for job in day.jobs]


def summed(parts: Sequence[Sums]) -> Sums:
    """The exact sum of several."""
    return {name: sum((part[name] for part in parts), Decimal(0)) for name in QUANTITIES}
