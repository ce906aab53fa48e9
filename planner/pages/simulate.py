"""The page of replays: their metrics side by side, and how long jobs waited under each policy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from planner.domain.columns import Ints
from planner.pages.charts import Bar, bar_groups
from planner.pages.markup import (
    COLOURS,
    Column,
    Html,
    Part,
    counted,
    document,
    el,
    grid,
    hours,
    number,
    page_head,
    percent,
    plain,
)

CLASSES: tuple[tuple[str, float], ...] = (
    ("at once", 0),
    ("to 1 minute", 60),
    ("to 10 minutes", 600),
    ("to 1 hour", 3600),
    ("to 6 hours", 6 * 3600),
    ("to 1 day", 86400),
    ("longer", float("inf")),
)
"""Waits by their length, each up to so many seconds."""
PERCENTILES = (50, 90, 95, 99, 100)


def replay_page(
    title: str,
    notes: Sequence[str],
    rows: Sequence[Mapping[str, object]],
    meanings: Mapping[str, str],
    waits: Sequence[tuple[str, Ints]],
    late: Sequence[Mapping[str, object]] = (),
) -> str:
    """The page of the rows that the table on the terminal has, of the waits [s] of each run's jobs, and of late starts.

    ``late`` are those of policies that hold jobs, beside their base without holds.
    """
    header = page_head(title, *notes)
    main = el(
        "main",
        el("h2", "Metrics"),
        _metrics(rows),
        _meanings(rows, meanings),
        el("h2", "How long jobs waited"),
        bar_groups("Jobs by their wait, % of all that started", _groups(waits)),
        _percentiles(waits),
        [el("h2", "Starts beside the same scheduler without holds"), _late(late)] if late else None,
        id="main",
    )
    return document(title, header, main)


def _metrics(rows: Sequence[Mapping[str, object]]) -> Html:
    names = list(dict.fromkeys(name for row in rows for name in row))
    words = {name for name in names if all(isinstance(row.get(name, ""), str) for row in rows)}

    def cell(value: object) -> Part:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if math.isnan(value):
                return "–"
            digits = 0 if isinstance(value, int) else 3 if abs(value) < 1000 else 1
            return number(value, digits)
        return str(value) if value not in (None, "") else "–"

    columns = [Column(name, number=name not in words) for name in names]
    caption = f"{counted(len(rows), 'replay')} of the same jobs"
    return grid(caption, columns, [[cell(row.get(name, "")) for name in names] for row in rows], name="metrics")


def _meanings(rows: Sequence[Mapping[str, object]], meanings: Mapping[str, str]) -> Html | None:
    known = [name for name in meanings if any(name in row for row in rows)]
    lines = [el("li", el("b", name), f": {meanings[name]}") for name in known]
    return el("details", el("summary", "What the metrics mean"), el("ul", lines)) if lines else None


def _groups(waits: Sequence[tuple[str, Ints]]) -> list[tuple[str, list[Bar]]]:
    """The share of jobs in each class of waits, a bar for each run."""
    limits = [limit for _, limit in CLASSES]
    shares = []
    for _, each in waits:
        held = np.bincount(np.searchsorted(limits, each, side="left"), minlength=len(CLASSES))
        shares.append(held / max(1, len(each)))
    return [
        (
            label,
            [
                Bar(name, float(100 * shares[k][place]), percent(float(shares[k][place])), f"a{min(k, COLOURS)}")
                for k, (name, _) in enumerate(waits)
            ],
        )
        for place, (label, _) in enumerate(CLASSES)
    ]


def _late(rows: Sequence[Mapping[str, object]]) -> Html:
    """How much later jobs start than without holds: all of them, and those of each class and account, worst first."""
    words, counts = ("run", "jobs of"), {"late_of": "jobs", "later_than_allowed": "later than promised"}
    times = {"late_mean_s": "mean", "late95_s": "95 % less than", "latest_s": "worst"}
    columns = [*(Column(name, number=False) for name in words), *map(Column, (*counts.values(), *times.values()))]
    lines: list[list[Part]] = [
        [
            *(str(row[name]) for name in words),
            *(plain(float(str(row[name]))) for name in counts),
            *(_wait(float(str(row[name]))) for name in times),
        ]
        for row in rows
    ]
    return grid("How much later jobs start than they would without holds", columns, lines, name="late")


def _wait(seconds: float) -> Part:
    return number(seconds, text=hours(seconds))


def _percentiles(waits: Sequence[tuple[str, Ints]]) -> Html:
    def cell(each: Ints, part: int) -> Part:
        if not len(each):
            return "–"
        return _wait(float(np.percentile(each, part)))

    rows: list[list[Part]] = [
        [name, f"{len(each):,}", *(cell(each, part) for part in PERCENTILES)] for name, each in waits
    ]
    columns = [Column("run", number=False), Column("jobs", "started")]
    columns += [
        Column("longest" if part == 100 else f"{part} %", "" if part == 100 else "at most") for part in PERCENTILES
    ]
    return grid("Waits: so many of a hundred jobs waited at most so long", columns, rows, name="waits")
