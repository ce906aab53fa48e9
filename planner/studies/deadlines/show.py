"""What the study leaves to read: tables as CSV and for a document, and the page with its figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from planner.pages.charts import Line, lines
from planner.pages.markup import Html, document, el
from planner.runs.figures import Row
from planner.store.replay_files import write_rows, write_text
from planner.studies.deadlines.cells import BLIND, Choice
from planner.studies.deadlines.replays import SHARES
from planner.studies.deadlines.rows import Found, published_rows
from planner.studies.deadlines.tables import (
    by_trace,
    count_table,
    published_table,
    stretch_table,
    trace_table,
    wait_table,
)
from planner.studies.table import Table

COLOURS = {"deadline": "a5", "deadline-early": "a1", "conservative": "a0", "easy": "a4"}
WIDTH = 620
"""Of a figure, two of which stand side by side."""

MOST_SHARE = 0.95
"""Curves of waits end here: the longest waits would squeeze all others."""

READING = (
    "The experiments of N\u2019Takp\u00e9 and Suter, \u201cDon\u2019t hurry be happy: a deadline-based backfilling"
    " approach\u201d (JSSPP 2017), made again. A share of the jobs, drawn at random, need only end by a deadline: a day"
    " after submission, or ten times the requested time where that is longer. Deadline-based backfilling (deadline)"
    " gives them tentative reservations that give way when a regular job arrives. Under deadline-early they give way"
    " when a job ends early, too. Conservative and EASY backfilling know no deadlines.",
    "Figures are means over draws, with half the width of their 95 % interval by Student\u2019s t. A stretch is (wait +"
    " requested time) / requested time. Deadline used: (end - submission) / (deadline - submission), of all deadline"
    " jobs and of those that did not start at once. A round: mean CPU time of a scheduling round. Curves of waits are"
    " of the first draw, leave out jobs that start at once, and end at 95 %.",
)


def write_tables(rows: Sequence[Row], draws: Sequence[Row], found: Found, choice: Choice, folder: Path) -> None:
    """Write deadlines.csv, draws.csv, published.csv, deadlines.md and deadlines.html."""
    write_rows(rows, folder / "deadlines.csv")
    write_rows(draws, folder / "draws.csv")
    published = published_rows(rows)
    if published:
        write_rows(published, folder / "published.csv")
    else:
        (folder / "published.csv").unlink(missing_ok=True)
    write_text(folder / "deadlines.md", markdown_of(rows, found, choice))
    write_text(folder / "deadlines.html", page_of(rows, found, choice))


def tables_of(rows: Sequence[Row]) -> list[Table]:
    """Waits, and stretch, misses and usage, of each trace."""
    return [table for group in by_trace(rows) for table in (wait_table(group), stretch_table(group))]


def markdown_of(rows: Sequence[Row], found: Found, choice: Choice) -> str:
    """The tables for a document."""
    first = [trace_table(found, choice), count_table(rows), published_table(published_rows(rows))]
    told = [table.markdown() for table in [*first, *tables_of(rows)]]
    return "\n\n".join(["<!-- made by `plan study deadlines --markdown` -->", *told]) + "\n"


def page_of(rows: Sequence[Row], found: Found, choice: Choice) -> str:
    """The page: the traces, then the figures and tables of each."""
    title = "Deadline-based backfilling"
    first = (published_table(published_rows(rows)), trace_table(found, choice), count_table(rows))
    parts: list[Html] = [el("h2", "What was published, traces and deadlines"), *(table.html() for table in first)]
    for group in by_trace(rows):
        trace = group[0]["trace"]
        parts += [
            el("h2", trace),
            el(
                "div",
                _by_share("Mean wait of regular jobs", group, "wait_regular_s", "hours", 3600.0),
                _by_share("Mean wait of all jobs", group, "wait_all_s", "hours", 3600.0),
                _by_share("Mean stretch of regular jobs", group, "stretch_regular", "stretch", 1.0),
                _by_share("Largest stretch of regular jobs", group, "max_stretch_regular", "stretch", 1.0),
                [_waits(trace, share, found) for share in dict.fromkeys(row["percent"] for row in group)],
                class_="pair",
            ),
            wait_table(group).html(),
            stretch_table(group).html(),
        ]
    names = ("deadlines.csv", "draws.csv", "published.csv", "deadlines.md")
    files = [[el("a", name, href=name), " "] for name in names]
    header = el("header", el("h1", title), [el("p", each) for each in READING])
    return document(title, header, el("main", parts, id="main"), el("footer", el("p", "All digits: ", files)))


def _by_share(title: str, rows: Sequence[Row], figure: str, unit: str, divisor: float) -> Html:
    """A curve per policy over the share of deadline jobs."""
    policies = dict.fromkeys(row["policy"] for row in rows)
    curves = [
        Line(
            policy,
            COLOURS.get(policy, "a8"),
            [
                (row["percent"], row[figure] / divisor)
                for row in rows
                if row["policy"] == policy and row[figure] is not None
            ],
            dashed=policy in BLIND,
        )
        for policy in policies
    ]
    known = [curve for curve in curves if curve.points]
    return lines(title, known, across="% of jobs with a deadline", up=unit, from_least=True, width=WIDTH)


def _waits(trace: str, share: float, found: Found) -> Html:
    """How long the regular jobs wait that wait at all: a curve per policy, of the first draw."""
    curves = []
    for cell, told in found.items():
        for draw in told["draws"]:
            if (cell.trace, draw["percent"], draw["seed"]) == (trace, share, 0) and draw["regular_waits_s"]:
                points = [
                    (wait / 3600, 100 * part)
                    for part, wait in zip(SHARES, draw["regular_waits_s"], strict=True)
                    if part <= MOST_SHARE
                ]
                curves.append(Line(cell.policy, COLOURS.get(cell.policy, "a8"), points, dashed=cell.policy in BLIND))
    title = f"{share:g} % deadline jobs: regular jobs that wait"
    return lines(title, curves, across="hours at most", up="% of them", at_end=True, width=WIDTH)
