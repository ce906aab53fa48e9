"""What the study leaves to read: the table as CSV, the tables for a document, and the page with its picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from planner.pages.markup import Html, document, el, hours, money, percent, plain, signed_money
from planner.pages.scatter import Axis, Point, Series, scatter
from planner.runs.figures import Row
from planner.store.replay_files import write_rows, write_text
from planner.studies.operation.cells import HOLD, RULES, STATIC
from planner.studies.operation.tables import (
    days_table,
    glance_table,
    group_tables,
    group_title,
    groups_of,
    policy_words,
)
from planner.studies.report import StudyTable

HOUR_S = 3600.0
COLOURS = {"requested": "it", "last2": "profit"}


def picture_of(rows: Sequence[Row], currency: str = "EUR") -> Html:
    """The picture of one group; runtimes known ahead are in the tables only."""
    easy = next(row for row in rows if row["policy"] == "easy" and row["estimate"] == "requested")
    cost = easy["energy_cost_eur"]
    series = [
        Series("rules", "other", [_point(row, row["policy"], "other", "square", currency) for row in _rules(rows)]),
        *_held(rows, currency),
        Series(
            "day plans",
            "bad",
            [
                _point(row, policy_words(row), "bad", "diamond", currency, pinned=True)
                for row in rows
                if row["policy"] in STATIC
            ],
        ),
        *_limits(rows, currency),
    ]
    return scatter(
        f"Saved against EASY, and what it costs in waiting: {group_title(rows[0])}",
        [each for each in series if each.points],
        Axis("mean wait added to EASY's", lambda value: _added(value * HOUR_S)),
        Axis(f"saved, {currency}", lambda value: plain(value, 0 if cost > 100 else 1)),
        beside=Axis("of EASY's energy cost", lambda value: percent(value / cost), unit=abs(cost) / 100),
        name="picture",
    )


def _rules(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["policy"] in RULES]


def _held(rows: Sequence[Row], currency: str) -> list[Series]:
    found = []
    for estimate, colour in COLOURS.items():
        chosen = _whole(rows, estimate)
        shape = "circle" if estimate == "requested" else "ring"
        points = [_point(row, f"{row['max_delay_h']} h", colour, shape, currency) for row in chosen]
        found.append(Series(f"hold by promise, {estimate} times", colour, points, joined=True))
    return found


def _limits(rows: Sequence[Row], currency: str) -> list[Series]:
    """The bound of each promise, above the policy that made it: nothing within so long of EASY's starts saves more."""
    chosen = [row for row in _whole(rows, "requested") if row["bound_saves_eur"] is not None]
    points = [
        Point(
            f"limit {row['max_delay_h']} h",
            row["added_wait_s"] / HOUR_S,
            row["bound_saves_eur"],
            f"no schedule whose jobs start within {row['max_delay_h']} h of EASY's starts saves more than"
            f" {money(row['bound_saves_eur'], currency)}",
            "good",
            "triangle",
        )
        for row in chosen
    ]
    return [Series("limit: EASY's starts and so long", "good", points, joined=True, dashed=True)]


def _whole(rows: Sequence[Row], estimate: str) -> list[Row]:
    chosen = [row for row in rows if (row["policy"], row["estimate"]) == (HOLD, estimate)]
    return sorted(chosen, key=lambda row: int(row["max_delay_h"]))


def _point(row: Row, name: str, colour: str, shape: str, currency: str, *, pinned: bool = False) -> Point:
    estimate = "" if row["estimate"] == "requested" else f", {row['estimate']}"
    shown = name if row["policy"] == HOLD else f"{name}{estimate}"
    about = (
        f"{policy_words(row)}{estimate}: {signed_money(row['saved_eur'], currency)} saved,"
        f" mean wait {hours(row['mean_wait_s'])}, {_added(row['added_wait_s'])} against EASY"
    )
    return Point(shown, row["added_wait_s"] / HOUR_S, row["saved_eur"], about, colour, shape, pinned)


def _added(seconds: float) -> str:
    text = hours(seconds)
    return f"+{text}" if seconds > 0 and not text.startswith("0:00") else text


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
