"""Lines of CSV: whatever a cell holds comes back, from Python's reader and from pandas."""

from __future__ import annotations

import csv
import io

import pytest

from planner.text_files import csv_text

CELLS = ["a", "a,b", 'say "x"', "two\nlines", "lone\rreturn", "both\r\n", " spaces ", "", "é"]


@pytest.mark.parametrize("quote_text", [False, True])
def test_every_cell_comes_back(quote_text: bool) -> None:
    """A lone carriage return too, which Python's writer would leave bare."""
    text = csv_text([["name", "value"], *([cell, "1"] for cell in CELLS)], quote_text=quote_text)
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert [row[0] for row in rows[1:]] == CELLS
    assert text.endswith("\n")


def test_lines_end_in_line_feeds_alone() -> None:
    """Plain rows have no carriage return anywhere."""
    assert csv_text([["a", 1], ["b", 2.5]]) == "a,1\nb,2.5\n"
