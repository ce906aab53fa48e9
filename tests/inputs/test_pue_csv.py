"""PUE tables as CSV files: what is read, what is written, and what is refused."""

import re
from pathlib import Path

import numpy as np
import pytest

from planner.domain.pue_table import PueTable
from planner.errors import FileFormatError, InputError
from planner.inputs.pue_csv import pue_table_text, read_pue_table

GOOD = "it_power_w,0,5,10\n0,0.1,0.2,0.3\n500,0.1,0.2,0.4\n1000,0.1,0.25,0.5\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "site.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_reads_a_table(tmp_path: Path) -> None:
    """Rows are powers, columns temperatures, cells as written; the file names the table."""
    table, intake = read_pue_table(written(tmp_path, GOOD))
    assert (table.name, table.clamp) == ("site", False)
    assert (table.first_power_w, table.power_step_w) == (0, 500)
    assert (table.first_temperature_c, table.temperature_step_c) == (0, 5)
    np.testing.assert_array_equal(table.cooling, [[0.1, 0.2, 0.3], [0.1, 0.2, 0.4], [0.1, 0.25, 0.5]])
    assert intake.kept == 3


def test_comments_set_clamp_and_name_and_others_are_notes(tmp_path: Path) -> None:
    """`# clamp: true` lets the table clamp; lines that the reader does not know are kept as notes."""
    table, intake = read_pue_table(
        written(tmp_path, "# clamp: true\n# name: hall 2\n# source: measured in May\n" + GOOD)
    )
    assert (table.name, table.clamp) == ("hall 2", True)
    assert intake.notes == ["source: measured in May"]


def test_spreadsheet_habits_are_harmless(tmp_path: Path) -> None:
    """A byte-order mark, Windows line ends, spaces and blank lines change nothing."""
    plain, _ = read_pue_table(written(tmp_path, GOOD))
    odd = tmp_path / "odd.csv"
    odd.write_bytes(b"\xef\xbb\xbf" + GOOD.replace(",", " , ").replace("\n", "\r\n\r\n").encode())
    np.testing.assert_array_equal(read_pue_table(odd)[0].cooling, plain.cooling)


@pytest.mark.parametrize("clamp", [True, False])
def test_written_tables_read_back_equal(tmp_path: Path, clamp: bool) -> None:
    """Writing and reading loses nothing, not even digits beyond the fourth."""
    cooling = np.random.default_rng(0).random((4, 3))
    table = PueTable("hall", 1000, 250, -10, 5, cooling, clamp)
    path = tmp_path / "out.csv"
    path.write_text(pue_table_text(table, "source: a test\nof two lines"))
    again, intake = read_pue_table(path)
    np.testing.assert_array_equal(again.cooling, table.cooling)
    assert (again.name, again.clamp) == ("hall", clamp)
    np.testing.assert_array_equal(again.powers_w, table.powers_w)
    np.testing.assert_array_equal(again.temperatures_c, table.temperatures_c)
    assert intake.notes == ["source: a test", "of two lines"]


def test_a_table_may_say_pue_and_kw(tmp_path: Path) -> None:
    """The same table with 1 more in every cell and powers in kW is the same; a PUE below 1 is refused."""
    table, _ = read_pue_table(written(tmp_path, GOOD))
    text = "# cells: PUE\nit_power_kw,0,5,10\n0,1.1,1.2,1.3\n0.5,1.1,1.2,1.3\n1,1.15,1.25,1.35\n"
    other, intake = read_pue_table(written(tmp_path, text))
    assert (other.powers_w == table.powers_w).all()
    assert other.cooling[0].tolist() == [0.1, 0.2, 0.3]
    assert intake.notes == []
    for old, new, message in (
        ("1.25", "0.99", ":5: the cell at 1000 W, 5 C is 0.99: a PUE below 1; it must be 1 or more"),
        ("0.5,", "0.5004,", ":4: it_power_kw is '0.5004'"),
        ("PUE", "watts", ":1: cells is 'watts'; write pue or cooling"),
    ):
        with pytest.raises(InputError, match=re.escape(message)):
            read_pue_table(written(tmp_path, text.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1000,", "2000,", ":4: the row of 1000 W is missing"),
        ("500,0.1", "400,0.1", ":4: rows are not in even steps"),
        ("1000,", "500,", ":4: the row of 500 W appears twice"),
        ("0,0.1,0.2,0.3\n500", "500,0.1,0.2,0.3\n0", ":3: the row of 0 W comes after 500 W"),
        ("w,0,5,10", "w,0,5,20", ":1: the column of 10 C is missing"),
        ("w,0,5,10", "w,0,5,5", ":1: the column of 5 C appears twice"),
        ("w,0,5,10", "w,0,5,8", ":1: columns are not in even steps"),
        ("w,0,5,10", "w,0,5,warm", ":1: temperature is 'warm'"),
        ("w,0,5,10", "w,0,2.5,6", ":1: columns are not in even steps: 2.5 C to 6 C, but 2.5 C elsewhere"),
        ("w,0,5,10", "w,0,0.0001,0.0002", ":1: temperature is '0.0001'"),
        ("0.25", "", ":4: the cell at 1000 W, 5 C is empty"),
        ("0.25", "a quarter", ":4: the cell at 1000 W, 5 C is 'a quarter'"),
        ("0.25", "nan", ":4: the cell at 1000 W, 5 C is 'nan'"),
        ("0.25", "-0.01", ":4: the cell at 1000 W, 5 C is -0.01: a PUE below 1"),
        ("0.25", "0,25", ":4: expected 4 fields, found 5"),
        ("1000,", "1 kW,", ":4: it_power_w is '1 kW'"),
        ("it_power_w", "power", ":1: the first column is 'power'"),
        ("0,0.1,0.2,0.3\n500", "-500,0.1,0.2,0.3\n0", ":2: it_power_w -500 is negative"),
    ],
)
def test_a_bad_table_is_refused_in_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    """Every fault names the file, the line, the place in the table, and what to do."""
    with pytest.raises(InputError) as caught:
        read_pue_table(written(tmp_path, GOOD.replace(old, new, 1)))
    lines = str(caught.value).splitlines()
    assert len(lines) == 1
    assert "site.csv" in lines[0]
    assert message in lines[0]
    assert ";" in lines[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no header row"),
        ("it_power_w,0\n0,0.1\n500,0.1\n", "too few columns"),
        ("it_power_w,0,5\n0,0.1,0.2\n", "too few rows"),
        ("# clamp: maybe\n" + GOOD, ":1: clamp is 'maybe'"),
    ],
)
def test_too_little_or_unclear(tmp_path: Path, text: str, message: str) -> None:
    """A file without a usable grid says what is lacking."""
    with pytest.raises(InputError, match=r"site\.csv") as caught:
        read_pue_table(written(tmp_path, text))
    assert message in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """The message names the file that is not there."""
    with pytest.raises(InputError, match=r"nowhere\.csv"):
        read_pue_table(tmp_path / "nowhere.csv")


def test_a_table_of_pue_instead_of_overhead_is_noted(tmp_path: Path) -> None:
    """Cells of 1 and more everywhere are read, with a note that they mean a PUE above 2."""
    _, intake = read_pue_table(written(tmp_path, GOOD.replace("0.", "1.")))
    assert any("PUE less 1" in note for note in intake.notes)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("it_power_w,", "it_power_w,-1e30,", "at most 3 decimals, from -200 to 200 C"),
        ("500,", "1e300,", "whole number of W"),
        ("500,", "9" * 30 + ",", "whole number of W"),
    ],
)
def test_numbers_beyond_their_bounds(tmp_path: Path, old: str, new: str, words: str) -> None:
    """Powers and temperatures that no site has are refused with their line."""
    text = "it_power_w,0,5\n0,0.1,0.2\n500,0.1,0.2\n"
    path = tmp_path / "t.csv"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(FileFormatError, match=rf"t\.csv:\d: .*{words}"):
        read_pue_table(path)


def test_a_cell_beyond_all_cooling(tmp_path: Path) -> None:
    """More than a hundred times the IT energy is a wrong unit."""
    (tmp_path / "t.csv").write_text("it_power_w,0,5\n0,0.1,0.2\n500,0.1,1e308\n")
    with pytest.raises(FileFormatError, match=r"t\.csv:3: the cell at 500 W, 5 C is 1e308; it must be a number from 0"):
        read_pue_table(tmp_path / "t.csv")
