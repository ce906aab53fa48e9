"""The page of a day: everything on it is in the day's CSVs and JSON files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.domain.day_summary import Baseline, DaySummary, EasyDay, JobCounts
from planner.pages.booked import against_plan, books_note, mark, planned_words
from planner.pages.day_figures import day_grids, day_panels, gantt_figure, use_panel
from planner.pages.day_tables import against_easy, deferred_jobs, largest_jobs, segment_rows, time_ahead, trials
from planner.pages.markup import (
    Html,
    Part,
    counted,
    document,
    el,
    gap_text,
    gap_words,
    good_or_bad,
    money,
    page_head,
    percent,
    plain,
    signed_money,
    signed_percent,
    signed_unit,
    unit,
    wait,
)
from planner.pages.time_axis import clock_axis, gantt_data
from planner.store.provenance import CHECKED, RUN
from planner.store.read_json import cluster_of
from planner.store.read_tables import waits_of
from planner.store.write_tables import Table
from planner.units import clock

SHARES = (
    "Cooling, and what empty nodes draw, are shared among the jobs of a segment in proportion to their IT energy in it;"
    " the demand charge in proportion to their energy of the day. What falls in segments without jobs stands as the"
    " site's own cost."
)


def day_page(summary: DaySummary, run: dict[str, Any], tables: dict[str, Table]) -> str:
    """The page of a day, from what is written in its folder."""
    horizon, booked = summary.horizon, summary.booked
    schedule, deferred, segments = tables["schedule"], tables["deferred"], tables["segments"]
    currency = summary.currency
    cluster = cluster_of(run)
    waits = waits_of(schedule, horizon, {}).tolist()
    panels = day_panels(schedule, deferred, segments, horizon, currency, run)
    use = use_panel(schedule, cluster, horizon)
    nodes = gantt_data(schedule, cluster, currency, waits)
    payload = {
        "axis": clock_axis(horizon),
        "grids": day_grids(segments, run, horizon.length_s),
        "panels": [panel.spec() for panel in (*panels["above"], use, *panels["below"])],
        "gantt": nodes,
    }
    weekday = horizon.day.strftime("%A")
    description = " ".join(str(run["scenario"].get("description") or "").split())
    told = [description, summary.zone, None if summary.moment is None else f"planned from {summary.moment[11:16]} on"]
    heading: list[Part] = [f"{summary.scenario}: {weekday} ", el("span", str(summary.day), class_="whole")]
    heading += [" ", mark(booked=True)] if booked else []
    header = page_head(heading, " · ".join(part for part in told if part), index="../../index.html")
    main = el(
        "main",
        tiles(summary, run["scenario"]["demand"]),
        _remarks(summary),
        zoom_bar(find=True),
        el("h2", "Power, weather and price"),
        [panel.html() for panel in panels["above"]],
        el("h2", "Who runs where"),
        gantt_figure(nodes["accounts"], nodes["resources"], nodes["nodes"], nodes["height"]),
        use.html(),
        el("h2", "Money, cooling and the queue"),
        [panel.html() for panel in panels["below"]],
        segment_rows(segments, currency, summary.zone),
        el("h2", "Largest jobs"),
        el("p", SHARES),
        largest_jobs(schedule, waits, currency, summary.zone),
        el("h2", "Jobs that do not start"),
        deferred_jobs(deferred),
        *_compared(summary),
        id="main",
    )
    profit = money(summary.totals.profit_eur, currency)
    title = f"{summary.scenario} {summary.day}{', booked' if booked else ''}: profit {profit}"
    scripts = ("view.js", "panels.js", "gantt.js")
    return document(title, header, main, provenance_foot(summary, run), scripts=scripts, payload=payload)


def _compared(summary: DaySummary) -> list[Part]:
    """What a plan is compared with; a booked day only with its plan."""
    if summary.booked is None:
        heading = el("h2", "Against EASY and rules, and what was tried")
        return [*time_ahead(summary), heading, against_easy(summary), trials(summary)]
    if summary.booked.planned is None:
        return []
    return [el("h2", "Planned against real"), against_plan(summary, summary.booked.planned)]


def zoom_bar(*, find: bool = False) -> Html:
    """Buttons that zoom all figures together, the stretch that is shown, and what is read out."""
    buttons = [
        el("button", text, type="button", data_zoom=name, aria_label=label)
        for text, name, label in (
            ("+", "in", "Zoom in"),
            (chr(0x2212), "out", "Zoom out"),
            ("Whole range", "reset", "Show the whole range"),
        )
    ]
    box = el("input", id="find", type="search", placeholder="Find a job", aria_label="Find a job by id or name")
    hint = el("span", "drag over a figure to zoom; double-click shows all", class_="soft")
    return el(
        "div",
        buttons,
        el("output", id="shown"),
        box if find else None,
        hint,
        el("output", id="said", aria_live="polite"),
        class_="bar",
    )


def tile(name: str, value: float | None, text: Part, *notes: Part, main: bool = False, key: str | None = None) -> Html:
    """One number of the first screen; the exact one is in its ``value``."""
    number = text if value is None else el("data", text, value=repr(value), id=key)
    return el(
        "div",
        el("dt", name),
        el("dd", number),
        [el("dd", note) for note in notes],
        class_="tile main" if main else "tile",
    )


def tiles(summary: DaySummary, demand: Mapping[str, Any]) -> Html:
    """The numbers of the first screen; ``demand`` is how the scenario charges peaks."""
    totals, jobs, currency, use = summary.totals, summary.jobs, summary.currency, summary.utilisation_fraction

    def amount(name: str, value: float, *notes: Part, main: bool = False, key: str | None = None) -> Html:
        return tile(name, value, money(value, currency), *notes, main=main, key=key)

    words = gap_words(summary) if summary.booked is None else planned_words(summary, summary.booked)
    shown = [amount("Profit", totals.profit_eur, words, main=True, key="profit")]
    if summary.easy is not None:
        shown.append(_against_easy(summary, summary.easy))
    if summary.best_baseline is not None:
        shown.append(_against(summary.best_baseline, summary.planned_profit_eur, currency))
    shown += [
        amount("Revenue", totals.revenue_eur, f"{plain(totals.core_hours)} core-hours", key="revenue"),
        amount("IT energy", totals.it_cost_eur, unit(totals.it_kwh, "kWh"), key="it_cost"),
        amount("Cooling energy", totals.cooling_cost_eur, unit(totals.cooling_kwh, "kWh"), key="cooling_cost"),
        tile("PUE", totals.pue, f"{totals.pue:.3f}", "whole site over IT", key="pue_day"),
        tile("Utilisation", use, percent(use), "of all cores", key="utilisation"),
        tile("Jobs started", jobs.started, f"{jobs.started:,}", _jobs_note(jobs), key="started"),
        tile("Jobs deferred", jobs.deferred, f"{jobs.deferred:,}", f"of {jobs.known:,} known", key="deferred_count"),
    ]
    peak = unit(summary.peak_kw, "kW", 1)
    if totals.demand_cost_eur:
        shown.append(amount("Demand charge", totals.demand_cost_eur, f"peak {peak} bought"))
    else:
        is_monthly = demand["eur_per_kw"] and demand.get("period") == "month"
        charge = "the month's peak is no higher for it" if is_monthly else "no demand charge"
        shown.append(tile("Peak power bought", summary.peak_kw, peak, charge))
    if totals.carbon_kg:
        shown.append(amount("Carbon", totals.carbon_cost_eur, unit(totals.carbon_kg, "kg CO₂")))
    if totals.solar_kwh:
        shown.append(tile("Photovoltaics used", totals.solar_kwh, unit(totals.solar_kwh, "kWh")))
    if totals.feed_in_eur:
        shown.append(amount("Fed into the grid", totals.feed_in_eur, unit(totals.fed_kwh, "kWh")))
    if totals.curtailed_kwh:
        shown.append(tile("Photovoltaics curtailed", totals.curtailed_kwh, unit(totals.curtailed_kwh, "kWh")))
    if totals.charged_kwh or totals.discharged_kwh:
        shown.append(amount("Battery", totals.battery_eur, f"{unit(totals.discharged_kwh, 'kWh')} given"))
    if totals.fees_eur:
        shown.append(amount("Of it fees", totals.fees_eur, "on top of the price"))
    if totals.asleep_h:
        shown.append(tile("Nodes asleep", totals.asleep_h, unit(totals.asleep_h, "h"), "of all nodes together"))
    if summary.site_cost_eur:
        shown.append(_site(summary.site_cost_eur, currency))
    return el("dl", shown, class_="tiles")


def _site(cost_eur: float, currency: str) -> Html:
    """What no job carries: a cost, or an income where feeding in and the battery bring more."""
    if cost_eur < 0:
        return tile("Income beside the jobs", -cost_eur, money(-cost_eur, currency), "fed in, battery; no job's")
    return tile("Cost that no job carries", cost_eur, money(cost_eur, currency), "segments without jobs")


def _against_easy(summary: DaySummary, easy: EasyDay) -> Html:
    """What the day earns more than under EASY, in energy and carbon too, and who waits how long."""
    currency = summary.currency
    part = f" ({signed_percent(easy.saved_eur / abs(easy.profit_eur))})" if easy.profit_eur else ""
    good = el("span", signed_money(easy.saved_eur, currency) + part, class_=good_or_bad(easy.saved_eur))
    used = [signed_unit(-easy.saved_kwh, "kWh")]
    used += [signed_unit(-easy.saved_carbon_kg, "kg CO₂")] if easy.carbon_kg or easy.saved_carbon_kg else []
    waits = f"mean wait {wait(summary.waits)}, EASY {wait(easy.waits)}"
    started = summary.jobs.started
    more = started - easy.started
    who = f"{counted(abs(more), 'job')} {'more' if more > 0 else 'fewer'} started" if more else None
    return el(
        "div",
        el("dt", "Against EASY on this day"),
        el("dd", el("data", good, value=repr(easy.saved_eur), id="saved")),
        el("dd", ", ".join(used)),
        el("dd", waits),
        el("dd", who, class_="good" if more > 0 else "bad") if who else None,
        class_="tile main",
    )


def _against(base: Baseline, planned_eur: float, currency: str) -> Html:
    """What the plan earns more than a rule."""
    more = planned_eur - base.profit_eur
    part = f" ({signed_percent(more / abs(base.profit_eur))})" if base.profit_eur else ""
    good = el("span", signed_money(more, currency) + part, class_=good_or_bad(more))
    words = f"the rule “{base.name}” would earn {money(base.profit_eur, currency)}"
    return tile("Against the best rule on this day", round(more, 6), good, words, main=True, key="saving")


def _jobs_note(jobs: JobCounts) -> str:
    notes = [f"{jobs.finished:,} end today"]
    notes += [f"{jobs.carried_in:,} more carried in"] if jobs.carried_in else []
    notes += [f"{counted(jobs.missed_deadlines, 'deadline')} missed"] if jobs.missed_deadlines else []
    return ", ".join(notes)


def _remarks(summary: DaySummary) -> Html | None:
    if summary.booked is not None:
        return books_note(summary, summary.booked)
    if summary.execute != "actual":
        return None
    if summary.is_carried_out:
        text = (
            "Jobs ended at their real runtimes, under the rules as well; the best possible beside the profit is of a"
            " schedule that knew them all."
        )
        return el("p", text, class_="note")
    planned, bound = money(summary.planned_profit_eur, summary.currency), summary.bound_eur
    near = "" if bound is None else f" ({gap_text(bound, summary.gap_fraction, summary.currency)})"
    text = (
        "Jobs ended at their real runtimes; the best possible beside the profit is of a schedule that knew them all."
        f" Had all run as long as they asked, the plan would have earned {planned}{near}; the rules are compared with"
        " that number."
    )
    return el("p", text, class_="note")


def provenance_foot(summary: DaySummary, run: dict[str, Any]) -> Html:
    """Program, method, seed, inputs with their hashes, and the files beside the page."""
    facts: list[tuple[str, Html | str]] = [
        ("Made by", f"planner {run['planner']}, {run['began']}"),
        ("Command", el("code", " ".join(["plan", *run["command"]])) if run["command"] else "a script"),
        ("Method", f"{summary.method}, seed {run['seed']}, {clock(summary.solve_s)}, status {summary.status}"),
    ]
    if run.get("engine"):
        facts.append(("Engine", str(run["engine"])))
    facts += [
        ("Versions", ", ".join(f"{name} {version}" for name, version in run["versions"].items())),
        ("Read", "; ".join(f"{each.source}: {each.kept:,} kept" for each in summary.inputs)),
    ]
    facts += [("Input", el("code", f"{path}  sha256 {digest[:16]}…")) for path, digest in run["inputs"].items()]
    links = [el("span", el("a", name, href=name), " ") for name in (*CHECKED, RUN)]
    return el(
        "footer",
        el("h2", "Where the numbers come from"),
        el(
            "dl",
            [[el("dt", name), el("dd", text)] for name, text in facts],
            el("dt", "Beside this page"),
            el("dd", links),
        ),
        id="provenance",
    )
