"""Where the power of a day comes from: own sun, battery and grid, with carbon and nodes asleep, where there are any."""

from __future__ import annotations

import numpy as np

from planner.domain.columns import Floats
from planner.pages.formats import plain
from planner.pages.panel import Panel, layer
from planner.pages.series import numbers, rounded
from planner.store.write_tables import Table

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
    layers = [
        layer("stack", "segments", name, colour, rounded(kwh / hours, 3), "kW", 1)
        for name, colour, kwh in parts
        if kwh.any()
    ]
    aloud = ", ".join(f"{name} {plain(kwh.sum())}" for name, _, kwh in parts if kwh.any())
    return Panel("sources", "Where the power comes from, kW", f"In kilowatt-hours: {aloud}.", layers, 170)


def _sun(could_kw: Floats, used: Floats, fed: Floats, curtailed: Floats, hours: Floats) -> Panel:
    stored = could_kw * hours - used - fed - curtailed
    stored = np.where(stored > LEAST_KWH, stored, 0.0)
    parts = [
        ("used", "sun", used),
        ("into the battery", "battery", stored),
        ("fed in", "price", fed),
        ("curtailed", "other", curtailed),
    ]
    layers = [
        layer("stack", "segments", name, colour, rounded(kwh / hours, 3), "kW", 1)
        for name, colour, kwh in parts
        if kwh.any()
    ]
    layers.append(layer("step", "segments", "could give", "ink", rounded(could_kw, 3), "kW", 1, thin=True))
    aloud = ", ".join(f"{name} {plain(kwh.sum())}" for name, _, kwh in parts if kwh.any())
    return Panel("sun", "Photovoltaics, kW", f"In kilowatt-hours: {aloud}.", layers, 150)


def _battery(taken: Floats, given: Floats, held: Floats, hours: Floats) -> list[Panel]:
    flow = [
        layer("stack", "segments", "takes", "sun", rounded(taken / hours, 3), "kW", 1),
        layer("stack", "segments", "gives", "battery", rounded(-given / hours, 3), "kW", 1),
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
