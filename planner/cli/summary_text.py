"""What the terminal says of a day: its summary in a few lines."""

from __future__ import annotations

from planner.domain.day_summary import Booked, DaySummary, DayTotals, EasyDay, JobCounts
from planner.domain.waits import Waits, counts_words
from planner.printable import printable
from planner.units import clock, distance, is_share

MOST_HOLDS = 10
"""Held jobs that are named one by one, at most."""


def summary_text(summary: DaySummary, folder: str) -> str:
    """The summary in a few lines for people."""
    totals, money = summary.totals, summary.currency
    lines = [
        f"{summary.day}  {summary.scenario}  ({summary.zone}){_since(summary)}",
        "",
        *_ahead(summary),
        f"  profit          {totals.profit_eur:>14,.2f} {money}   {_how_good(summary)}",
        *_against(summary),
        f"  revenue         {totals.revenue_eur:>14,.2f} {money}   {totals.core_hours:,.0f} core-equivalent hours",
        f"  IT energy       {totals.it_cost_eur:>14,.2f} {money}   {totals.it_kwh:,.1f} kWh",
        f"  cooling energy  {totals.cooling_cost_eur:>14,.2f} {money}   {totals.cooling_kwh:,.1f} kWh,"
        f" PUE {totals.pue:.3f}",
    ]
    if totals.carbon_kg:
        lines.append(f"  carbon          {totals.carbon_cost_eur:>14,.2f} {money}   {totals.carbon_kg:,.1f} kg")
    lines += _against_limit(summary.carbon_runs_kg, summary.carbon_limit_kg)
    if totals.demand_cost_eur:
        peak = f"peak {summary.peak_kw:,.1f} kW bought"
        lines.append(f"  demand charge   {totals.demand_cost_eur:>14,.2f} {money}   {peak}")
    if summary.booked is not None:
        lines += _books(summary.booked, totals, money)
    elif summary.execute == "actual" and not summary.is_carried_out:
        near = _how_near(summary.bound_eur, summary.gap_fraction, money)
        text = f"had all jobs run as long as they asked{near and f', {near}'}"
        lines.append(f"  planned profit  {summary.planned_profit_eur:>14,.2f} {money}   {text}")
    if totals.solar_kwh or totals.fed_kwh or totals.curtailed_kwh:
        lines.append(f"  photovoltaics   {totals.solar_kwh:>14,.1f} kWh used{_unused(totals, money)}")
    if totals.charged_kwh or totals.discharged_kwh:
        moved = f"{totals.charged_kwh:,.1f} kWh taken, {totals.discharged_kwh:,.1f} kWh given"
        lines.append(f"  battery         {totals.battery_eur:>+14,.2f} {money}   {moved}")
    if totals.asleep_h:
        lines.append(f"  nodes asleep    {totals.asleep_h:>14,.0f} node-hours")
    lines += [
        f"  utilisation     {100 * summary.utilisation_fraction:>14.1f} %",
        f"  jobs            {summary.jobs.started:>14,} started   {_rest(summary.jobs)}",
        *_kept(summary),
        *(
            []
            if summary.booked
            else [f"  method          {summary.method:>14}     {_tried(summary)}{clock(summary.solve_s)}"]
        ),
        "",
        f"  {folder}",
    ]
    return "\n".join(lines)


def _ahead(summary: DaySummary) -> list[str]:
    """The time on which the day was decided: energy, waits and bills against EASY, and the regime of the queue."""
    ahead, money = summary.ahead, summary.currency
    if ahead is None:
        return []
    ours, easy = ahead.plan, ahead.easy
    saved, bills = ours.energy_cost_eur - easy.energy_cost_eur, ours.revenue_eur - easy.revenue_eur
    part = f" ({100 * saved / easy.energy_cost_eur:+.1f} %)" if easy.energy_cost_eur else ""
    most = "" if ahead.bound_eur is None else f"   profit {ours.profit_eur - easy.profit_eur:+,.2f}, at most"
    most += "" if ahead.bound_eur is None else f" {ahead.bound_eur - easy.profit_eur:+,.2f} possible"
    within = "until all known jobs have run" if not ahead.left else f"{ahead.left:,} known jobs start later"
    lines = [
        f"  {within} ({ahead.days} {'day' if ahead.days == 1 else 'days'}), against EASY",
        f"    energy        {saved:>+14,.2f} {money}{part}{most}",
        f"    bills         {bills:>+14,.2f} {money}",
        f"    mean wait     {_wait(ours.waits):>14}       EASY {_wait(easy.waits)};"
        f" longest {_longest(ours.waits)}, EASY {_longest(easy.waits)}",
    ]
    if ahead.after_words:
        lines.append(f"    {ahead.after_words}")
    if ahead.worst_account is not None and ahead.worst_more_s is not None and ahead.worst_more_s > 0:
        account = printable(ahead.worst_account) or "no account"
        lines.append(
            f"    hit worst     {account:>14}       its jobs wait {clock(ahead.worst_more_s)} longer on average"
        )
    near = ahead.how_near(lambda amount: f"{amount:,.2f} {money}")
    if near:
        worth = f"with waits at {ahead.waiting_eur_per_h:.4f} {money} an hour, worth {ours.worth_eur:,.2f} {money}"
        lines.append(f"    {worth}, {near}")
    if ahead.dearer_words:
        lines.append(f"    an hour of waiting counts {ahead.waiting_eur_per_h:.4f} {money}{ahead.dearer_words}")
    load = "" if ahead.load is None else f", asked for lately {100 * ahead.load:.0f} % of the machine"
    why = "as the site says" if ahead.is_set else f"{ahead.backlog_days:.1f} days of work are known{load}"
    more = f": {ahead.more_core_hours:+,.0f} core-hours over EASY today" if ahead.later < 1 else ""
    lines.append(f"    machine       {ahead.regime}{more} ({why}; a euro {counts_words(ahead.later)})")
    if abs(ahead.pulled_forward_eur) >= 0.005:
        lines.append(
            f"    today alone   {ahead.pulled_forward_eur:>+14,.2f} {money} of the profit below is work of later days"
        )
    return [*lines, ""]


def _longest(waits: Waits) -> str:
    return "-" if waits.longest_s is None else clock(waits.longest_s)


def _books(booked: Booked, totals: DayTotals, money: str) -> list[str]:
    """What was planned for a booked day, and whose energy was measured."""
    lines = []
    if booked.planned is not None:
        more = totals.profit_eur - booked.planned.profit_eur
        lines.append(
            f"  planned profit  {booked.planned.profit_eur:>14,.2f} {money}   booked {more:+,.2f} {money} against it"
        )
    if booked.measured.jobs:
        of_all = f"in {booked.measured.jobs:,} of {booked.jobs:,} jobs"
        estimate = f"{of_all}, estimated {booked.measured.estimated_kwh:,.1f} kWh"
        lines.append(f"  measured        {booked.measured.kwh:>14,.1f} kWh   {estimate}")
    return lines


def _kept(summary: DaySummary) -> list[str]:
    """Which jobs are held for cheaper hours, until when, what that saves, and by when they start at the latest."""
    kept, money = summary.promises, summary.currency
    holds = () if summary.moment is None else summary.holds
    if kept is None:
        return []
    delay = (
        f"{clock(kept.mean_delay_s)} later on average, {clock(kept.longest_delay_s)} at most" if kept.delayed else ""
    )
    lines = [f"  held            {kept.given:>14,} jobs      {delay}".rstrip()]
    for each in holds[:MOST_HOLDS]:
        moments = (each.until_unix, each.latest_unix)
        until, latest = (summary.horizon.to_datetime(summary.horizon.to_s(unix)) for unix in moments)
        lines.append(
            f"    job {printable(each.job_id)} until {until:%Y-%m-%d %H:%M}: saves {each.saved_eur:,.2f} {money}, its"
            f" waiting counts {each.waiting_eur:,.2f}; at the latest until {latest:%Y-%m-%d %H:%M}"
        )
    if len(holds) > MOST_HOLDS:
        lines.append(f"    and {len(holds) - MOST_HOLDS:,} more: summary.json has all")
    if kept.broken:
        first = kept.broken[0]
        more = f", and {len(kept.broken) - 1:,} more" if len(kept.broken) > 1 else ""
        late = f"than that: job {printable(first.job_id)} by {clock(first.late_s)} ({first.reason}){more}"
        lines.append(f"  later           {len(kept.broken):>14,} jobs      {late}")
    return lines


def _against(summary: DaySummary) -> list[str]:
    """What the day earns and uses more or less than under EASY, and than the best rule."""
    lines, money, easy, rule = [], summary.currency, summary.easy, summary.best_baseline
    if easy is not None:
        carbon = f", {_less(easy.saved_carbon_kg)} kg CO2" if easy.carbon_kg or easy.saved_carbon_kg else ""
        energy = f"{_less(easy.saved_kwh)} kWh{carbon}"
        lines.append(f"  against EASY    {easy.saved_eur:>+14,.2f} {money}   {energy}; {_waited(summary, easy)}")
    if rule is not None:
        more = summary.planned_profit_eur - rule.profit_eur
        length = "it really ran" if summary.is_carried_out else "it asked"
        lines.append(
            f"  against rules   {more:>+14,.2f} {money}   the best is {rule.name}, every job as long as {length}"
        )
    return lines


def _less(saved: float) -> str:
    """What was saved, as a difference; never a negative zero."""
    return f"{round(-saved, 1) + 0.0:+,.1f}"


def _waited(summary: DaySummary, easy: EasyDay) -> str:
    """Waits here and under EASY, and how many of them go on; how many jobs start, where that differs."""
    text = f"mean wait {_wait(summary.waits)}, EASY {_wait(easy.waits)}"
    if summary.jobs.started == easy.started:
        return text
    return f"{text}; {summary.jobs.started:,} jobs start, EASY {easy.started:,}"


def _wait(waits: Waits | None) -> str:
    if waits is None or waits.mean_s is None:
        return "-"
    still = f" (of which {waits.still_waiting:,} still wait)" if waits.still_waiting else ""
    return clock(waits.mean_s) + still


def _against_limit(runs_kg: float | None, limit_kg: float | None) -> list[str]:
    if runs_kg is None or limit_kg is None:
        return []
    kept = "within" if runs_kg <= limit_kg else "the least that was found; no plan is within"
    return [
        f"  carbon limit    {runs_kg:>14,.1f} kg    with whole runs of what starts today, {kept} {limit_kg:,.1f} kg"
    ]


def _unused(totals: DayTotals, money: str) -> str:
    """What became of own sun that the site did not use, in words."""
    fed = f", {totals.fed_kwh:,.1f} kWh fed in for {totals.feed_in_eur:,.2f} {money}" if totals.fed_kwh else ""
    return fed + (f", {totals.curtailed_kwh:,.1f} kWh curtailed" if totals.curtailed_kwh else "")


def _since(summary: DaySummary) -> str:
    """From which moment a day was planned, where that is not its midnight."""
    if summary.booked is not None:
        return f"  booked from {summary.booked.source}"
    if summary.moment is None:
        return ""
    return f"  from {summary.moment}"


def _tried(summary: DaySummary) -> str:
    """Which candidate won, where there was a choice."""
    if not summary.has_plan:
        return "the engine found no plan in time, so that no job starts, "
    tried = len(summary.trials)
    text = f"best: {summary.best_trial} of {tried} tried, " if tried > 1 else ""
    return f"{text}cut short by the time limit, " if summary.cut_short else text


def _how_good(summary: DaySummary) -> str:
    """How near the profit is to what no schedule can exceed."""
    near = _how_near(summary.profit_bound_eur, summary.profit_gap_fraction, summary.currency)
    if summary.ahead is not None and summary.profit_bound_eur is not None:
        return f"today alone at most {summary.profit_bound_eur:,.2f} {summary.currency}, at the cost of later days"
    if not near or summary.profit_gap_fraction is None:
        return near
    knowing = ", not even one that knew the real runtimes" if summary.execute == "actual" else ""
    return f"{near}, which no schedule can exceed{knowing}"


def _how_near(limit_eur: float | None, gap: float | None, currency: str) -> str:
    """How near a profit is to its limit."""
    if limit_eur is None:
        return ""
    limit = f"{limit_eur:,.2f} {currency}"
    if gap is None:
        return f"no schedule can earn more than {limit}"
    far = distance(limit_eur, gap, lambda amount: f"{amount:,.2f} {currency}")
    return f"within {far} of {limit}" if is_share(gap) else f"{far} below {limit}"


def _rest(jobs: JobCounts) -> str:
    others = [
        (jobs.rejected, "rejected"),
        (jobs.withdrawn, "withdrawn"),
        (jobs.carried_in, "carried in"),
        (jobs.missed_deadlines, "missed deadlines"),
    ]
    return ", ".join([f"{jobs.deferred:,} deferred", *(f"{count:,} {text}" for count, text in others if count)])
