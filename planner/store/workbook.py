"""Tables as a workbook of a spreadsheet program (XLSX): numbers as numbers, text as text, and never a formula.

The same tables give the same bytes: the workbook carries no date of its own.
"""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from planner.printable import printable

Rows = Sequence[Mapping[str, Any]]

WIDEST = 40
"""Characters of the widest column."""
LONGEST_CELL = 32_767
"""Characters that a cell may hold in any spreadsheet program."""
MOST_ROWS = 1_048_576
"""Rows of a sheet, its headings included."""


def workbook(sheets: Mapping[str, Rows], currency: str) -> bytes:
    """Tables by the names of their sheets, each with its headings in the first row."""
    import xlsxwriter  # only here: most reports have no workbook

    made = io.BytesIO()
    book = xlsxwriter.Workbook(made, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
    book.set_properties({"created": dt.datetime(2000, 1, 1), "comments": f"Money is in {currency}."})  # noqa: DTZ001
    formats = {"head": {"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"}}
    formats |= {"money": {"num_format": "#,##0.00"}, "amount": {"num_format": "#,##0.0"}}
    formats |= {"count": {"num_format": "#,##0"}, "text": {"num_format": "@"}}
    styles = {name: book.add_format(style) for name, style in formats.items()}
    for name, rows in sheets.items():
        sheet = book.add_worksheet(name)
        columns = list(rows[0]) if rows else []
        for k, column in enumerate(columns):
            sheet.write_string(0, k, column, styles["head"])
            cells = [row[column] for row in rows[: MOST_ROWS - 1]]
            for number, cell in enumerate(cells, start=1):
                if isinstance(cell, str):
                    sheet.write_string(number, k, printable(cell)[:LONGEST_CELL], styles["text"])
                elif cell is not None:
                    sheet.write_number(number, k, float(cell), styles[_style(column, cell)])
            longest = max(
                (len(f"{cell:,.2f}" if isinstance(cell, Decimal) else str(cell)) for cell in cells), default=0
            )
            sheet.set_column(k, k, min(WIDEST, 2 + max(longest, len(column))))
        sheet.freeze_panes(1, 0)
        if columns:
            sheet.autofilter(0, 0, len(rows), len(columns) - 1)
    book.close()
    return made.getvalue()


def _style(column: str, cell: object) -> str:
    if column.endswith("_eur"):
        return "money"
    return "count" if isinstance(cell, int) else "amount"
