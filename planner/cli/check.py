"""``plan check`` and ``plan audit``: look at inputs, and at what was written."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.options import (
    DayOption,
    FreshOption,
    JobsOption,
    JsonOption,
    OutOption,
    ScenarioOption,
    SettingsOption,
)
from planner.cli.terminal import say, say_json
from planner.errors import AuditError
from planner.places import full_path
from planner.printable import printable
from planner.runs.check_request import open_scenario, parse_day
from planner.units import MILLI, SECONDS_PER_HOUR

if TYPE_CHECKING:
    from planner.inputs.build import Day
    from planner.store.read_last_plan import LastPlan


def check(
    date: DayOption = None,
    scenario: ScenarioOption = None,
    jobs: JobsOption = None,
    settings: SettingsOption = None,
    out: OutOption = Path("reports"),
    fresh: FreshOption = False,
    as_json: JsonOption = False,
) -> None:
    """Read every input of a day and say what would be planned; search nothing and write nothing.

    Without --day it is the day after the last result in OUT, or tomorrow where there is none.
    The cooling table must cover the plans of the simple rules, as in planning. The day before, where it has a result,
    is an input too: what runs or waits is carried over.
    """
    import time

    from planner.domain.horizon import Horizon
    from planner.inputs.build import build
    from planner.planning.baselines import rule_baselines
    from planner.runs.one_day import last_before, nightly_ground_of
    from planner.store.read_last_plan import situation_of

    resolved = open_scenario(scenario, tuple(settings or ()), jobs=jobs)
    if date is not None:
        day = parse_day(date, resolved.zone)
    else:
        last = None if fresh else last_before(out / resolved.name, dt.date.max)
        today = Horizon.of_unix(int(time.time()), resolved.zone).day
        day = (last or today) + dt.timedelta(days=1)
    previous = None if fresh else nightly_ground_of(out / resolved.name, resolved, day)
    horizon = Horizon(day, resolved.zone)
    built = build(resolved, horizon, *situation_of(resolved, horizon, previous))
    # Every planned day is set beside the simple rules; a cooling table that does not cover these is refused there too.
    rule_baselines(built.problem)
    if as_json:
        say_json(inputs_of(built, previous))
    else:
        say(inputs_text(built, previous))


def audit(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a written day.")],
    as_json: JsonOption = False,
) -> None:
    """Re-check a written plan against every rule, and every number in its CSV and JSON files against the plan.

    Every file must also be the one that the run wrote, by its SHA-256 in run.json. Exit code 5 when the plan breaks a
    rule or a file does not agree with it or was changed, 2 when a file is missing or damaged.
    """
    from planner.accounting.audit import require_bills, require_clean
    from planner.store.month_peak import charge_remark, wrongly_charged
    from planner.store.read_day import read_day
    from planner.store.verify import changed_since, disagreements

    written = read_day(folder)
    require_clean(written.decided, written.plan, leaves_room=written.summary.leaves_room)
    require_bills(written.happened, written.ledger)
    wrong = disagreements(written)
    if wrong:
        raise AuditError(wrong[0] + (f" (+{len(wrong) - 1} more)" if len(wrong) > 1 else ""))
    totals = written.ledger.totals
    jobs = written.summary.jobs
    since, day = changed_since(written), written.summary.day
    is_wrong = day in wrongly_charged(full_path(folder).parent, day)
    if as_json:
        content = {"violations": [], "changed_since": since, "wrong_demand_charge": is_wrong, "started": jobs.started}
        say_json({**content, "totals": dict(totals.as_dict())})
    else:
        say(
            f"{folder}: clean; {jobs.started:,} jobs started, {jobs.deferred:,} deferred,"
            f" profit {totals.profit_eur:,.2f}, as stated"
        )
        for path in since:
            say(f"  changed or gone since: {path}")
        if is_wrong:
            say(f"  {charge_remark([day])}")


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
    """IT power of the machine when all its cores run the day's mix of jobs, or the power limit [W].

    What nodes draw besides their jobs is part of it; without jobs it is what they draw by themselves.
    """
    problem = day.problem
    energy = sum(job.power_w * job.requested_s for job in problem.jobs)
    core_time = sum(job.total("cores") * job.requested_s for job in problem.jobs)
    jobs_w = problem.cluster.total("cores") * energy / core_time if core_time else 0.0
    own_w = float((problem.nodes.busy_mw if core_time else problem.nodes.idle_mw).sum()) / MILLI
    full = jobs_w + own_w
    limit = problem.cluster.power_limit_w
    return min(full, limit) if limit is not None else full
