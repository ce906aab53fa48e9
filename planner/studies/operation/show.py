"""What the study leaves to read: the table as CSV, the tables for a document, and the page with its picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from planner.pages.markup import document, el
from planner.runs.figures import Row
from planner.store.replay_files import write_rows, write_text
from planner.studies.operation.picture import picture_of
from planner.studies.operation.tables import days_table, glance_table, group_tables, group_title, groups_of
from planner.studies.report import StudyTable

READING = (
    "Every row is one replay of the same jobs with the runtimes that they really had, settled by the planner's own"
    " accounting on what happened, over the same calendar days for all policies of a group: from the first day of"
    " submission to the day on which the slowest policy ends. All work gets done in them, so revenue is the same, and"
    " money is saved by when energy is bought. Only day plans carried out to the letter leave work undone.",
    "A promise of 6 h: no job is held for more than 6 h in all, from the first moment at which the scheduler would have"
    " started it. The limit is proven: with all jobs, real runtimes and prices known ahead, no schedule in which every"
    " job starts within 6 h of its start under EASY saves more.",
    "Prices of another year are those of the same calendar day and hour, so that weekdays are not the same. A load"
    " other than the trace's has all real and requested times longer or shorter by one factor.",
)


def write_tables(rows: Sequence[Row], folder: Path) -> None:
    """Write operation.csv, operation.md and operation.html."""
    write_rows(rows, folder / "operation.csv")
    write_text(folder / "operation.md", markdown_of(rows))
    write_text(folder / "operation.html", page_of(rows))


def markdown_of(rows: Sequence[Row]) -> str:
    """The tables for a document."""
    groups = groups_of(rows)
    told = [glance_table(groups), *(table for group in groups for table in _tables(group))]
    return (
        "\n\n".join(["<!-- made by `plan study operation --markdown` -->", *(each.markdown() for each in told)]) + "\n"
    )


def page_of(rows: Sequence[Row]) -> str:
    """The page: the picture of the group with the most policies, all groups at a glance, then each of them."""
    groups = groups_of(rows)
    largest = max(groups, key=len)
    title = "Daily operation: what is saved, and what it costs in waiting"
    header = el("header", el("h1", title), [el("p", each) for each in READING])
    main = el(
        "main",
        el("h2", "Money against waiting"),
        picture_of(largest),
        el("h2", "At a glance"),
        glance_table(groups).html(),
        [[el("h2", group_title(group[0])), [table.html() for table in _tables(group)]] for group in groups],
        id="main",
    )
    files = [[el("a", name, href=name), " "] for name in ("operation.csv", "operation.md")]
    return document(title, header, main, el("footer", el("p", "All digits: ", files)))


def terminal_rows(rows: Sequence[Row]) -> list[dict[str, object]]:
    """The rows with what people ask first, for a terminal."""
    shown = {
        "policy": "policy",
        "estimate": "estimate",
        "max_delay_h": "promise_h",
        "profit_eur": "profit",
        "energy_cost_eur": "energy",
        "saved_eur": "saved",
        "saved_percent": "percent",
        "share_of_bound": "of_bound",
        "mean_wait_s": "wait",
        "wait95_s": "wait95",
        "broken_promises": "broken",
        "cpu_s": "cpu_s",
    }
    return [{name: "" if row[key] is None else row[key] for key, name in shown.items()} for row in rows]


def _tables(group: Sequence[Row]) -> list[StudyTable]:
    days = days_table(group)
    return [*group_tables(group), *([] if days is None else [days])]
