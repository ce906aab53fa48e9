"""Looked over without planning: what a day would be planned from, and whether a written day is what its plan gives."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from planner.accounting.promises import promises_of
from planner.domain.plan import Deferral
from planner.domain.result import Promises
from planner.inputs.build import Day
from planner.places import full_path
from planner.printable import one_line, printable
from planner.store.last_plan import LastPlan
from planner.store.provenance import changed
from planner.store.read_day import WrittenDay
from planner.store.summary import figures
from planner.store.write_tables import Table, deferred_table, kind_of, schedule_table, segment_table
from planner.text_files import digest
from planner.units import SECONDS_PER_HOUR


def inputs_of(day: Day, previous: LastPlan | None = None) -> dict[str, Any]:
    """The inputs of a day in numbers, as plain data; ``previous`` is the plan that it continues from."""
    problem = day.problem
    cluster, segments = problem.cluster, problem.segment_columns
    capacity = cluster.total("cores") * problem.horizon.length_s / SECONDS_PER_HOUR
    asked = sum(job.total("cores") * job.requested_s for job in problem.jobs) / SECONDS_PER_HOUR
    prices = segments.price_eur_per_kwh.tolist()
    temperatures = segments.temperature_c.tolist()
    full_w = _full_power_w(day)
    return {
        "scenario": day.scenario.name,
        "sources": [path.as_posix() for path in day.scenario.sources],
        "day": problem.horizon.day.isoformat(),
        "zone": problem.horizon.zone,
        "hours": problem.horizon.length_s / SECONDS_PER_HOUR,
        "continues": None if previous is None else previous.mark["day"],
        "running": len(problem.running),
        "waiting": 0 if previous is None else len(previous.deferred),
        "jobs": len(problem.jobs),
        "rejected": [{"job_id": why.job_id, "reason": why.reason} for _, why in day.rejected],
        "requested_core_hours": round(asked, 1),
        "load_fraction": round(asked / capacity, 4),
        "nodes": cluster.node_count,
        "cores": cluster.total("cores"),
        "segments": len(segments),
        "temperature_c": [_number(min(temperatures)), _number(max(temperatures))],
        "price_eur_per_kwh": [min(prices), max(prices)],
        "full_power_w": round(full_w),
        "table_power_w": [int(problem.table.powers_w[0]), int(problem.table.powers_w[-1])],
        "inputs": [intake.as_dict() for intake in day.intakes],
        "energy": _energy(day),
    }


def inputs_text(day: Day, previous: LastPlan | None = None) -> str:
    """The same in a few lines."""
    facts = inputs_of(day, previous)
    low_c, high_c = facts["temperature_c"]
    low, high = facts["price_eur_per_kwh"]
    lines = [
        f"{facts['day']}  {facts['scenario']}  ({facts['zone']}, {facts['hours']:g} h)",
        "",
        f"  jobs      {facts['jobs']:,}, asking {facts['requested_core_hours']:,.0f} core-hours:"
        f" {100 * facts['load_fraction']:.0f} % of the day",
        f"  before    {_before(facts)}",
        f"  rejected  {len(facts['rejected']):,}",
        f"  machine   {facts['nodes']:,} nodes, {facts['cores']:,.0f} cores",
        f"  segments  {facts['segments']}, {low_c:g} to {high_c:g} C,"
        f" {low:.4f} to {high:.4f} {day.scenario.currency}/kWh",
        f"  IT power  about {facts['full_power_w'] / 1000:,.1f} kW when full; the table covers"
        f" {facts['table_power_w'][1] / 1000:,.1f} kW",
    ]
    lines += [f"  rejected: {printable(each['job_id'])} {each['reason']}" for each in facts["rejected"][:5]]
    lines.append("")
    for what, intake in zip(("jobs", "weather", "cooling table"), day.intakes, strict=True):
        first, *rest = intake.lines()
        lines += [f"  {what} from {first}", *(f"  {line}" for line in rest)]
    for each in facts["energy"]:
        members = f", the mean of {', '.join(each['members'])}" if each["members"] else ""
        low, high = each["range"]
        lines.append(f"  {each['what']} from {each['source']}: {low:,.6g} to {high:,.6g} {each['unit']}{members}")
    if facts["full_power_w"] > facts["table_power_w"][1] and not day.problem.table.clamp:
        lines += ["", "  warning: a full machine may draw more than the table covers; build a larger table"]
    return "\n".join(lines)


def _energy(day: Day) -> list[dict[str, Any]]:
    """Where prices, fees, carbon intensity and sun come from, and their range over the day; only those there are."""
    scenario, columns = day.scenario, day.problem.segment_columns
    per_kwh = f"{scenario.currency}/kWh"
    sources = (
        ("prices", scenario.tariff, columns.price_eur_per_kwh, per_kwh),
        ("fees", scenario.fees, columns.fee_eur_per_kwh, per_kwh),
        ("carbon", scenario.carbon, columns.carbon_g_per_kwh, "g/kWh"),
        ("solar", scenario.solar, columns.solar_w / 1000, "kW"),
    )
    return [
        {
            "what": what,
            "source": "the scenario" if (file := getattr(choice, "file", None)) is None else file.as_posix(),
            "members": list(getattr(choice, "members", None) or ()),
            "range": [float(values.min()), float(values.max())],
            "unit": unit,
        }
        for what, choice, values, unit in sources
        if what == "prices" or values.any() or getattr(choice, "file", None) is not None
    ]


def _number(value: float) -> int | float:
    """A number for JSON, whole ones without a point."""
    return int(value) if value.is_integer() else value


def _before(facts: dict[str, Any]) -> str:
    if facts["continues"] is None:
        return "nothing: the day starts anew"
    return f"{facts['continues']}, which leaves {facts['running']:,} jobs running and {facts['waiting']:,} waiting"


def _full_power_w(day: Day) -> float:
    """IT power of the machine when all its cores run the day's mix of jobs, or the power limit [W]."""
    problem = day.problem
    energy = sum(job.power_w * job.requested_s for job in problem.jobs)
    core_time = sum(job.total("cores") * job.requested_s for job in problem.jobs)
    full = problem.cluster.total("cores") * energy / core_time if core_time else 0.0
    limit = problem.cluster.power_limit_w
    return min(full, limit) if limit is not None else full


_TOLERANCE = 2e-6
"""Numbers are written with six digits, so that the last one may differ between machines."""


def disagreements(written: WrittenDay) -> list[str]:
    """Everything in the files that the plan does not give, each as a line; none is the only good answer.

    Names, reasons and counts of deferral, the rows of rejected jobs and how the search went do not follow from the
    plan: the SHA-256 of every file in run.json, and the seal on that, show whether anybody changed them.
    """
    problem, plan, tables, ledger = written.problem, written.plan, written.tables, written.ledger
    kinds = [row[tables["deferred"].columns.index("kind")] for row in tables["deferred"].rows]
    expected = {
        "schedule": schedule_table(problem, plan, ledger, written.happened),
        "deferred": _deferred(written),
        "segments": segment_table(problem, ledger),
    }
    found = [
        f"{written.folder / name}.csv: {line}"
        for name in expected
        for line in _between(tables[name], expected[name].like(tables[name]))
    ]
    refused, withdrawn = kinds.count("rejected"), kinds.count("withdrawn")
    given = asdict(figures(written.happened, plan, ledger, rejected=refused, withdrawn=withdrawn))
    summary = written.folder / "summary.json"
    found += [f"{summary}: {line}" for line in _unlike(written.summary.as_dict(), given)]
    found += [f"{summary}: {line}" for line in _promises(written)]
    return found + [f"{path}: {what}" for path, what in changed(written.folder, written.run)]


def _promises(written: WrittenDay) -> Iterator[str]:
    """Where the summary says other things about promises than starts and promises in the tables give."""
    table, problem = written.tables["deferred"], written.problem
    name = table.columns.index("planned_start")
    later = {
        row[0]: problem.horizon.to_s(int(dt.datetime.fromisoformat(row[name]).timestamp()))
        for row in table.rows
        if row[name]
    }
    stated, given = written.summary.promises, promises_of(problem, written.plan, later)
    if stated is None or given is None:
        if stated is not given:
            yield "promises are in the summary or in the tables, not in both"
        return
    yield from _unlike(_counted(stated), _counted(given), "promises.")


def _counted(promises: Promises) -> dict[str, float]:
    """The numbers of promises, and by how much each broken one is late."""
    late = {f"broken.{each.job_id}": each.late_s for each in promises.broken}
    numbers = {name: value for name, value in asdict(promises).items() if name != "broken"}
    return numbers | {"broken": len(promises.broken)} | late


def changed_since(written: WrittenDay) -> list[str]:
    """What the day rests on and no longer is as it was read: inputs, and the day before; the plan itself holds."""
    was = dict(written.run["inputs"])
    before = written.run["continues"]
    if before is not None:
        earlier = full_path(written.folder).parent / Path(before.get("day", "")).name
        was |= {str(earlier / Path(name).name): seal for name, seal in before.items() if name != "day"}
    return [path for path, seal in was.items() if _digest(path) != seal]


def _digest(path: str) -> str | None:
    try:
        return digest(Path(path)) if Path(path).is_file() else None
    except (OSError, ValueError):  # not ours to read, or a name that no file can have
        return None


def _deferred(written: WrittenDay) -> Table:
    """The deferred jobs as they would be written, with the reasons and rejected rows of the file."""
    table = written.tables["deferred"]
    named = ("kind", "reason", "times_deferred", "planned_start")
    kind, reason, times, start = (table.columns.index(name) for name in named)
    jobs, horizon = {job.id: job for job in written.problem.jobs}, written.problem.horizon

    def start_s(text: str) -> int | None:
        return horizon.to_s(int(dt.datetime.fromisoformat(text).timestamp())) if text else None

    ours = [
        (jobs[row[0]], Deferral(row[0], "deferred", row[reason], int(row[times]), start_s(row[start])))
        for row in table.rows
        if row[kind] == "deferred"
    ]
    again = deferred_table(horizon, ours).like(table)
    return Table(table.columns, again.rows + tuple(row for row in table.rows if row[kind] != "deferred"))


def _between(stated: Table, given: Table) -> Iterator[str]:
    for row, again in zip(stated.rows, given.rows, strict=True):
        if row[0] != again[0]:
            yield f"the row of {one_line(row[0], 40)} stands where {one_line(again[0], 40)} belongs"
            return
        for column, cell, right in zip(stated.columns, row, again, strict=True):
            if cell != right and not (kind_of(column) == "number" and _close(cell, float(right))):
                stated_text, given_text = one_line(cell, 60) or "empty", one_line(right, 60) or "nothing"
                yield f"{one_line(row[0], 40)}: {column} is {stated_text}, the plan gives {given_text}"


def _unlike(stated: Mapping[str, Any], given: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in given.items():
        if isinstance(value, Mapping):
            yield from _unlike(stated[name], value, f"{prefix}{name}.")
        elif not _close(stated.get(name), value):
            yield f"{prefix}{name} is {stated.get(name)}, the plan gives {value}"


def _close(stated: object, given: float) -> bool:
    try:
        return math.isclose(float(str(stated)), given, rel_tol=1e-9, abs_tol=_TOLERANCE)
    except ValueError:
        return False
