"""What a study leaves to read: its tables, and the page, the document and the lines for a terminal made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planner.pages.charts import Line
from planner.pages.markup import MINUS, THIN, Column, Html, document, el, grid, plain
from planner.runs.compare_results import Row
from planner.store.folder import renewed, write_rows, write_text

CURVES = ("a0", "a5", "a4", "a3", "a2", "a1", "a7", "a6", "a8")
"""Colours of curves, one after the other."""

PAIR_WIDTH = 640
"""Of a figure, two of which stand side by side."""

Shown = tuple[Column, Callable[["Row"], str]]
"""A column of a table, and its text in a row."""


@dataclass(frozen=True)
class StudyTable:
    """A table in words: a title, columns, and rows of text.

    ``brief``: titles of the columns that a terminal shows, None for all, none for no table. Documents and terminals
    have only ``every`` so manieth row.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    brief: tuple[str, ...] | None = None
    every: int = 1

    def html(self) -> Html:
        """As part of a page."""
        return grid(self.title, self.columns, self.rows)

    def plain_rows(self) -> list[dict[str, object]]:
        """As rows for a terminal, whose headings differ: those without one get spaces, those that repeat a number."""
        heads: dict[str, int] = {}
        for place, column in enumerate(self.columns):
            title = column.title or " " * (place + 1)
            if self.brief is None or column.title in self.brief:
                heads[title if title not in heads else f"{title} {place + 1}"] = place
        lines = [[cell.replace(THIN, " ").replace(MINUS, "-") for cell in row] for row in self.rows[:: self.every]]
        return [{head: line[place] for head, place in heads.items()} for line in lines]

    def markdown(self) -> str:
        """As part of a document; its spaces are plain ones, so that a terminal can print it."""
        heads = [f"{each.title} [{each.unit}]" if each.unit else each.title for each in self.columns]
        rule = ["---:" if each.number else "---" for each in self.columns]
        lines = ["| " + " | ".join(cells) + " |" for cells in (heads, rule, *self.rows[:: self.every])]
        return "\n".join([f"**{self.title}**", "", *lines]).replace(THIN, " ")


Content = str | Html | StudyTable
"""A paragraph, a figure or a table."""


@dataclass(frozen=True)
class StudySection:
    """A part of the page, and of the document: a heading, and paragraphs, figures and tables."""

    heading: str
    parts: Sequence[Content]

    def html(self) -> list[Html]:
        """As part of a page; a paragraph is plain text."""
        return [el("h2", self.heading), *(_html(part) for part in self.parts)]

    def tables(self) -> list[StudyTable]:
        """Its tables alone."""
        return [part for part in self.parts if isinstance(part, StudyTable)]

    def markdown(self) -> list[str]:
        """Heading, paragraphs and tables; nothing where there are no tables."""
        told = [part.markdown() if isinstance(part, StudyTable) else part for part in self.parts if _is_text(part)]
        return [f"## {self.heading}", *told] if self.tables() else []


@dataclass(frozen=True)
class StudyReport:
    """What a study has to tell: tables as CSV by the names of their files, and the parts of its page.

    ``content`` is what ``--json`` prints, ``notes`` what a reader has to know besides, ``texts`` are other files.
    """

    content: Any = ()
    files: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    sections: Sequence[StudySection] = ()
    notes: Sequence[str] = ()
    texts: Mapping[str, str] = field(default_factory=dict)

    def write(self, folder: Path, name: str, page: str) -> None:
        """Write all files and the page in one step; a table without rows has none. The caller holds the folder."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        with renewed(folder) as fresh:
            for file, rows in self.files.items():
                if rows:
                    write_rows(rows, fresh / file)
                else:
                    (fresh / file).unlink(missing_ok=True)
            for file, text in self.texts.items():
                write_text(fresh / file, text)
            write_text(fresh / f"{name}.md", self.markdown(name))
            write_text(fresh / f"{name}.html", page)

    def markdown(self, name: str) -> str:
        """The tables for a document."""
        told = [text for section in self.sections for text in section.markdown()]
        return "\n\n".join([f"<!-- made by `plan study {name} --markdown` -->", *self.notes, *told]) + "\n"

    def page(self, name: str, title: str, reading: Sequence[str]) -> str:
        """The page: how to read it, its parts, and where all digits are."""
        notes = [el("p", note, class_="note") for note in self.notes]
        header = el("header", el("h1", title), [el("p", each) for each in reading], notes)
        names = [*(file for file, rows in self.files.items() if rows), *self.texts, f"{name}.md"]
        files = [[el("a", file, href=file), " "] for file in names]
        main = el("main", [section.html() for section in self.sections], id="main")
        return document(title, header, main, el("footer", el("p", "All digits: ", files)))

    def terminal(self) -> dict[str, list[dict[str, object]]]:
        """The tables for a terminal, as rows by their titles; where one repeats, with the heading before it."""
        shown: dict[str, list[dict[str, object]]] = {}
        for section in self.sections:
            for table in section.tables():
                if table.rows and table.brief != ():
                    repeats = table.title in shown
                    shown[f"{section.heading}: {table.title}" if repeats else table.title] = table.plain_rows()
        return shown


def _is_text(part: Content) -> bool:
    return not isinstance(part, Html)


def _html(part: Content) -> Html:
    if isinstance(part, StudyTable):
        return part.html()
    return part if isinstance(part, Html) else el("p", part)


def pair(figures: Iterable[Html]) -> Html:
    """Figures side by side where there is room."""
    return el("div", list(figures), class_="pair")


def grouped(rows: Iterable[Row], *names: str) -> list[list[Row]]:
    """The rows that have some columns in common, in order of the first of each."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return list(groups.values())


def table_of(title: str, rows: Iterable[Row], columns: Sequence[Shown], **more: Any) -> StudyTable:
    """A table with a line for each row."""
    lines = tuple(tuple(text(row) for _, text in columns) for row in rows)
    return StudyTable(title, tuple(column for column, _ in columns), lines, **more)


def words(title: str, key: str, **more: Any) -> Shown:
    """A column of text."""
    return Column(title, number=False, **more), lambda row: str(row[key])


def numbers(title: str, unit: str, key: str, digits: int = 0, *, times: float = 1.0, nothing: str = "") -> Shown:
    """A column of numbers."""
    return Column(title, unit), lambda row: nothing if row[key] is None else plain(times * row[key], digits)


def curves(
    rows: Iterable[Row],
    name: str,
    across: str,
    up: Callable[[Row], float | None],
    *,
    colours: Mapping[str, str] | None = None,
    dashed: Callable[[Row], bool] = lambda row: False,
) -> list[Line]:
    """A curve for each value of a column, without the points of which nothing is known."""
    found = []
    for place, group in enumerate(grouped(rows, name)):
        label = group[0][name]
        points = [(row[across], value) for row in group if (value := up(row)) is not None]
        colour = CURVES[place % len(CURVES)] if colours is None else colours.get(label, "a8")
        if points:
            found.append(Line(label, colour, points, dashed=dashed(group[0])))
    return found
