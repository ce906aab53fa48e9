"""Claims about job tables as files: which columns and rows are a table, and where something is wrong."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from planner.errors import FileFormatError, InputError
from tests.job_tables import FIRST, read, table


def test_an_unknown_column_suggests_the_right_one(tmp_path: Path) -> None:
    """Typing errors in column names are all reported, and never ignored."""
    with pytest.raises(FileFormatError, match=r"'submit_tme' \(did you mean 'submit_time'\?\), 'zzz'; rename"):
        read(table(tmp_path, "job_id,submit_tme,requested_s,cores,zzz"))


@pytest.mark.parametrize("missing", ["job_id", "submit_time", "requested_s", "cores"])
def test_a_missing_column_is_named(tmp_path: Path, missing: str) -> None:
    """Each of the four necessary columns is asked for."""
    names = [name for name in FIRST.split(",") if name != missing]
    with pytest.raises(FileFormatError, match=rf"jobs\.csv: no column {missing}.*; add it"):
        read(table(tmp_path, ",".join(names)))


def test_a_repeated_job_names_both_lines(tmp_path: Path) -> None:
    """Jobs a on lines 2 and 5 (after a blank line) cannot both be."""
    row = "1970-01-01T00:00Z,60,1"
    with pytest.raises(FileFormatError, match=r"jobs\.csv:5: job_id 'a' is also on line 2; give every job"):
        read(table(tmp_path, FIRST, f"a,{row}", "", f"b,{row}", f"a,{row}"))


def test_a_job_without_an_id_is_refused(tmp_path: Path) -> None:
    """An empty id is not a name."""
    with pytest.raises(FileFormatError, match=r"jobs\.csv:2: column job_id is empty"):
        read(table(tmp_path, FIRST, ",1970-01-01T00:00Z,60,1"))


@pytest.mark.parametrize("row", ["a,1970-01-01T00:00Z,60", "a,1970-01-01T00:00Z,60,1,9"])
def test_a_row_of_other_length_is_refused(tmp_path: Path, row: str) -> None:
    """Short rows are not padded, and what is over is not dropped."""
    with pytest.raises(FileFormatError, match=r"jobs\.csv:3: expected 4 fields, found [35]"):
        read(table(tmp_path, FIRST, "b,1970-01-01T00:00Z,60,1", row))


def test_lines_are_right_after_a_quoted_line_break(tmp_path: Path) -> None:
    """A name over two lines shifts the lines that follow."""
    start = "1970-01-01T00:00Z,60"
    with pytest.raises(FileFormatError, match=r"jobs\.csv:4: column cores is 'x'"):
        read(table(tmp_path, FIRST + ",name", f'a,{start},1,"two\nlines"', f"b,{start},x,y"))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "the file is empty"),
        ("job_id,cores,cores\n", "columns given twice: cores"),
        (f'{FIRST}\n"a', ":2: not CSV"),
    ],
)
def test_files_that_are_no_table(tmp_path: Path, content: str, problem: str) -> None:
    """An empty file, a column twice and an open quote each say what is wrong."""
    path = tmp_path / "jobs.csv"
    path.write_text(content)
    with pytest.raises(FileFormatError, match=problem):
        read(path)


def test_a_window_filters_by_submit_time(tmp_path: Path) -> None:
    """The window takes its start and not its end."""
    path = table(tmp_path, "job_id,submit_unix,requested_s,cores", "a,10,1,1", "b,20,1,1", "c,30,1,1")
    jobs, intake = read(path, window=(10, 30))
    assert [job.id for job in jobs] == ["a", "b"]
    assert intake.kept == 2
    assert intake.notes[0].startswith("2 of 3 jobs")


def test_a_resource_may_not_be_called_like_a_column(tmp_path: Path) -> None:
    """A resource called units would make the column units ambiguous."""
    with pytest.raises(InputError, match="resource name 'units' is also a column"):
        read(table(tmp_path, FIRST), ("units",))


def test_compressed_csv(tmp_path: Path) -> None:
    """A .csv.gz of anyone's making is read."""
    path = tmp_path / "jobs.csv.gz"
    path.write_bytes(gzip.compress(f"{FIRST}\na,1970-01-01T00:00Z,60,1\n".encode()))
    assert len(read(path)[0]) == 1


def test_a_lone_carriage_return_is_a_line_break(tmp_path: Path) -> None:
    """A CSV that is written from it could not be read back else."""
    path = tmp_path / "jobs.csv"
    path.write_bytes(f'{FIRST},name\na,1970-01-01T00:00Z,60,1,"x\ry\r\nz"\n'.encode())
    assert read(path)[0][0].name == "x\ny\r\nz"
