"""What the study leaves to read: tables and curves as CSV, the tables for a document, and the page with its figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from planner.pages.markup import Html, counted, document, el
from planner.runs.figures import Row
from planner.store.provenance import versions
from planner.store.replay_files import write_rows, write_text
from planner.studies.curie23.cells import CALIBRATIONS, DAYS, StudyChoice
from planner.studies.curie23.figures import ahead_figures, profit_figures, search_figures
from planner.studies.curie23.tables import (
    brief_table,
    calibrations_of,
    choices_table,
    nothing_found_words,
    place_tables,
    profit_table,
)
from planner.studies.table import Table

FILES = ("runs.csv", "published.csv", "curves.csv", "curie23.md", "study.json")
READING = (
    "Submissions of CEA Curie, known a day ahead, on 300 nodes of 32 cores. Every day is planned, audited and settled"
    " from where the same run's day before ended. A rule is a common scheduler that walks through time; all others are"
    " searches. The best rule and the best search are those that have earned the most by the last day of submissions.",
    "Runs go on without new jobs until their queues are empty; figures have a line at the last day of submissions. PUE"
    " and days until the queue is empty are of the whole, all else is of the days of submissions.",
)
NO_PAPER = (
    f"The paper's figures are of {DAYS} days. They stand beside a study of all of them, and are left out of this one."
)
NOT_EMPTIED = "The study ends with its last day, before queues are empty: there is no makespan, and no published PUE."


@dataclass(frozen=True)
class StudyFound:
    """The folder of the study, and the rows of its tables."""

    folder: Path
    runs: list[Row] = field(default_factory=list)
    published: list[Row] = field(default_factory=list)
    curves: list[Row] = field(default_factory=list)
    choices: list[Row] = field(default_factory=list)


def write_study(found: StudyFound, choice: StudyChoice, command: Sequence[str]) -> None:
    """Write runs.csv, published.csv, curves.csv, curie23.md, curie23.html, and study.json with what was asked for."""
    write_rows(found.runs, found.folder / "runs.csv")
    write_rows(found.published, found.folder / "published.csv")
    write_rows(found.curves, found.folder / "curves.csv")
    write_text(found.folder / "curie23.md", markdown_of(found, choice))
    write_text(found.folder / "curie23.html", page_of(found, choice))
    asked = {"command": list(command), **asdict(choice), "versions": versions()}
    calibrations = {name: CALIBRATIONS[name].settings for name in choice.calibrations}
    write_text(found.folder / "study.json", json.dumps(asked | {"calibrations": calibrations}, indent=2) + "\n")


def markdown_of(found: StudyFound, choice: StudyChoice) -> str:
    """The tables for a document."""
    parts = ["<!-- made by `plan study curie23 --markdown` -->", *_remarks(choice)]
    for name, tables in _tables(found, choice).items():
        parts += [f"## {_heading(name)}", _words(name, choice), *(table.markdown() for table in tables)]
    return "\n\n".join([*parts, choices_table(found.choices).markdown()]) + "\n"


def page_of(found: StudyFound, choice: StudyChoice) -> str:
    """The page: for each calibration its tables and figures, then what is our choice."""
    title = f"The published study: {counted(choice.days, 'day')} of CEA Curie"
    remarks = [el("p", each, class_="note") for each in _remarks(choice)]
    header = el("header", el("h1", title), [el("p", each) for each in READING], remarks)
    curves, runs = calibrations_of(found.curves), calibrations_of(found.runs)
    sections = [
        _section(name, tables, runs[name], curves[name], choice) for name, tables in _tables(found, choice).items()
    ]
    choices = [el("h2", "What is our choice"), choices_table(found.choices).html()]
    main = el("main", sections, choices, id="main")
    files = [[el("a", name, href=name), " "] for name in FILES]
    return document(title, header, main, el("footer", el("p", "All digits, and what was asked for: ", files)))


def terminal_tables(found: StudyFound, choice: StudyChoice) -> dict[str, list[dict[str, object]]]:
    """What people ask first, for a terminal: two tables for each calibration."""
    published = calibrations_of(found.published)
    told = {}
    for name, rows in calibrations_of(found.runs).items():
        for table in (profit_table(rows, choice.days), brief_table(published.get(name, []), choice.days)):
            told[f"{name}: {table.title}"] = table.plain_rows()
    return told


def remarks_of(found: StudyFound, choice: StudyChoice) -> list[str]:
    """What a reader of the tables has to know besides."""
    nothing = [f"{name}, {words}" for name, rows in _nothing_found(found).items() for words in rows]
    return [*_remarks(choice), *([f"The engine found no plan: {'; '.join(nothing)}"] if nothing else [])]


def _nothing_found(found: StudyFound) -> dict[str, list[str]]:
    return {name: nothing_found_words(rows) for name, rows in calibrations_of(found.runs).items()}


def _remarks(choice: StudyChoice) -> list[str]:
    return [*([] if choice.has_all_days else [NO_PAPER]), *([] if choice.until_empty else [NOT_EMPTIED])]


def _tables(found: StudyFound, choice: StudyChoice) -> dict[str, list[Table]]:
    """The tables of each calibration."""
    published = calibrations_of(found.published)
    return {
        name: [profit_table(rows, choice.days), *place_tables(published.get(name, []), choice.days)]
        for name, rows in calibrations_of(found.runs).items()
    }


def _heading(calibration: str) -> str:
    return f"Calibration: {calibration}"


def _words(calibration: str, choice: StudyChoice) -> str:
    words = CALIBRATIONS[calibration].words
    over = f" Set over it: {', '.join(choice.settings)}." if choice.settings else ""
    return f"{words[0].upper()}{words[1:]}.{over}"


def _section(
    name: str, tables: Sequence[Table], runs: Sequence[Row], curves: Sequence[Row], choice: StudyChoice
) -> list[Html | None]:
    days, nothing = choice.days, nothing_found_words(runs)
    told = "On these days the engine found no plan, and jobs were placed in order of submission: "
    searches = search_figures(curves, days) or el("p", "Figures 5 to 8 need a run of cp, the engine's default search.")
    return [
        el("h2", _heading(name)),
        el("p", _words(name, choice)),
        tables[0].html(),
        el("p", told, "; ".join(nothing), class_="note") if nothing else None,
        profit_figures(curves, days),
        searches,
        ahead_figures(curves, days),
        *(table.html() for table in tables[1:]),
    ]
