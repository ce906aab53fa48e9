"""The tables of the study in words: the replays of each machine and estimate, and made-up queues."""

from __future__ import annotations

from collections.abc import Sequence

from planner.pages.markup import THIN, Column, hours, plain
from planner.runs.figures import Row
from planner.studies.table import Table


def groups_of(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of each machine, trace and estimate."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["machine"], row["trace"], row["estimate"]), []).append(row)
    return list(groups.values())


def group_title(row: Row) -> str:
    """Machine, jobs and estimate of a row."""
    size = f"{row['machine']} ({plain(row['nodes'])} nodes)"
    return f"{size}, {plain(row['jobs'])} jobs of {row['trace']}, {row['estimate']} runtimes"


def replay_table(rows: Sequence[Row]) -> Table:
    """The table of one machine, trace and estimate; published columns only where there are published figures."""
    has_published = any(row["published_ended"] for row in rows)
    published_ms = [Column("published", "ms")] if has_published else []
    published_s = [Column("published", "s")] if has_published else []
    columns = (
        Column("policy", number=False),
        Column("mean slowdown"),
        Column("mean wait", "s"),
        Column("longest wait", "s"),
        Column("a dispatch", "ms of CPU"),
        *published_ms,
        Column("95 % at most", "ms"),
        Column("longest", "ms"),
        Column("whole replay", "s of CPU"),
        *published_s,
        Column("rounds"),
        Column("dispatches"),
        Column("found nothing", "times"),
        Column("proven", "%"),
        Column("end", number=False),
    )
    return Table(group_title(rows[0]), columns, tuple(_replay_words(row, has_published) for row in rows))


def _replay_words(row: Row, has_published: bool) -> tuple[str, ...]:
    never = "no end" if row["published_ended"] == "no" else ""
    return (
        row["policy"],
        number(row["stretch"], 3),
        number(row["wait_s"], 1),
        number(row["longest_wait_s"]),
        milliseconds(row["dispatch_ms"]),
        *([never or number(row["published_dispatch_ms"])] if has_published else []),
        milliseconds(row["dispatch_95_ms"]),
        milliseconds(row["dispatch_most_ms"]),
        number(row["cpu_s"], 1),
        *([never or number(row["published_simulation_s"])] if has_published else []),
        number(row["rounds"]),
        number(row["dispatches"]),
        number(row["fallbacks"]),
        percents(row["proven_fraction"]),
        end_words(row),
    )


def end_words(row: Row) -> str:
    """Whether a replay came to its end, or else where it was stopped; with plain spaces, for terminals too."""
    if row["ended"] == "yes":
        return "yes"
    where = f"stopped at job {plain(row['started_jobs'])} of {plain(row['jobs'])}"
    text = f"{where}, {hours(row['stopped_at_s'])} in, {plain(row['stopped_waiting'])} waiting"
    return text.replace(THIN, " ")


def queue_table(rows: Sequence[Row]) -> Table:
    """Time per dispatch by size of machine and queue, a column per policy."""
    policies = list(dict.fromkeys(row["policy"] for row in rows))
    by_size: dict[tuple[int, int], dict[str, Row]] = {}
    for row in rows:
        by_size.setdefault((row["nodes"], row["jobs"]), {})[row["policy"]] = row
    columns = (Column("nodes"), Column("waiting jobs"), *(Column(name, "ms of CPU") for name in policies))
    lines = tuple(
        (plain(nodes), plain(jobs), *(_queue_words(found[name]) for name in policies))
        for (nodes, jobs), found in by_size.items()
    )
    return Table("One dispatch of made-up queues, mean of up to three", columns, lines)


def _queue_words(row: Row) -> str:
    text = milliseconds(row["dispatch_ms"])
    if not row["asked"]:
        return text
    nothing = f", nothing found {row['fallbacks']} of {row['asked']}" if row["fallbacks"] else ""
    return f"{text}{', proven' if row['proven_fraction'] == 1 else ''}{nothing}"


def number(value: float | None, digits: int = 0) -> str:
    """A number, or nothing."""
    return "" if value is None else plain(value, digits)


def milliseconds(value: float | None) -> str:
    """Milliseconds with as many digits as they are worth."""
    return "" if value is None else plain(value, 2 if value < 10 else 1 if value < 100 else 0)


def percents(fraction: float | None) -> str:
    """A share in percent, without its sign."""
    return "" if fraction is None else plain(100 * fraction)
