"""What a day would be planned from, for people to look over before anything is solved."""

from __future__ import annotations

from typing import Any

from planner.inputs.build import Day
from planner.printable import printable
from planner.store.last_plan import LastPlan
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
        f"  before    {_ground(facts)}",
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
    told = (
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
        for what, choice, values, unit in told
        if what == "prices" or values.any() or getattr(choice, "file", None) is not None
    ]


def _number(value: float) -> int | float:
    """A number for JSON, whole ones without a point."""
    return int(value) if value.is_integer() else value


def _ground(facts: dict[str, Any]) -> str:
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
