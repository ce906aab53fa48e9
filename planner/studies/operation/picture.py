"""The picture of the study: money saved against added waiting, policies as points, the bound as a line."""

from __future__ import annotations

from collections.abc import Sequence

from planner.pages.markup import Html, hours, money, percent, plain, signed_money
from planner.pages.scatter import Axis, Point, Series, scatter
from planner.runs.figures import Row
from planner.studies.operation.cells import HOLD, RULES, STATIC
from planner.studies.operation.tables import group_title, policy_words

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
