"""Claims about what all studies share: pieces that are kept, files that are written, and options that are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from planner.cli.study import _read
from planner.errors import InputError
from planner.limits import Bounds
from planner.pages.markup import Column
from planner.runs.compare_results import Row
from planner.studies.cp_online import CpOnlineStudy
from planner.studies.curie23 import Curie23Study
from planner.studies.deadlines import DeadlineStudy
from planner.studies.dispatchers import DispatcherStudy
from planner.studies.metrics import MetricsStudy
from planner.studies.operation import OperationStudy
from planner.studies.report import StudyReport, StudySection, StudyTable, grouped
from planner.studies.study import Study, StudyCell, option, options_of

MADE: list[int] = []


def doubled(number: int, path: Path) -> Row:
    """Twice a number and the text of a file."""
    MADE.append(number)
    return {"twice": 2 * number, "text": path.read_text("utf-8")}


@dataclass(frozen=True, kw_only=True)
class ToyStudy(Study):
    """Numbers, doubled."""

    name = "toy"
    title = "A toy"
    reading = ("Every number is doubled.",)
    numbers: tuple[int, ...] = option((1, 2), "numbers", "By commas.", bounds=Bounds(1, 9))
    source: Path = option(Path(), "path", "A text.")
    time_s: float = option(90.0, "time", "At most.", "--time")

    def cells(self) -> list[StudyCell]:
        """One for each number."""
        given = [{"number": number, "path": self.source} for number in self.numbers]
        return [StudyCell(f"toy/{each['number']}", {"number": each["number"]}, doubled, each) for each in given]

    def report(self, found: Sequence[Row]) -> StudyReport:
        """Two tables of one title, and a file that is empty unless a number is large."""
        table = StudyTable(
            "Doubled", (Column("twice"), Column("text")), ((str(found[0]["twice"]), "a"),), brief=("twice",)
        )
        sections = [StudySection("First", [table]), StudySection("Second", ["In words.", table])]
        files = {"toy.csv": list(found), "large.csv": [row for row in found if row["twice"] > 10]}
        return StudyReport(list(found), files, sections)


@pytest.fixture
def study(tmp_path: Path) -> ToyStudy:
    """The toy with a text, and nothing made."""
    MADE.clear()
    source = tmp_path / "source.txt"
    source.write_text("a", encoding="utf-8")
    return ToyStudy(source=source, out=tmp_path)


def again(study: ToyStudy, numbers: tuple[int, ...], *, fresh: bool = False) -> list[int]:
    """What a later run of the study makes, with these numbers."""
    MADE.clear()
    ToyStudy(source=study.source, out=study.out, numbers=numbers, fresh=fresh).run()
    return list(MADE)


def test_only_what_is_missing_is_made(study: ToyStudy) -> None:
    """A new number is, and all where the file has changed, or where the user says so."""
    done: list[str] = []
    report = study.run(done.append)
    assert (MADE, done) == ([1, 2], ["toy/1", "toy/2"])
    assert report.content == [{"number": 1, "twice": 2, "text": "a"}, {"number": 2, "twice": 4, "text": "a"}]
    assert again(study, (1, 2, 3)) == [3]
    assert again(study, (2,), fresh=True) == [2]
    assert again(study, (1, 2)) == [1]
    study.source.write_text("b", encoding="utf-8")
    assert again(study, (1, 2)) == [1, 2]


def test_a_table_without_rows_has_no_file(study: ToyStudy) -> None:
    """Nor a link on the page; that of an earlier run goes."""
    again(study, (6,))
    assert (study.folder / "toy.csv").read_text("utf-8").splitlines() == ["number,text,twice", "6,a,12"]
    assert 'href="large.csv"' in (study.folder / "toy.html").read_text("utf-8")
    again(study, (1,))
    assert not (study.folder / "large.csv").exists()
    assert "large.csv" not in (study.folder / "toy.html").read_text("utf-8")


def test_documents_and_terminals(study: ToyStudy) -> None:
    """A document has headings and words; a terminal some columns, and a heading where a title repeats."""
    report = study.run()
    assert report.terminal() == {"Doubled": [{"twice": "2"}], "Second: Doubled": [{"twice": "2"}]}
    text = (study.folder / "toy.md").read_text("utf-8")
    assert text.startswith("<!-- made by `plan study toy --markdown` -->\n\n## First\n\n**Doubled**\n")
    assert "## Second\n\nIn words.\n\n**Doubled**" in text


def test_options_are_read_as_they_are_written() -> None:
    """Numbers by commas or repeated, each once and within their bounds; times in seconds; what is common comes last."""
    options = {each.name: each for each in options_of(ToyStudy)}
    assert list(options) == ["numbers", "source", "time_s", "out", "workers", "backend", "address", "fresh"]
    assert (options["numbers"].example, options["time_s"].example) == ("1,2", "90s")
    assert (options["out"].flags, options["time_s"].flags) == (("--out",), ("--time",))
    assert _read(options["numbers"], ["3, 4", "3"]) == (3, 4)
    assert _read(options["time_s"], "2m") == 120.0
    for texts, says in (
        (["x"], "cannot read 'x' as numbers; write 1,2"),
        ([","], "names no number"),
        (["10"], "is 10;"),
    ):
        with pytest.raises(InputError, match=f"--numbers.*{says}"):
            _read(options["numbers"], texts)


def test_one_is_enough_of_what_a_study_counts() -> None:
    """Seeds, jobs, steps, queues, repeats; shares and evaluations may be none, and workers left open."""
    studies = (CpOnlineStudy, DeadlineStudy, MetricsStudy, Curie23Study, DispatcherStudy, OperationStudy)
    counted = [(study, each) for study in studies for each in options_of(study) if each.bounds is not None]
    least = {(study.__name__, each.name): each.bounds.low for study, each in counted if each.bounds}
    none = {("CpOnlineStudy", "evaluations"), ("DispatcherStudy", "evaluations"), ("DeadlineStudy", "percents")}
    assert {key for key, low in least.items() if low != 1} == none | {("Curie23Study", "workers")}
    assert {low for low in least.values() if low != 1} == {0}


def test_rows_stand_in_the_order_of_the_first_of_each_group() -> None:
    rows = [{"a": 2, "b": 1}, {"a": 1, "b": 1}, {"a": 2, "b": 2}]
    assert grouped(rows, "a") == [[rows[0], rows[2]], [rows[1]]]
