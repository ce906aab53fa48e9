"""The figures of a day along its time axis: what each shows, and the elements that they are drawn in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from planner.domain.columns import Ints
from planner.domain.horizon import Horizon
from planner.pages.formats import SIGNS, plain
from planner.pages.gantt import COLOURS
from planner.pages.markup import Html, el
from planner.pages.series import (
    column,
    count_at,
    mean_work_kw,
    minute_edges,
    numbers,
    rounded,
    submitted_s,
    temperature_digits,
)
from planner.store.write_tables import Table


@dataclass(frozen=True)
class Panel:
    """A figure: its id, its title, how to read it aloud, and its layers as the script takes them."""

    id: str
    title: str
    aloud: str
    layers: list[dict[str, Any]]
    height: int = 150
    zero: bool = True
    extra: dict[str, Any] = field(default_factory=dict)

    def spec(self) -> dict[str, Any]:
        """The figure for the script."""
        return {"id": self.id, "height": self.height, "zero": self.zero, "layers": self.layers, **self.extra}

    def html(self) -> Html:
        """The element that the script draws in."""
        marks = [
            el(
                "span",
                el("i", class_=_mark(layer), style=f"--c:var(--{layer['colour']})"),
                layer["name"],
            )
            for layer in self.layers
        ]
        label = f"{self.title}. {self.aloud} Arrow keys read it step by step; plus and minus zoom; 0 shows all."
        plot = el(
            "div", class_="plot", role="application", tabindex=0, aria_label=label, style=f"height:{self.height}px"
        )
        return el("figure", el("figcaption", self.title, el("span", marks, class_="legend")), plot, id=self.id)


def _mark(layer: dict[str, Any]) -> str | None:
    return None if layer["kind"] == "stack" else "dash" if layer.get("dash") else "thin"


def layer(
    kind: str, grid: str, name: str, colour: str, values: Sequence[float | None], unit: str, digits: int, **more: Any
) -> dict[str, Any]:
    """One layer: ``stack``, ``step`` or ``line`` over the pieces of a grid; None is a gap in a step or line."""
    named = {"kind": kind, "grid": grid, "name": name, "colour": colour, "values": list(values)}
    return {**named, "unit": unit, "digits": digits, **more}


def day_grids(segments: Table, length_s: int) -> dict[str, list[int]]:
    """Edges of the segments and of the minutes [s]."""
    edges = [int(text) for text in column(segments, "start_s")] + [length_s]
    return {"segments": edges, "minutes": minute_edges(length_s).tolist()}


def day_panels(
    schedule: Table, deferred: Table, segments: Table, horizon: Horizon, currency: str
) -> dict[str, list[Panel]]:
    """The figures of a day above and below that of the nodes."""
    start, end = numbers(segments, "start_s"), numbers(segments, "end_s")
    hours = (end - start) / 3600
    starts, ends = _whole(schedule, "start_s"), _whole(schedule, "end_s")
    edges = minute_edges(horizon.length_s)
    it, cooling = numbers(segments, "it_kwh"), numbers(segments, "cooling_kwh")
    work_kw = mean_work_kw(edges, starts, ends, numbers(schedule, "power_w"))
    temperature, price = numbers(segments, "temperature_c"), numbers(segments, "price_eur_per_kwh")
    pue = numbers(segments, "pue")
    power = Panel(
        "power",
        "IT and cooling power, kW",
        f"IT draws {plain(it.sum())} and cooling {plain(cooling.sum())} kilowatt-hours over the day.",
        [
            layer("stack", "segments", "IT", "it", rounded(it / hours, 3), "kW", 1),
            layer("stack", "segments", "cooling", "cooling", rounded(cooling / hours, 3), "kW", 1),
            layer("step", "minutes", "jobs alone, by the minute", "focus", rounded(work_kw, 2), "kW", 1),
        ],
        height=230,
    )
    digits = temperature_digits(temperature)
    weather = Panel(
        "temperature",
        "Outside temperature, °C",
        f"Between {plain(temperature.min(), digits)} and {plain(temperature.max(), digits)} degrees.",
        [layer("step", "segments", "temperature", "temperature", rounded(temperature, 1), "°C", digits)],
        height=110,
        zero=False,
    )
    tariff = Panel(
        "price",
        f"Price of electricity, {currency} per kWh",
        f"Between {price.min():.4g} and {price.max():.4g} {currency} per kilowatt-hour.",
        [layer("step", "segments", "price", "price", rounded(price, 6), f"{currency}/kWh", 4, dash=True)],
        height=110,
    )
    efficiency = Panel(
        "pue",
        "PUE by segment",
        f"Between {pue.min():.3f} and {pue.max():.3f}.",
        [layer("step", "segments", "PUE", "it", rounded(pue, 6), "", 3)],
        height=110,
        zero=False,
    )
    above = [power, weather, tariff]
    below = [_money(segments, hours, currency), efficiency, _queue(schedule, deferred, starts, ends, horizon)]
    return {"above": above, "below": below}


def _money(segments: Table, hours: np.ndarray[Any, np.dtype[np.float64]], currency: str) -> Panel:
    names = [
        ("revenue", "revenue", 1, "revenue_eur"),
        ("IT energy", "it", -1, "it_cost_eur"),
        ("cooling energy", "cooling", -1, "cooling_cost_eur"),
    ]
    if numbers(segments, "carbon_cost_eur").any():
        names.append(("carbon", "other", -1, "carbon_cost_eur"))
    sign = SIGNS.get(currency, "")
    unit = "" if sign else currency
    layers = [
        layer(
            "stack",
            "segments",
            name,
            colour,
            rounded(way * numbers(segments, key) / hours, 4),
            unit,
            2,
            told=rounded(way * numbers(segments, key), 6),
            before=sign,
        )
        for name, colour, way, key in names
    ]
    profit = numbers(segments, "profit_eur")
    told = rounded(profit, 6)
    shown = rounded(profit / hours, 4)
    layers.append(layer("step", "segments", "profit", "profit", shown, unit, 2, told=told, before=sign))
    title = f"Money by segment, {currency} per hour"
    aloud = f"The segments earn {profit.sum():.2f} {currency} together. Each tells its whole amount."
    return Panel("money", title, aloud, layers, height=200)


def _queue(schedule: Table, deferred: Table, starts: Ints, ends: Ints, horizon: Horizon) -> Panel:
    edges = minute_edges(horizon.length_s)
    came = submitted_s(schedule, horizon)
    waits = np.array([kind == "deferred" for kind in column(deferred, "kind")], dtype=bool)
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


def gantt_figure(accounts: list[str], nodes: int, height: int) -> Html:
    """The element of the figure of nodes over time; a press on an account shows its jobs alone."""
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
    label = (
        f"Jobs on {nodes} nodes over the day. Arrow keys move, plus and minus zoom, 0 shows all;"
        " the box named Find a job reads one out."
    )
    return el(
        "figure",
        el("figcaption", f"Jobs on the {nodes:,} nodes", el("span", marks, class_="legend")),
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
    return np.array(column(table, name), dtype=np.int64)
