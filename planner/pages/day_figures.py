"""The figures of a day along its time axis: what each shows, and the elements that they are drawn in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from planner.domain.cluster import CORES, Cluster
from planner.domain.columns import Floats, Ints
from planner.domain.horizon import Horizon
from planner.pages.markup import COLOURS, SIGNS, Html, el, plain
from planner.pages.time_axis import (
    Panel,
    count_at,
    layer,
    mean_work_kw,
    minute_edges,
    numbers,
    resource_word,
    rounded,
    submitted_s,
    temperature_digits,
    use_fractions,
)
from planner.store.write_tables import Table

COLOURS_OF_USE = (0, 1, 4, 3, 5, 7)
"""Colours of the resources, of those that accounts have."""


def day_grids(segments: Table, run: Mapping[str, Any], length_s: int) -> dict[str, list[int]]:
    """Edges of the segments, of the minutes and of what the weather says [s]."""
    edges = [int(text) for text in segments.column("start_s")] + [length_s]
    weather = [*run["outside"]["start_s"], length_s]
    return {"segments": edges, "minutes": minute_edges(length_s).tolist(), "weather": weather}


def day_panels(
    schedule: Table, deferred: Table, segments: Table, horizon: Horizon, currency: str, run: Mapping[str, Any]
) -> dict[str, list[Panel]]:
    """The figures of a day above and below that of the nodes."""
    start, end = numbers(segments, "start_s"), numbers(segments, "end_s")
    hours = (end - start) / 3600
    starts, ends = _whole(schedule, "start_s"), _whole(schedule, "end_s")
    edges = minute_edges(horizon.length_s)
    it, cooling = numbers(segments, "it_kwh"), numbers(segments, "cooling_kwh")
    work_kw = mean_work_kw(edges, starts, ends, numbers(schedule, "power_w"))
    pue = numbers(segments, "pue")
    power = Panel(
        "power",
        "IT and cooling power, kW",
        f"IT draws {plain(it.sum())} and cooling {plain(cooling.sum())} kilowatt-hours over the day.",
        [
            _kw("stack", "IT", "it", it / hours),
            _kw("stack", "cooling", "cooling", cooling / hours),
            layer("step", "minutes", "jobs alone, by the minute", "focus", rounded(work_kw, 2), "kW", 1),
        ],
        height=230,
    )
    tariff = _tariff(segments, currency)
    efficiency = Panel(
        "pue",
        "PUE by segment",
        f"Between {pue.min():.3f} and {pue.max():.3f}.",
        [layer("step", "segments", "PUE", "it", rounded(pue, 6), "", 3)],
        height=110,
        zero=False,
    )
    above = [power, *energy_panels(segments, hours), _weather(segments, run), tariff]
    below = [*_money(segments, hours, currency), efficiency, _queue(schedule, deferred, starts, ends, horizon)]
    return {"above": above, "below": below}


def _weather(segments: Table, run: Mapping[str, Any]) -> Panel:
    """The temperature of the weather, and the step of the PUE table that cooling was looked up at, where it is one."""
    rules = run["scenario"]["cooling"]
    outside = np.array(run["outside"]["temperature_c"])
    layers = [layer("step", "weather", "temperature", "temperature", rounded(outside, 1), "°C", 1)]
    if rules.get("lookup") != "linear":
        steps = numbers(segments, "temperature_c")
        name, digits = "nearest step of the PUE table", temperature_digits(steps)
        layers.append(layer("step", "segments", name, "soft", rounded(steps, 1), "°C", digits, dash=True))
    bulb = "Wet-bulb" if rules.get("temperature") == "wet-bulb" else "Outside"
    aloud = f"Between {plain(outside.min(), 1)} and {plain(outside.max(), 1)} degrees."
    return Panel("temperature", f"{bulb} temperature, °C", aloud, layers, height=110, zero=False)


def use_panel(schedule: Table, cluster: Cluster, horizon: Horizon) -> Panel:
    """How much of each resource jobs hold over the day, in percent."""
    used = use_fractions(schedule, cluster, minute_edges(horizon.length_s))
    layers = [
        layer(
            "step", "minutes", resource_word(name), f"a{COLOURS_OF_USE[k]}", rounded(100 * part, 2), "%", 1, dash=k > 1
        )
        for k, (name, part) in enumerate(list(used.items())[: len(COLOURS_OF_USE)])
    ]
    means = ", ".join(f"{resource_word(name)} {plain(100 * part.mean(), 1)}" for name, part in used.items())
    return Panel("use", "In use, % of all", f"On average: {means} percent.", layers, 130, extra={"top": 100})


def _tariff(segments: Table, currency: str) -> Panel:
    price, unit = numbers(segments, "price_eur_per_kwh"), f"{currency}/kWh"
    layers = [layer("step", "segments", "price", "price", rounded(price, 6), unit, 4, dash=True)]
    if "fee_eur_per_kwh" in segments.columns:
        whole = price + numbers(segments, "fee_eur_per_kwh")
        layers.append(layer("step", "segments", "with fees", "it", rounded(whole, 6), unit, 4))
    if "feed_in_eur_per_kwh" in segments.columns:
        earned = numbers(segments, "feed_in_eur_per_kwh")
        layers.append(layer("step", "segments", "fed in earns", "sun", rounded(earned, 6), unit, 4))
    aloud = f"Between {price.min():.4g} and {price.max():.4g} {currency} per kilowatt-hour."
    return Panel("price", f"Price of electricity, {currency} per kWh", aloud, layers, height=110)


def _money(segments: Table, hours: Floats, currency: str) -> list[Panel]:
    """What comes in with the profit, and costs on an axis of their own: they are a small part of revenue."""
    sign = SIGNS.get(currency, "")
    unit = "" if sign else currency

    def of(kind: str, name: str, colour: str, key: str) -> dict[str, Any]:
        values = numbers(segments, key)
        shown, told = rounded(values / hours, 4), rounded(values, 6)
        return layer(kind, "segments", name, colour, shown, unit, 2, told=told, before=sign)

    def there(*named: tuple[str, str, str]) -> list[dict[str, Any]]:
        return [
            of("stack", *each) for each in named if each[2] in segments.columns and numbers(segments, each[2]).any()
        ]

    income = [of("stack", "revenue", "revenue", "revenue_eur")]
    income += there(("fed in", "sun", "feed_in_eur"), ("battery", "battery", "battery_eur"))
    income.append(of("step", "profit", "profit", "profit_eur"))
    costs = [
        of("stack", "IT energy", "it", "it_cost_eur"),
        of("stack", "cooling energy", "cooling", "cooling_cost_eur"),
        *there(("carbon", "carbon", "carbon_cost_eur")),
    ]
    profit = numbers(segments, "profit_eur").sum()
    spent = sum(sum(each["told"]) for each in costs)
    aloud = f"The segments earn {profit:.2f} {currency} together. Each tells its whole amount."
    cost_aloud = f"{spent:.2f} {currency} together. Each segment tells its whole amount."
    return [
        Panel("money", f"Revenue and profit by segment, {currency} per hour", aloud, income, height=170),
        Panel("costs", f"Costs by segment, {currency} per hour", cost_aloud, costs, height=150),
    ]


def _queue(schedule: Table, deferred: Table, starts: Ints, ends: Ints, horizon: Horizon) -> Panel:
    edges = minute_edges(horizon.length_s)
    came = submitted_s(schedule, horizon)
    waits = np.array([kind == "deferred" for kind in deferred.column("kind")], dtype=bool)
    later = submitted_s(deferred, horizon)[waits] if len(deferred.rows) else np.array([], dtype=np.int64)
    waiting = count_at(edges, np.concatenate([came, later]), starts)
    running = count_at(edges, starts, ends)
    return Panel(
        "queue",
        "Jobs waiting and running",
        f"At most {waiting.max(initial=0):,} wait and {running.max(initial=0):,} run at once.",
        [
            layer("step", "minutes", "waiting", "profit", waiting.tolist(), "jobs", 0),
            layer("step", "minutes", "running", "it", running.tolist(), "jobs", 0, dash=True),
        ],
        height=150,
    )


def gantt_figure(accounts: list[str], resources: list[str], nodes: int, height: int) -> Html:
    """The element of the figure of nodes over time.

    A press on an account shows its jobs alone; one on a resource makes jobs as high as their share of it.
    """
    names = [*accounts[:COLOURS], *(["other accounts"] if len(accounts) > COLOURS else [])]
    marks = [
        el(
            "button",
            el("i", style=f"--c:var(--a{index})"),
            name or "no account",
            type="button",
            data_account=index,
            aria_pressed="false",
        )
        for index, name in enumerate(names)
    ]
    choice = [
        el("button", name, type="button", data_resource=index, aria_pressed="true" if name == CORES else "false")
        for index, name in enumerate(resources)
    ]
    label = (
        f"Jobs on {nodes} nodes over the day. Arrow keys move, plus and minus zoom, 0 shows all;"
        " the box named Find a job reads one out."
    )
    return el(
        "figure",
        el(
            "figcaption",
            f"Jobs on the {nodes:,} nodes",
            el("span", "as high as their share of", choice, class_="choice") if len(choice) > 1 else None,
            el("span", marks, class_="legend"),
        ),
        el(
            "div",
            el("canvas", height=height),
            class_="plot",
            role="application",
            tabindex=0,
            aria_label=label,
            style=f"height:{height}px",
        ),
        id="gantt",
    )


def _whole(table: Table, name: str) -> Ints:
    return np.array(table.column(name), dtype=np.int64)


LEAST_KWH = 1e-4
"""Energy below this is what rounding leaves."""


def energy_panels(segments: Table, hours: Floats) -> list[Panel]:
    """The figures of what the day has of these; none of what is zero all day."""

    def of(name: str) -> Floats:
        return numbers(segments, name) if name in segments.columns else np.zeros(len(hours))

    panels = []
    if of("solar_w").any():
        panels += [_sources(of("solar_kwh"), of("discharged_kwh"), of("bought_kwh"), hours)]
        panels += [_sun(of("solar_w") / 1000, of("solar_kwh"), of("fed_kwh"), of("curtailed_kwh"), hours)]
    if of("charged_kwh").any() or of("discharged_kwh").any():
        panels += _battery(of("charged_kwh"), of("discharged_kwh"), of("battery_kwh"), hours)
    if of("carbon_kg").any():
        panels += [_carbon(of("carbon_kg"), of("carbon_g_per_kwh"), hours)]
    if of("asleep_h").any():
        panels += [_asleep(of("asleep_h"), hours)]
    return panels


def _sources(solar: Floats, given: Floats, bought: Floats, hours: Floats) -> Panel:
    parts = [("own sun", "sun", solar), ("battery", "battery", given), ("bought", "other", bought)]
    return Panel("sources", "Where the power comes from, kW", *_parts(parts, hours), 170)


def _parts(parts: list[tuple[str, str, Floats]], hours: Floats) -> tuple[str, list[dict[str, Any]]]:
    """The energies that are there [kWh], read aloud and one on the other as power."""
    there = [(name, colour, kwh) for name, colour, kwh in parts if kwh.any()]
    aloud = ", ".join(f"{name} {plain(kwh.sum())}" for name, _, kwh in there)
    return f"In kilowatt-hours: {aloud}.", [_kw("stack", name, colour, kwh / hours) for name, colour, kwh in there]


def _kw(kind: str, name: str, colour: str, kilowatts: Floats, **more: Any) -> dict[str, Any]:
    return layer(kind, "segments", name, colour, rounded(kilowatts, 3), "kW", 1, **more)


def _sun(could_kw: Floats, used: Floats, fed: Floats, curtailed: Floats, hours: Floats) -> Panel:
    stored = could_kw * hours - used - fed - curtailed
    stored = np.where(stored > LEAST_KWH, stored, 0.0)
    parts = [
        ("used", "sun", used),
        ("into the battery", "battery", stored),
        ("fed in", "price", fed),
        ("curtailed", "other", curtailed),
    ]
    aloud, layers = _parts(parts, hours)
    layers.append(_kw("step", "could give", "ink", could_kw, thin=True))
    return Panel("sun", "Photovoltaics, kW", aloud, layers, 150)


def _battery(taken: Floats, given: Floats, held: Floats, hours: Floats) -> list[Panel]:
    flow = [
        _kw("stack", "takes", "sun", taken / hours),
        _kw("stack", "gives", "battery", -given / hours),
    ]
    level = [layer("stack", "segments", "holds at the end of the segment", "battery", rounded(held, 3), "kWh", 1)]
    aloud = f"It takes {plain(taken.sum())} and gives {plain(given.sum())} kilowatt-hours."
    most = f"Between {plain(held.min(), 1)} and {plain(held.max(), 1)} kilowatt-hours."
    return [
        Panel("battery-flow", "Battery: takes (above zero) and gives (below), kW", aloud, flow, 130),
        Panel("battery-level", "Battery: what it holds, kWh", most, level, 110),
    ]


def _carbon(kg: Floats, grams: Floats, hours: Floats) -> Panel:
    layers = [layer("stack", "segments", "CO₂ of bought power", "carbon", rounded(kg / hours, 3), "kg/h", 2)]
    aloud = f"{plain(kg.sum(), 1)} kilograms over the day, at {plain(grams.min())} to {plain(grams.max())} g per kWh."
    return Panel("carbon", "Carbon, kg CO₂ per hour", aloud, layers, 110)


def _asleep(asleep_h: Floats, hours: Floats) -> Panel:
    layers = [layer("step", "segments", "asleep", "price", rounded(asleep_h / hours, 2), "nodes", 1)]
    return Panel("asleep", "Nodes asleep", f"{plain(asleep_h.sum(), 1)} node-hours over the day.", layers, 110)
