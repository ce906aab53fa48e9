"""The tables of a day's page: largest jobs, deferred jobs, segments, and what the method tried."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable

from planner.domain.day_summary import DaySummary
from planner.domain.horizon import zone_named
from planner.domain.result import Trial
from planner.domain.waits import counts_words
from planner.pages.markup import (
    Column,
    Html,
    Part,
    counted,
    el,
    grid,
    hours,
    join,
    money,
    plain,
    signed_money,
    signed_percent,
)
from planner.pages.time_axis import numbers, temperature_digits
from planner.store.write_tables import Table

LARGEST = 25
DEFERRED = 300
TRIALS = 60


def largest_jobs(schedule: Table, wait_s: list[int], currency: str, zone: str) -> Html:
    """The jobs that used most of the machine today."""
    cells = {
        name: schedule.column(name)
        for name in ("job_id", "name", "account", "user", "start_time", "end_time", "units", "start_s")
    }
    money_of = {
        name: numbers(schedule, name) for name in ("revenue_eur", "it_cost_eur", "cooling_cost_eur", "profit_eur")
    }
    used, power = numbers(schedule, "core_hours"), numbers(schedule, "power_w")
    order = sorted(range(len(used)), key=lambda i: (-used[i], cells["job_id"][i]))[:LARGEST]
    rows: list[list[Part]] = [
        [
            cells["job_id"][i],
            cells["name"][i],
            cells["account"][i],
            cells["user"][i],
            "carried in" if int(cells["start_s"][i]) < 0 else _clock(cells["start_time"][i], zone),
            _clock(cells["end_time"][i], zone),
            hours(wait_s[i]),
            cells["units"][i],
            plain(power[i] / 1000, 2),
            plain(used[i], 1),
            *(money(money_of[name][i], currency) for name in money_of),
        ]
        for i in order
    ]
    columns = [
        Column("job", number=False),
        *(Column(title, number=False, wrap=True) for title in ("name", "account", "user")),
        *(Column(title, number=False) for title in ("starts", "ends")),
        Column("waited"),
        Column("units"),
        Column("power", "kW"),
        Column("core-hours", "today"),
        *(Column(title, "today") for title in ("revenue", "IT energy", "cooling", "profit")),
    ]
    caption = f"The {counted(len(rows), 'job')} with most core-hours today, of {len(schedule.rows):,} in schedule.csv"
    return grid(caption, *_without_empty(columns, rows), name="largest")


def deferred_jobs(deferred: Table) -> Html:
    """The jobs that do not start today, with reasons."""
    if not deferred.rows:
        return el("p", "Every known job starts today.", id="deferred")
    names = ("job_id", "name", "account", "user", "requested_s", "units", "times_deferred", "kind", "reason")
    cells = [deferred.column(name) for name in names]
    rows: list[list[Part]] = []
    for job, name, account, user, requested, units, times, kind, reason in zip(*cells, strict=True):
        rows.append([job, name, account, user, hours(int(requested)), units, times, kind, reason])
    kinds = Counter(deferred.column("kind"))
    more = f"; the first {DEFERRED:,} here, all in deferred.csv" if len(rows) > DEFERRED else ""
    caption = ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items())) + more
    columns = [
        Column("job", number=False),
        *(Column(title, number=False, wrap=True) for title in ("name", "account", "user")),
        Column("asked"),
        Column("units"),
        Column("days deferred"),
        Column("kind", number=False),
        Column("reason", number=False, long=True),
    ]
    return grid(caption, *_without_empty(columns, rows[:DEFERRED]), name="deferred", tall=len(rows) > 12)


def segment_rows(segments: Table, currency: str, zone: str) -> Html:
    """The segments in numbers: what the figures show, for eyes that cannot see them and for print."""
    shown = [
        ("temperature_c", Column("outside", "°C"), temperature_digits(numbers(segments, "temperature_c"))),
        ("price_eur_per_kwh", Column("price", f"{currency}/kWh"), 4),
        ("it_kwh", Column("IT", "kWh"), 1),
        ("cooling_kwh", Column("cooling", "kWh"), 1),
        ("pue", Column("PUE"), 3),
        ("revenue_eur", Column("revenue", currency), 2),
        ("it_cost_eur", Column("IT energy", currency), 2),
        ("cooling_cost_eur", Column("cooling", currency), 2),
        ("carbon_cost_eur", Column("carbon", currency), 2),
        ("profit_eur", Column("profit", currency), 2),
        ("fee_eur_per_kwh", Column("fees", f"{currency}/kWh"), 4),
        ("fed_kwh", Column("fed in", "kWh"), 1),
        ("curtailed_kwh", Column("curtailed", "kWh"), 1),
        ("charged_kwh", Column("battery takes", "kWh"), 1),
        ("discharged_kwh", Column("gives", "kWh"), 1),
        ("battery_kwh", Column("holds", "kWh"), 1),
        ("asleep_h", Column("nodes asleep", "h"), 1),
    ]
    shown = [each for each in shown if each[0] in segments.columns]
    kept = [each for each in shown if each[0] != "carbon_cost_eur" or numbers(segments, each[0]).any()]
    values = {name: numbers(segments, name) for name, _, _ in kept}
    spans = zip(segments.column("start_time"), segments.column("end_time"), strict=True)
    rows: list[list[Part]] = [
        [f"{_clock(start, zone)} – {_clock(end, zone)}", *(plain(values[name][i], digits) for name, _, digits in kept)]
        for i, (start, end) in enumerate(spans)
    ]
    columns = [Column("segment", number=False), *(each[1] for each in kept)]
    table = grid("Energy and money by segment, from segments.csv", columns, rows, name="segments", tall=len(rows) > 16)
    return el("details", el("summary", f"The {counted(len(rows), 'segment')} in numbers"), table)


def row(name: str, ours: float | None, theirs: float | None, text: Callable[[float], str], sign: str) -> list[Part]:
    """A figure of ours beside EASY's; ``sign`` says whether more or less of it is better."""
    if ours is None or theirs is None:
        return [name, *("–" if value is None else text(value) for value in (ours, theirs)), "–"]
    more = ours - theirs
    if text(more) == text(0):
        return [name, text(ours), text(theirs), text(0)]
    is_better = (more < 0) == (sign == "less")
    difference = el("span", text(more) if more < 0 else f"+{text(more)}", class_="good" if is_better else "bad")
    return [name, text(ours), text(theirs), difference]


def time_ahead(summary: DaySummary) -> list[Part]:
    """The time on which the day was decided, beside the same under EASY; nothing where that is the day itself."""
    ahead, currency = summary.ahead, summary.currency
    if ahead is None:
        return []
    ours, easy = ahead.plan, ahead.easy

    def amount(value: float) -> str:
        return money(value, currency)

    rows = [
        row("profit", ours.profit_eur, easy.profit_eur, amount, "more"),
        row("energy and charges", ours.energy_cost_eur, easy.energy_cost_eur, amount, "less"),
        row("bills", ours.revenue_eur, easy.revenue_eur, amount, "more"),
        row("mean wait", ours.waits.mean_s, easy.waits.mean_s, hours, "less"),
        row("95 % wait at most", ours.waits.p95_s, easy.waits.p95_s, hours, "less"),
        row("longest wait", ours.waits.longest_s, easy.waits.longest_s, hours, "less"),
        row("jobs over 48 h", ours.waits.over_48_h, easy.waits.over_48_h, plain, "less"),
    ]
    columns = [Column("", number=False), Column("plan"), Column("EASY"), Column("difference")]
    said = [f"Machine: {ahead.regime}; 1 {currency} {counts_words(ahead.later)}."]
    if ahead.bound_eur is not None:
        said.append(
            f"No schedule earns more than {signed_money(ahead.bound_eur - easy.profit_eur, currency)} against EASY."
        )
    if ahead.after_words:
        said.append(f"{ahead.after_words}.")
    if ahead.dearer_words:
        said.append(f"An hour of waiting counts {ahead.waiting_eur_per_h:.4f} {currency}{ahead.dearer_words}.")
    near = ahead.how_near(amount)
    if near:
        said.append(f"With an hour of waiting at {ahead.waiting_eur_per_h:.4f} {currency}, the plan is {near}.")
    said.append(f"Of today's profit {money(ahead.pulled_forward_eur, currency)} is work pulled forward.")
    if ahead.worst_account is not None and ahead.worst_more_s is not None and ahead.worst_more_s > 0:
        said.append(f"Hit worst: {ahead.worst_account or 'no account'}, {hours(ahead.worst_more_s)} longer on average.")
    title = f"The {counted(ahead.days, 'day')} until all known jobs have run, each as long as it asked"
    return [
        el("h2", "Until all known jobs have run"),
        el("p", " ".join(said)),
        grid(title, columns, rows, name="ahead", sort=False),
    ]


def against_easy(summary: DaySummary) -> Html | None:
    """The day beside the same one under EASY."""
    easy, totals, waits, currency = summary.easy, summary.totals, summary.waits, summary.currency
    if easy is None or waits is None:
        return None

    def amount(value: float) -> str:
        return money(value, currency)

    rows = [
        row("profit", totals.profit_eur, easy.profit_eur, amount, "more"),
        row("revenue", totals.revenue_eur, easy.revenue_eur, amount, "more"),
        row("energy and charges", totals.energy_cost_eur, easy.energy_cost_eur, amount, "less"),
        row("IT and cooling, kWh", totals.it_kwh + totals.cooling_kwh, easy.kwh, plain, "less"),
        row("carbon, kg", totals.carbon_kg, easy.carbon_kg, plain, "less"),
        row("jobs started", summary.jobs.started, easy.started, plain, "more"),
        row("jobs that wait at the end", summary.jobs.deferred, easy.deferred, plain, "less"),
        row("mean wait", waits.mean_s, easy.waits.mean_s, hours, "less"),
        row("of which still wait", waits.still_waiting, easy.waits.still_waiting, plain, "less"),
        row("95 % waited at most", waits.p95_s, easy.waits.p95_s, hours, "less"),
    ]
    if not totals.carbon_kg and not easy.carbon_kg:
        rows = [each for each in rows if each[0] != "carbon, kg"]
    length = "as long as they really ran" if summary.execute == "actual" else "as long as they asked"
    columns = [Column("", number=False), Column("this day"), Column("EASY"), Column("difference")]
    return grid(
        f"The same jobs from the same beginning under EASY, each {length}", columns, rows, name="easy", sort=False
    )


def trials(summary: DaySummary) -> Html:
    """Every candidate that the method tried, and the rules that sites run today, by profit."""
    currency, profit = summary.currency, summary.planned_profit_eur
    tried = sorted(summary.trials, key=lambda trial: (-trial.profit_eur, trial.name))
    bases = sorted(summary.baselines or (), key=lambda base: (-base.profit_eur, base.name))
    parts: list[Part] = []
    if bases:
        caption = "What the rules of common schedulers would earn on the same day"
        columns = [Column("rule", number=False), Column("profit"), Column("this plan earns", "more"), Column("", "%")]
        columns += [Column("energy and charges"), Column("jobs started")]
        rows: list[list[Part]] = [
            [
                base.name,
                money(base.profit_eur, currency),
                signed_money(profit - base.profit_eur, currency),
                signed_percent((profit - base.profit_eur) / abs(base.profit_eur)) if base.profit_eur else "–",
                money(base.energy_cost_eur, currency),
                f"{base.started:,}",
            ]
            for base in bases
        ]
        parts.append(grid(caption, columns, rows, name="rules"))
    if tried:
        parts.append(_tried(tried, summary))
    return join(*parts)


def _tried(tried: list[Trial], summary: DaySummary) -> Html:
    currency, best, ahead = summary.currency, summary.best_trial, summary.ahead
    top = max(abs(trial.profit_eur) for trial in tried) or 1
    rows: list[list[Part]] = [
        [
            el("strong", trial.name, " (taken)") if trial.name == best else trial.name,
            money(trial.profit_eur, currency),
            el(
                "span",
                class_="share",
                style=f"width:{max(0, 180 * trial.profit_eur / top):.0f}px",
                aria_hidden="true",
            ),
            f"{trial.started:,}",
        ]
        for trial in tried[:TRIALS]
    ]
    more = f"; the best {TRIALS} of {len(tried):,}, all in summary.json" if len(tried) > TRIALS else ""
    columns = [
        Column("ordering", number=False, wrap=True),
        Column("profit") if ahead is None else Column("worth"),
        Column("", number=False),
        Column("jobs started"),
    ]
    what = "" if ahead is None else "; worth: the profit until all known jobs have run, less what waiting counts"
    return grid(f"The orderings that the method tried{what}{more}", columns, rows, name="trials", tall=len(rows) > 14)


def _without_empty(columns: list[Column], rows: list[list[Part]]) -> tuple[list[Column], list[list[Part]]]:
    """A table without its columns of text that say nothing, as the names of jobs in a trace."""
    kept = [k for k, each in enumerate(columns) if each.number or any(row[k] for row in rows)]
    return [columns[k] for k in kept], [[row[k] for k in kept] for row in rows]


def _clock(moment: str, zone: str) -> str:
    """Day and minute of an ISO time, as it is on the wall, with its offset where the wall shows it twice."""
    wall = dt.datetime.fromisoformat(moment).replace(tzinfo=zone_named(zone))
    is_twice = wall.utcoffset() != wall.replace(fold=1).utcoffset()
    return moment[5:16].replace("T", " ") + (moment[-6:] if is_twice else "")
