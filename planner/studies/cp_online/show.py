"""What the study leaves to read: the table as CSV, tables for a document, and the page with its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from planner.pages.charts import Dot, Line, dots, lines
from planner.pages.markup import Column, Html, document, el, plain
from planner.runs.figures import Row
from planner.store.replay_files import write_rows, write_text
from planner.studies.cp_online.cells import BASE, METRICS, Cell
from planner.studies.cp_online.rows import short_name
from planner.studies.table import Table

NAMES = {"af": "AF", "awf": "AWF", "bsld": "BSLD", "p2sf": "P2SF"}
SHOWN = {
    "awf": ("order-awf", "order-p2sf", "laf-list", "easy"),
    "bsld": ("order-bsld", "order-bsld+", "order-bsld-ahead", "spf-list", "saf-list", "sjf-list", "easy"),
    "af": ("order-af", "order-af-ahead", "order-bsld-ahead", "saf-list", "sjf-list", "easy"),
    "p2sf": ("order-p2sf", "order-p2sf+", "order-p2sf-ratio", "order-awf", "easy"),
}
"""Policies in the figure of each metric, the figures in the paper's order."""

CURVES = (BASE, "order-af", "order-awf", "order-bsld", "order-p2sf")
COLOURS = ("other", "it", "cooling", "good", "price")
MARKS = {"actual": ("it", "circle"), "requested": ("profit", "circle"), "last2": ("cooling", "ring")}
READING = (
    "Every row is one policy on all jobs of a trace, each of which runs as long as it really did. The policy believes"
    " of runtimes what the estimate says. Metrics are percentages of List-REG with the same estimate: lower is better.",
    "The policies order-... plan the whole queue in every scheduling round for a local objective, by a search over"
    " orders of the waiting jobs; published figures beside them are those of the CP Optimizer form with 20 s a round."
    " Where a policy searches, figures are means over its seeds, with the least and the most.",
    "CPU time is that of the whole replay; the paper leaves it out.",
)


def write_tables(rows: Sequence[Row], found: Mapping[Cell, Mapping[str, Any]], folder: Path) -> None:
    """Write cp-online.csv, cp-online.md and cp-online.html."""
    write_rows(rows, folder / "cp-online.csv")
    write_text(folder / "cp-online.md", markdown_of(rows))
    write_text(folder / "cp-online.html", page_of(rows, found))


def markdown_of(rows: Sequence[Row]) -> str:
    """The tables for a document."""
    told = [table_of(group).markdown() for group in groups_of(rows)]
    return "\n\n".join(["<!-- made by `plan study cp-online --markdown` -->", *told]) + "\n"


def page_of(rows: Sequence[Row], found: Mapping[Cell, Mapping[str, Any]]) -> str:
    """The page: a figure per metric, queues over time and by size, then the tables."""
    title = "Planning the whole queue in every round"
    traces = list(dict.fromkeys(row["trace"] for row in rows))
    main = el(
        "main",
        el("h2", "The metrics, in percent of List-REG"),
        [_metric_figure(metric, rows) for metric in SHOWN],
        el("h2", "The queue"),
        [_queue_figure(trace, found) for trace in traces],
        _sizes_table(rows).html(),
        el("h2", "All figures"),
        [table_of(group).html() for group in groups_of(rows)],
        id="main",
    )
    files = [[el("a", name, href=name), " "] for name in ("cp-online.csv", "cp-online.md")]
    header = el("header", el("h1", title), [el("p", each) for each in READING])
    return document(title, header, main, el("footer", el("p", "All digits: ", files)))


def terminal_rows(rows: Sequence[Row]) -> list[dict[str, object]]:
    """The rows with what people ask first, for a terminal."""
    found: list[dict[str, object]] = []
    for row in rows:
        shown: dict[str, object] = {"policy": row["policy"]}
        for metric in METRICS:
            shown[metric] = f"{row[f'{metric}_percent']:.1f}"
            if any(each[f"{metric}_published_percent"] is not None for each in rows):
                shown[f"{metric} published"] = _published_words(row, metric)
        found.append(shown | {"cpu_s": row["cpu_s"], "ms_per_round": row["ms_per_round"]})
    return found


def groups_of(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of each trace and estimate."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["trace"], row["estimate"]), []).append(row)
    return list(groups.values())


def table_of(rows: Sequence[Row]) -> Table:
    """The table of one trace and estimate."""
    columns = [Column("policy", number=False)]
    known = [metric for metric in METRICS if any(row[f"{metric}_published_percent"] is not None for row in rows)]
    for metric in METRICS:
        columns.append(Column(NAMES[metric], "% of List-REG"))
        columns += [Column("published", "%")] if metric in known else []
    columns += [Column("time", "s of CPU"), Column("a round", "ms")]
    lines_of = [
        (
            row["policy"],
            *(text for metric in METRICS for text in _metric_words(row, metric, beside=metric in known)),
            plain(row["cpu_s"], 1),
            "" if row["ms_per_round"] is None else plain(row["ms_per_round"], 3),
        )
        for row in rows
    ]
    base = next(row for row in rows if row["policy"] == BASE)
    values = ", ".join(f"{NAMES[metric]} {plain(base[metric], 2)}" for metric in METRICS)
    title = f"{base['trace']}, {base['estimate']} runtimes, {plain(base['jobs'])} jobs; List-REG has {values}"
    return Table(title, tuple(columns), tuple(lines_of))


def _metric_words(row: Row, metric: str, *, beside: bool) -> list[str]:
    return [_percent_words(row, metric), *([_published_words(row, metric)] if beside else [])]


def _percent_words(row: Row, metric: str) -> str:
    text = plain(row[f"{metric}_percent"], 1)
    if row["seeds"] < 2:
        return text
    return f"{text} ({plain(row[f'{metric}_least_percent'], 1)} to {plain(row[f'{metric}_most_percent'], 1)})"


def _published_words(row: Row, metric: str) -> str:
    known = row[f"{metric}_published_percent"]
    return "" if known is None else str(known)


def _metric_figure(metric: str, rows: Sequence[Row]) -> Html:
    """One line per trace and policy, with a mark per estimate and the published figures as diamonds."""
    lines_of: dict[str, list[Dot]] = {}
    for row in rows:
        if row["policy"] not in SHOWN[metric]:
            continue
        colour, shape = MARKS.get(row["estimate"], ("other", "circle"))
        marks = lines_of.setdefault(f"{short_name(row['trace'])}, {row['policy']}", [])
        marks.append(Dot(f"{row['estimate']}, ours", row[f"{metric}_percent"], colour, shape))
        known = row[f"{metric}_published_percent"]
        if known is not None:
            marks.append(Dot(f"{row['estimate']}, published", known, colour, "diamond"))
    return dots(f"{NAMES[metric]} in percent of List-REG", list(lines_of.items()), middle=100.0, most=200.0)


def _queue_figure(trace: str, found: Mapping[Cell, Mapping[str, Any]]) -> Html:
    believed = next(cell.estimate for cell in found)
    curves = [
        Line(cell.policy, COLOURS[CURVES.index(cell.policy)], told["queue_by_day"])
        for cell, told in found.items()
        if cell.trace == trace and cell.estimate == believed and cell.seed == 0 and cell.policy in CURVES
    ]
    return lines(f"{trace}: waiting jobs over time, {believed} runtimes", curves, across="days", up="jobs that wait")


def _sizes_table(rows: Sequence[Row]) -> Table:
    shares = [key for key in rows[0] if key.startswith("queue_")]
    columns = [Column("trace", number=False), Column("estimate", number=False), Column("policy", number=False)]
    columns += [Column(f"{key.removeprefix('queue_')} % of rounds", "jobs at most") for key in shares]
    lines_of = [(row["trace"], row["estimate"], row["policy"], *(plain(row[key]) for key in shares)) for row in rows]
    return Table("Jobs that wait in a scheduling round", tuple(columns), tuple(lines_of))
