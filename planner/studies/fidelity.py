"""The fidelity ledger: every table, figure and stated number of the papers, with ours, and whether it is met.

What was published stands in ``published_figures``: tables of their own, and ``stated.csv`` for all else. ``papers.csv``
declares what the papers have. Ours are read from the files that `plan study all` leaves.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from planner.pages.markup import Column, plain
from planner.runs.compare_results import Row
from planner.studies.published import (
    CP_ONLINE_CELLS,
    DISPATCHERS,
    METRICS,
    POLICIES,
    POLICY_CHANGES,
    PREDICTORS,
    TRACES,
    rows_of_table,
)
from planner.studies.report import StudyReport, StudySection, StudyTable, grouped, numbers, table_of, words
from planner.studies.study import Study, StudyCell

STATUSES = ("met", "better", "missed", "no data", "not run", "unread", "drawn", "base")
"""What a cell can be: unread cannot be read for certain in our copy, drawn has no numbers, base is so by definition."""

HERE = ("met", "better", "missed", "not run")
"""Cells that can be met with the data that are here."""

ABSENT = {
    "CTC-SP2": "the log CTC-SP2-1996-3.1",
    "BW201911": "the logs of Blue Waters",
    "SDSC-DS": "the log SDSC-DS-2004-2.1",
    "ANL-INTREPID": "the log ANL-Intrepid-2009-1",
}
"""Logs that are not at hand, by the papers' names."""

DISPATCHED = "of EURORA 5,930 jobs are public, of ForHLR II none is at hand; other jobs and another machine"


@dataclass(frozen=True)
class Cell:
    """A published number, or a figure without numbers, and ours.

    ``sense``: equal, lower or higher (which is better), at most, at least, drawn, base. ``published`` is as it is
    printed, empty where it cannot be read. ``elsewhere`` is ours with other jobs than the paper's.
    """

    paper: str
    place: str
    row: str
    column: str
    published: str
    unit: str = ""
    sense: str = "equal"
    ours: float | None = None
    source: str = ""
    absent: str = ""
    why: str = ""
    elsewhere: float | None = None

    @property
    def part(self) -> str:
        """Where it stands on the page: tables by themselves, all figures together, and the text."""
        return "figures" if self.place.startswith("Figure") else self.place

    @property
    def rounding(self) -> float:
        """Half of the last printed digit."""
        number, _, power = self.published.lower().partition("e")
        return 0.5 * 10.0 ** (int(power or 0) - len(number.partition(".")[2]))

    @property
    def by(self) -> float | None:
        """How far ours is from what was published."""
        return None if self.ours is None or not self.published else self.ours - float(self.published)

    @property
    def status(self) -> str:
        """One of `STATUSES`."""
        if self.sense == "base":
            return "base"
        if self.sense == "drawn":
            return "drawn" if self.source else "no data" if self.absent else "not run"
        if not self.published:
            return "unread"
        if self.by is None:
            return "no data" if self.absent else "not run"
        if self.sense in ("at most", "at least"):
            return "met" if (self.by <= 0 if self.sense == "at most" else self.by >= 0) else "missed"
        if abs(self.by) <= self.rounding + 1e-9:
            return "met"
        better = {"lower": self.by < 0, "higher": self.by > 0}
        return "better" if better.get(self.sense) else "missed"


class Outputs:
    """The files of studies below a folder, each read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.read: dict[str, list[dict[str, str]]] = {}

    def rows(self, file: str) -> list[dict[str, str]]:
        """The rows of a file; none where it is missing."""
        if file not in self.read:
            path = self.folder / file
            self.read[file] = list(csv.DictReader(path.open(encoding="utf-8"))) if path.is_file() else []
        return self.read[file]

    def find(self, file: str, where: str) -> dict[str, str] | None:
        """The first row with the values of ``where``, such as ``trace=KTH-SP2;policy=easy``; a trace by its begin."""
        wanted = dict(part.split("=", 1) for part in where.split(";") if part)
        return next((row for row in self.rows(file) if all(_is(row, *each) for each in wanted.items())), None)


def _is(row: Mapping[str, str], name: str, value: str) -> bool:
    found = row.get(name, "")
    return found.upper().startswith(value.upper()) if name == "trace" else found == value


def ledger_cells(folder: Path) -> list[Cell]:
    """Every cell of the papers with ours from the studies below a folder, and the reason for what is missed."""
    outputs = Outputs(folder)
    makers = (_stated, _policies, _predictors, _queue, _dispatchers)
    earlier, reasons = rows_of_table("told"), rows_of_table("reasons")
    cells = [_explained(cell, earlier, reasons) for make in makers for cell in make(outputs)]
    order = {(row["paper"], row["place"]): number for number, row in enumerate(rows_of_table("papers"))}
    return sorted(cells, key=lambda cell: order.get((cell.paper, cell.place), len(order)))


def _explained(cell: Cell, told: Sequence[Mapping[str, str]], reasons: Sequence[Mapping[str, str]]) -> Cell:
    """A cell with what an earlier run told of it, and with the reason for what is missed or missing."""
    if cell.ours is None:
        names = ("paper", "place", "row", "column")
        earlier = (row for row in told if all(row[name] == getattr(cell, name) for name in names))
        if row := next(earlier, None):
            source = f"an earlier run, told in docs/{row['document']}"
            cell = replace(cell, ours=float(row["ours"]), source=source)
    absent = cell.absent or next((words for log, words in ABSENT.items() if _speaks_of(cell, log)), "")
    cell = replace(cell, absent=absent)
    if cell.status == "no data":
        return replace(cell, why=cell.why or absent)
    if cell.status not in ("missed", "not run") or cell.why:
        return cell
    named = f"{cell.row} {cell.column}"
    known = (
        each["why"]
        for each in reasons
        if (each["paper"], each["place"], each["status"]) == (cell.paper, cell.place, cell.status)
        and each["contains"] in named
    )
    return replace(cell, why=next(known, ""))


def counts_of(cells: Sequence[Cell]) -> list[Row]:
    """Of each paper, and of all: how many cells are what, and what part is met.

    That part is of those with data here: met or better.
    """
    groups = {paper: [cell for cell in cells if cell.paper == paper] for paper in dict.fromkeys(c.paper for c in cells)}
    groups["all"] = list(cells)
    found = []
    for paper, group in groups.items():
        own = Counter(cell.status for cell in group)
        here = sum(own[name] for name in HERE)
        share = 100 * (own["met"] + own["better"]) / here if here else None
        found.append(
            {"paper": paper, "cells": own.total(), **{name: own[name] for name in STATUSES}, "share_percent": share}
        )
    return found


def _speaks_of(cell: Cell, log: str) -> bool:
    return any(log in text.upper() for text in (cell.row, cell.column))


def _number(row: Mapping[str, str] | None, name: str) -> float | None:
    return float(row[name]) if row and row.get(name) else None


def _stated(outputs: Outputs) -> Iterator[Cell]:
    """What ``stated.csv`` has, each with where ours stands."""
    for told in rows_of_table("stated"):
        row = outputs.find(told["file"], told["where"]) if told["file"] else None
        ours = _number(row, told["value"]) if told["value"] else None
        source = told["file"] if row is not None and (ours is not None or told["sense"] == "drawn") else ""
        if ours is not None and told["times"]:
            ours *= float(told["times"])
        absent = told["why"].removeprefix("no data: ") if told["why"].startswith("no data: ") else ""
        names = ("paper", "place", "row", "column", "published", "unit", "sense", "why")
        cell = Cell(**{name: told[name] for name in names})  # type: ignore[arg-type]
        yield replace(cell, ours=ours, source=source, absent=absent)


def _policies(outputs: Outputs) -> Iterator[Cell]:
    """Table II of the metrics paper."""
    file = "metrics-policies/published.csv"
    for metric in METRICS:
        for policy in ("list", *POLICIES):
            for estimate in ("actual", "requested"):
                for trace in TRACES:
                    cell = Cell("metrics", "Table II", f"{metric} {policy}", f"{trace}, {estimate}", "0", "%", "base")
                    if policy != "list":
                        where = f"table=II;trace={trace};policy={policy};estimate={estimate};metric={metric}"
                        said = POLICY_CHANGES[trace, estimate, policy][metric]
                        ours = _number(outputs.find(file, where), "ours")
                        cell = replace(cell, published=str(said), sense="equal", ours=ours, source=file)
                    yield cell


def _predictors(outputs: Outputs) -> Iterator[Cell]:
    """Tables III and IV of the metrics paper."""
    file = "metrics-predictors/published.csv"
    printed = {(row["trace"], row["policy"], row["estimate"]): row for row in rows_of_table("predictors")}
    for (trace, policy, estimate), said in PREDICTORS.items():
        row = f"{said.metric} {policy}: {estimate}"
        for table, name, unit in (("III", "change_percent", "%"), ("IV", "r2", "")):
            if text := printed[trace, policy, estimate][name]:
                metric = said.metric if table == "III" else "r2"
                where = f"table={table};trace={trace};policy={policy};estimate={estimate};metric={metric}"
                ours = _number(outputs.find(file, where), "ours")
                yield Cell("metrics", f"Table {table}", row, trace, text, unit, ours=ours, source=file)


def _queue(outputs: Outputs) -> Iterator[Cell]:
    """Table 2 of the paper on planning the queue; beside its CP forms stand ours with the same objective."""
    for (trace, estimate, policy, metric), text in CP_ONLINE_CELLS.items():
        is_ours = policy.startswith("cp-")
        where = f"trace={trace};estimate={estimate};policy={policy.replace('cp-', 'order-')}"
        file = "cp-online-searches/cp-online.csv" if is_ours else "cp-online-lists/cp-online.csv"
        ours = _number(outputs.find(file, where), f"{metric}_percent")
        sense = "base" if policy == "list" else "lower" if is_ours else "equal"
        yield Cell("cp-online", "Table 2", f"{metric} {policy}", f"{trace}, {estimate}", text, "%", sense, ours, file)


def _dispatchers(outputs: Outputs) -> Iterator[Cell]:
    """Tables 1 and 2 of the paper on dispatchers, whose jobs are not at hand: ours are with other jobs."""
    for (machine, estimate, policy), said in DISPATCHERS.items():
        place = {"eurora": "Table 1", "kit-forhlr2": "Table 2"}[machine]
        where = f"machine={machine};estimate={estimate};policy={policy}"
        ours = _number(outputs.find("dispatchers-eurora/dispatchers.csv", where), "dispatch_ms")
        for column, unit, value in (("a dispatch", "ms", said.dispatch_ms), ("simulation", "s", said.simulation_s)):
            text = "no end" if value is None else str(value)
            cell = Cell("dispatchers", place, f"{policy}, {estimate}", column, text, unit, absent=DISPATCHED)
            yield replace(cell, elsewhere=ours if unit == "ms" else None)


def unlisted(cells: Sequence[Cell]) -> list[str]:
    """Tables, figures and texts of the papers of which another number of cells is listed than they have."""
    found = Counter((cell.paper, cell.place) for cell in cells)
    declared = {(row["paper"], row["place"]): int(row["rows"]) * int(row["columns"]) for row in rows_of_table("papers")}
    return [
        f"{paper}, {place}: {found[paper, place]} cells are listed of {declared.get((paper, place), 0)}"
        for paper, place in {**declared, **found}
        if found[paper, place] != declared.get((paper, place))
    ]


def text_of(cell: Cell) -> str:
    """A cell in a table: what was published, ours in brackets, and what it is if it is not met."""
    published = cell.published or "?"
    if cell.sense == "drawn":
        return cell.status
    if cell.elsewhere is not None:
        return f"{published} ({cell.status}; with others {_short(replace(cell, ours=cell.elsewhere))})"
    if cell.ours is None:
        return published if cell.status == "base" else f"{published} ({cell.status})"
    ours = _short(cell)
    by = "" if cell.status != "missed" or cell.by is None else f" by {_short(replace(cell, ours=abs(cell.by)))}"
    word = "" if cell.status in ("met", "unread") else f" {cell.status}{by}"
    return f"{published} ({ours}){word}"


def _short(cell: Cell) -> str:
    """Ours with one digit more than was published, small ones with two that count."""
    value = cell.ours or 0.0
    if value == round(value) and "." not in cell.published:
        return plain(value)
    digits = len(cell.published.partition(".")[2]) + 1 if cell.published and "e" not in cell.published else 2
    text = plain(value, digits) if abs(value) >= 10.0**-digits or not value else f"{value:.1e}"
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


@dataclass(frozen=True, kw_only=True)
class LedgerStudy(Study):
    """Every table, figure and stated number of the five papers with ours, from the files that `plan study all` leaves.

    With --markdown it prints docs/fidelity.md's tables.
    """

    name = "fidelity"
    title = "Every cell of the five papers"
    reading = ("What was published, ours in brackets, and what it is if it is not met within rounding.",)
    measures = False

    def cells(self) -> list[StudyCell]:
        """Nothing is measured."""
        return []

    def report(self, found: Sequence[Row]) -> StudyReport:
        """The counts, then every paper."""
        every = ledger_cells(self.folder.parent)
        counts = counts_of(every)
        shown = [words("paper", "paper"), numbers("cells", "", "cells")]
        shown += [numbers(name, "", name) for name in STATUSES]
        shown.append(numbers("met or better of those with data here", "%", "share_percent", 1, nothing="none"))
        sections = [StudySection("Counts", [table_of("Cells of each paper", counts, shown)])]
        for cells in _by(every, "paper"):
            parts = [part for own in _by(cells, "part") for part in _place(own)]
            sections.append(StudySection(f"{cells[0].paper}: {_counted(cells)}", parts))
        rows = [_row(cell) for cell in every]
        return StudyReport(counts, {"fidelity.csv": rows}, sections)


def _by(cells: Sequence[Cell], name: str) -> list[list[Cell]]:
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(getattr(cell, name), []).append(cell)
    return list(groups.values())


def _counted(cells: Sequence[Cell]) -> str:
    own = Counter(cell.status for cell in cells)
    return ", ".join(f"{own[name]} {name}" for name in STATUSES if own[name])


def _row(cell: Cell) -> Row:
    ours = None if cell.ours is None else float(f"{cell.ours:.6g}")
    by = None if cell.by is None else float(f"{cell.by:.6g}")
    named: Row = {name: getattr(cell, name) for name in ("paper", "place", "row", "column", "published", "unit")}
    return named | {"ours": ours, "status": cell.status, "by": by, "from": cell.source, "why": cell.why}


def _place(cells: Sequence[Cell]) -> Iterator[StudyTable | str]:
    """A table or figure as the paper has it, then the reasons."""
    part = cells[0].part
    lines: list[tuple[str, ...]] = []
    if part in ("figures", "text"):
        columns = ["published (ours)"]
        for cell in cells:
            named = f"{cell.place}: {cell.row}, {cell.column}" if part == "figures" else cell.row
            lines.append((named, text_of(cell)))
    else:
        columns = list(dict.fromkeys(cell.column for cell in cells))
        for own in _by(cells, "row"):
            by_column = {cell.column: text_of(cell) for cell in own}
            lines.append((own[0].row, *(by_column.get(name, "") for name in columns)))
    heads = (Column("", number=False), *(Column(name) for name in columns))
    yield StudyTable(f"{cells[0].paper}, {part}: {_counted(cells)}", heads, tuple(lines), brief=())
    sources = sorted({cell.source for cell in cells if cell.ours is not None or cell.status == "drawn"} - {""})
    if sources:
        calls = dict.fromkeys(source.partition("/")[0] for source in sources if source.endswith(".csv"))
        made = f" (`plan study all --only {','.join(calls)}`)" if calls else ""
        yield f"Ours: {', '.join(sources)}{made}."
    for group in grouped(({"status": cell.status, "why": cell.why} for cell in cells if cell.why), "status", "why"):
        yield f"{group[0]['status'].capitalize()}, {len(group)}: {group[0]['why']}."
