"""The study's tables in words: means over the draws, with half the width of their 95 % intervals."""

from __future__ import annotations

from collections.abc import Sequence

from planner.pages.markup import Column, plain
from planner.runs.figures import Row
from planner.studies.deadlines.cells import Choice
from planner.studies.deadlines.rows import Found
from planner.studies.table import Table


def trace_table(found: Found, choice: Choice) -> Table:
    """Table 1: the traces as they were replayed."""
    columns = (
        Column("trace", number=False),
        Column("processors"),
        Column("days"),
        Column("jobs"),
        Column("left out", number=False, wrap=True),
    )
    traces = {cell.trace: told["trace"] for cell, told in found.items()}
    lines = tuple(
        (
            name,
            plain(told["processors"]),
            plain(told["days"], 1),
            plain(told["jobs"]),
            "; ".join(f"{plain(count)} {reason}" for reason, count in told["dropped"].items()) or "none",
        )
        for name, told in traces.items()
    )
    filters = [
        f"{word} {', '.join(map(str, chosen))} alone"
        for word, chosen in (("partition", choice.partitions), ("queue", choice.queues))
        if chosen
    ]
    return Table(", ".join(["Table 1: the traces", *filters]), columns, lines)


def count_table(rows: Sequence[Row]) -> Table:
    """Table 2: jobs with a deadline in each draw, by the rule that their deadline follows."""
    columns = (
        Column("trace", number=False),
        Column("share", "%"),
        Column("deadline jobs"),
        Column("24 h after submission"),
        Column("10 times the request"),
    )
    chosen = {(row["trace"], row["percent"]): row for row in rows}
    lines = tuple(
        (
            trace,
            f"{share:g}",
            plain(row["deadline_jobs"]),
            with_half(row, "deadline_jobs_24h", 0),
            with_half(row, "deadline_jobs_10x", 0),
        )
        for (trace, share), row in chosen.items()
    )
    return Table("Table 2: jobs with a deadline, means over the draws", columns, lines)


def published_table(rows: Sequence[Row]) -> Table:
    """The figure that the paper gives in words, on all traces."""
    columns = (
        Column("trace", number=False),
        Column("share", "%"),
        Column("ours"),
        Column("published", "at most"),
        Column("met", number=False),
    )
    lines = tuple(
        (
            row["trace"],
            f"{row['percent']:g}",
            with_half(row, "ours", 3),
            "" if row["published_at_most"] is None else f"{row['published_at_most']:g}",
            row["met"],
        )
        for row in rows
    )
    return Table("Mean wait of regular jobs under deadline, as a part of that under conservative", columns, lines)


def wait_table(rows: Sequence[Row]) -> Table:
    """Waits of one trace."""
    columns = (
        Column("share", "%"),
        Column("policy", number=False),
        Column("mean wait", "s"),
        Column("regular jobs", "s"),
        Column("part of CBF"),
        Column("deadline jobs", "s"),
        Column("regular that wait", "%"),
        Column("their mean wait", "s"),
    )
    lines = tuple(
        (
            f"{row['percent']:g}",
            row["policy"],
            with_half(row, "wait_all_s", 0),
            with_half(row, "wait_regular_s", 0),
            with_half(row, "regular_of_base", 3),
            with_half(row, "wait_deadline_s", 0),
            with_half(row, "waiting_regular_fraction", 1, times=100),
            with_half(row, "wait_of_waiting_regular_s", 0),
        )
        for row in rows
    )
    return Table(f"{rows[0]['trace']}: waits", columns, lines)


def stretch_table(rows: Sequence[Row]) -> Table:
    """Stretch, misses and usage of deadlines of one trace."""
    columns = (
        Column("share", "%"),
        Column("policy", number=False),
        Column("mean stretch"),
        Column("regular"),
        Column("largest of regular"),
        Column("misses, 24 h"),
        Column("misses, 10x"),
        Column("deadline used", "%"),
        Column("by those that wait", "%"),
        Column("a round", "µs"),
    )
    lines = tuple(
        (
            f"{row['percent']:g}",
            row["policy"],
            with_half(row, "stretch_all", 2),
            with_half(row, "stretch_regular", 2),
            with_half(row, "max_stretch_regular", 0),
            with_half(row, "misses_24h", 1),
            with_half(row, "misses_10x", 1),
            with_half(row, "usage", 1, times=100),
            with_half(row, "usage_waited", 1, times=100),
            "–" if row["round_ms"] is None else plain(1000 * row["round_ms"], 1),
        )
        for row in rows
    )
    return Table(f"{rows[0]['trace']}: stretch, deadlines and time", columns, lines)


def by_trace(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of each trace."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["trace"], []).append(row)
    return list(groups.values())


def with_half(row: Row, name: str, digits: int, *, times: float = 1.0) -> str:
    """A mean, with half the width of its interval where there is one that is not nothing."""
    value, half = row[name], row[f"{name}_half"]
    if value is None:
        return "–"
    text = plain(times * value, digits)
    return f"{text} ± {plain(times * half, digits)}" if half else text
