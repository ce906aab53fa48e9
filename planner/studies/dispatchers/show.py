"""What the study leaves to read: tables as CSV and for a document, and the page with its figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from planner.pages.charts import Bar, Line, bar_groups, lines
from planner.pages.markup import Html, document, el, plain
from planner.runs.figures import Row
from planner.store.replay_files import write_rows, write_text
from planner.studies.dispatchers.tables import (
    end_words,
    groups_of,
    milliseconds,
    queue_table,
    replay_table,
)

COLOURS = ("it", "cooling", "profit", "price", "good", "other")
CURVES = ("a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8")
READING = (
    "Every row is one dispatcher or policy on the same jobs, each of which runs as long as it really did; of runtimes"
    " it believes what the table says. A dispatch is a round in which some waiting job had room. Times are CPU time"
    " here; those of the paper are its authors', on their machine and with far more jobs: 400,000 of EURORA and 114,355"
    " of KIT ForHLR II. So their order can be compared, not their size.",
    "A slowdown is (wait + runtime) / runtime. Found nothing: the search of a dispatch had no plan when its time was"
    " over, and the list plan was taken. Proven: the part of the dispatches in which no plan is better for the jobs"
    " that were looked at.",
)


def write_tables(replays: Sequence[Row], queues: Sequence[Row], folder: Path) -> None:
    """Write dispatchers.csv and queues.csv, as far as there are rows, dispatchers.md and dispatchers.html."""
    for name, rows in (("dispatchers.csv", replays), ("queues.csv", queues)):
        if rows:
            write_rows(rows, folder / name)
        else:
            (folder / name).unlink(missing_ok=True)
    write_text(folder / "dispatchers.md", markdown_of(replays, queues))
    write_text(folder / "dispatchers.html", page_of(replays, queues))


def markdown_of(replays: Sequence[Row], queues: Sequence[Row]) -> str:
    """The tables for a document."""
    tables = [replay_table(group) for group in groups_of(replays)] + ([queue_table(queues)] if queues else [])
    told = [table.markdown() for table in tables]
    return "\n\n".join(["<!-- made by `plan study dispatchers --markdown` -->", *told]) + "\n"


def page_of(replays: Sequence[Row], queues: Sequence[Row]) -> str:
    """The page: slowdown, waits and time per dispatch of each machine, all figures, then how dispatches grow."""
    title = "Dispatchers for large machines with node classes"
    main = el(
        "main",
        [_machine(rows) for rows in _trials(replays)],
        _growth(queues) if queues else None,
        id="main",
    )
    names = [*(["dispatchers.csv"] if replays else []), *(["queues.csv"] if queues else []), "dispatchers.md"]
    files = [[el("a", name, href=name), " "] for name in names]
    header = el("header", el("h1", title), [el("p", each) for each in READING])
    return document(title, header, main, el("footer", el("p", "All digits: ", files)))


def replay_lines(rows: Sequence[Row]) -> list[dict[str, object]]:
    """The rows of replays with what people ask first, for a terminal."""
    return [
        {
            "policy": row["policy"],
            "slowdown": _or_dash(row["stretch"]),
            "wait_s": _or_dash(row["wait_s"]),
            "dispatch_ms": _or_dash(row["dispatch_ms"]),
            "published_ms": "no end" if row["published_ended"] == "no" else _or_dash(row["published_dispatch_ms"]),
            "most_ms": _or_dash(row["dispatch_most_ms"]),
            "cpu_s": row["cpu_s"],
            "nothing": _or_dash(row["fallbacks"]),
            "ended": end_words(row),
        }
        for row in rows
    ]


def queue_lines(rows: Sequence[Row]) -> list[dict[str, object]]:
    """The rows of made-up queues for a terminal."""
    names = ("nodes", "jobs", "policy", "dispatch_ms", "dispatch_most_ms", "started", "proven_fraction", "fallbacks")
    return [{name: _or_dash(row[name]) for name in names} for row in rows]


def _or_dash(value: object) -> object:
    return "-" if value is None else value


def _trials(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of each machine and trace."""
    trials: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        trials.setdefault((row["machine"], row["trace"]), []).append(row)
    return list(trials.values())


def _machine(rows: Sequence[Row]) -> list[Html]:
    first = rows[0]
    name = f"{first['machine']}, {plain(first['jobs'])} jobs of {first['trace']}"
    return [
        el("h2", name),
        _bars("Mean slowdown", rows, "stretch", 2),
        _bars("Mean wait [s]", rows, "wait_s", 0),
        _dispatch_bars(rows),
        *(replay_table(group).html() for group in groups_of(rows)),
    ]


def _bars(title: str, rows: Sequence[Row], figure: str, digits: int) -> Html:
    """A group per policy, with a bar per estimate."""
    colour = _colours(rows)
    groups: dict[str, list[Bar]] = {}
    for row in rows:
        value = row[figure]
        text = "stopped" if value is None else plain(value, digits)
        groups.setdefault(row["policy"], []).append(Bar(row["estimate"], value, text, colour[row["estimate"]]))
    return bar_groups(title, list(groups.items()))


def _dispatch_bars(rows: Sequence[Row]) -> Html:
    """Mean time of a dispatch, ours and published."""
    colour = _colours(rows)
    groups: dict[str, list[Bar]] = {}
    for row in rows:
        bars = groups.setdefault(row["policy"], [])
        for word, value in ((row["estimate"], row["dispatch_ms"]), ("published", row["published_dispatch_ms"])):
            if value is not None:
                told = word if word == row["estimate"] else f"{row['estimate']}, published"
                bars.append(Bar(told, value, milliseconds(value), "other" if told != word else colour[word]))
    return bar_groups("Mean CPU time of a dispatch [ms], and what was published", list(groups.items()))


def _colours(rows: Sequence[Row]) -> dict[str, str]:
    estimates = dict.fromkeys(row["estimate"] for row in rows)
    return {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(estimates)}


def _growth(rows: Sequence[Row]) -> list[Html]:
    sizes = list(dict.fromkeys(row["jobs"] for row in rows))
    return [
        el("h2", "How a dispatch grows with machine and queue"),
        el(
            "p",
            "Queues are made up, on nodes of 20 cores and 64 GB of which half are taken and a fifth half taken."
            " Dispatchers look at no more than 100 jobs.",
        ),
        *(_curves(jobs, [row for row in rows if row["jobs"] == jobs]) for jobs in sizes),
        queue_table(rows).html(),
    ]


def _curves(jobs: int, rows: Sequence[Row]) -> Html:
    """A curve per policy over the nodes, for one length of the queue."""
    policies = list(dict.fromkeys(row["policy"] for row in rows))
    curves = [
        Line(
            name,
            CURVES[place % len(CURVES)],
            [(row["nodes"], max(row["dispatch_ms"], 1e-3)) for row in rows if row["policy"] == name],
        )
        for place, name in enumerate(policies)
    ]
    return lines(f"{plain(jobs)} waiting jobs", curves, across="nodes", up="ms of CPU", tenfold=True)
