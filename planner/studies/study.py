"""What every study is: options, cells that are measured and kept, and a report of tables and figures; one runner.

A study is a frozen dataclass whose fields are the options of its command, its docstring the command's help. It names
its cells and makes a report of what they say. The runner makes what is missing, side by side in processes, keeps every
piece, and writes the report's files: CSV tables, a document and a page.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from functools import partial, reduce
from pathlib import Path
from typing import Any, ClassVar

from planner.errors import InputError
from planner.limits import PROCESSORS, Bounds
from planner.places import full_path
from planner.runs.compare_results import Row
from planner.runs.parallel_calls import TaskEngine
from planner.scenario.schema import Scenario
from planner.store.folder import held
from planner.studies.kept_pieces import OnDone, Task, clear, code_mark, kept, make_missing, piece, scenario_facts
from planner.studies.report import StudyReport
from planner.text_files import digest

OPTION = "option"
"""Where a field keeps the option that it is."""

ENDINGS = (".gz", ".swf", ".csv", ".parquet")
MOST_WORKERS = 2
REPORTS = Path("reports")


@dataclass(frozen=True)
class StudyOption:
    """How a field is told on the command line.

    ``kind``: ``text``, ``number``, ``flag``, ``time`` (in seconds), ``path``; by commas ``names``, ``numbers`` (whole
    ones) or ``percents``, each once, or a ``list`` of names that may repeat; ``files`` (no flag; at least one) or
    ``files if any``; ``texts`` (repeated).
    ``flags`` where they are not the field's name.
    """

    kind: str
    words: str
    flags: tuple[str, ...] = ()
    bounds: Bounds | None = None
    metavar: str | None = None
    name: str = ""
    default: Any = None

    @property
    def example(self) -> str:
        """How the default is written, of durations and numbers."""
        if self.kind == "time":
            return f"{self.default:g}s"
        return ",".join(f"{each:g}" for each in self.default) or "1 or 1,3"


def option(default: Any, kind: str, words: str, *flags: str, **more: Any) -> Any:
    """A field of a study that is an option of its command."""
    return field(default=default, metadata={OPTION: StudyOption(kind, words, flags, default=default, **more)})


def options_of(study: type[Study]) -> list[StudyOption]:
    """The options of a study's command: what it alone has first, then those of all that measure something."""
    common = {each.name for each in fields(Study)}
    idle = set() if study.measures else common - {"out"}
    told = [each for each in fields(study) if OPTION in each.metadata and each.name not in idle]
    return [
        replace(each.metadata[OPTION], name=each.name, flags=each.metadata[OPTION].flags or (_flag(each.name),))
        for each in sorted(told, key=lambda each: each.name in common)
    ]


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


@dataclass(frozen=True)
class StudyCell:
    """One piece of a study: the function that measures it, with all that this is made from.

    ``labels`` say what it is of, and stand before its figures in what is found. The function gives plain data.
    """

    name: str
    labels: Mapping[str, Any]
    measure: Callable[..., Mapping[str, Any]]
    given: Mapping[str, Any]
    kind: str = "replays"


@dataclass(frozen=True, kw_only=True)
class Study:
    """Base of all studies; `report` has what they leave."""

    name: ClassVar[str]
    title: ClassVar[str]
    reading: ClassVar[tuple[str, ...]]
    measures: ClassVar[bool] = True

    out: Path = option(REPORTS, "path", "Where results go, below OUT/studies.", metavar="DIR")
    workers: int = option(1, "number", "Processes side by side.", bounds=Bounds(1, MOST_WORKERS))
    backend: str = option(
        "processes", "text", "Where cells are made: processes of this machine, or dask.", metavar="processes|dask"
    )
    address: str | None = option(None, "text", "Scheduler of --backend dask.", metavar="HOST:PORT")
    fresh: bool = option(False, "flag", "Start anew instead of going on.")
    command: tuple[str, ...] = ()
    label: str = ""

    @property
    def folder(self) -> Path:
        """Where its files are; a call of `plan study all` has a folder of its own name."""
        return full_path(self.out) / "studies" / (self.label or self.name)

    def cells(self) -> list[StudyCell]:
        """All that is measured; cells of one name are measured once."""
        raise NotImplementedError

    def report(self, found: Sequence[Row]) -> StudyReport:
        """What is told of what was found: a row for each cell, its labels and then its figures."""
        raise NotImplementedError

    def count(self) -> int:
        """How many pieces there are, kept or to be made."""
        return len({(cell.kind, cell.name) for cell in self.cells()})

    def stages(self, on_done: OnDone) -> Iterator[list[Row]]:
        """What is found, more each time; the files are written after each."""
        yield self.found(self.cells(), on_done)

    @property
    def place(self) -> TaskEngine:
        """Where its cells are made."""
        return TaskEngine(self.backend, self.address, self.workers)

    def found(self, cells: Sequence[StudyCell], on_done: OnDone, *, in_turn: bool = False) -> list[Row]:
        """What cells say; those that are missing are made, ``in_turn`` one after the other in this process."""
        marks: dict[Path, str] = {}
        tasks = [self._task(cell, marks) for cell in cells]
        make_missing(tasks, TaskEngine(workers=1) if in_turn else self.place, on_done)
        return [{**cell.labels, **json.loads(kept(task))} for task, cell in zip(tasks, cells, strict=True)]

    def run(self, on_done: OnDone = lambda name: None) -> StudyReport:
        """Run the study, or go on with it, and write its files."""
        report = StudyReport()
        with held(self.folder):
            if self.fresh:
                clear(self.folder / "pieces")
            for found in self.stages(on_done):
                report = self.report(found)
                report.write(self.folder, self.name, self.page(report))
        return report

    def page(self, report: StudyReport) -> str:
        """Its page."""
        return report.page(self.name, self.title, self.reading)

    def _task(self, cell: StudyCell, marks: dict[Path, str]) -> Task:
        """How a cell is made, and where it is kept: under a mark of its code and of all that it is given."""
        facts = {name: _fact(value, marks) for name, value in cell.given.items()}
        maker = cell.measure.__module__.rpartition(".")[2]
        path = piece(self.folder, cell.kind, cell.name.replace("*", "x"), facts, code_mark(maker))
        return Task(cell.name, path, partial(_packed, cell.measure, cell.given))


def _fact(value: Any, marks: dict[Path, str]) -> Any:
    """What stands for something that a cell is given: a digest for a file, which is read once, else its plain data."""
    if isinstance(value, Path):
        if value not in marks:
            marks[value] = digest(value)
        return marks[value]
    if isinstance(value, Scenario):
        return scenario_facts(value)
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def _packed(measure: Callable[..., Mapping[str, Any]], given: Mapping[str, Any]) -> bytes:
    return json.dumps(measure(**given), sort_keys=True).encode()


@dataclass(frozen=True, kw_only=True)
class TraceStudy(Study):
    """Base of studies on traces of jobs."""

    traces: tuple[Path, ...] = option((), "files", "SWF traces to run it on.", metavar="TRACE...")
    processors: int | None = option(None, "number", "Machine size; else the SWF header's.", bounds=PROCESSORS)
    jobs: int | None = option(None, "number", "Only the first jobs of each trace.", bounds=Bounds(1, math.inf))

    def __post_init__(self) -> None:
        require_traces(self.traces)

    def named_traces(self) -> dict[str, Path]:
        """The files in full, by the names of their traces."""
        return {trace_name(path): full_path(path) for path in self.traces}

    def given(self, path: Path) -> Row:
        """What cells are given to read a trace."""
        return {"path": path, "processors": self.processors, "jobs": self.jobs}


def trace_name(path: Path) -> str:
    """A trace's name: that of its file."""
    return reduce(str.removesuffix, ENDINGS, path.name)


def require_traces(given: Sequence[Path]) -> None:
    """InputError when a file is missing, or when two have one name."""
    for path in given:
        if not path.is_file():
            raise InputError(f"{full_path(path)}: there is no such trace")
    names = [trace_name(path) for path in given]
    if len(set(names)) < len(names):
        raise InputError(f"two traces have one name: {', '.join(sorted(names))}; give each another file name")


def require_known(what: str, given: Sequence[str], known: Sequence[str]) -> None:
    """InputError for a name that a study does not know, and where nothing is named."""
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None or not given:
        problem = f"unknown {what} {unknown!r}" if given else f"no {what} is named"
        raise InputError(f"{problem}; known: {', '.join(known)}")
