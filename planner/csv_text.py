"""Lines of CSV that every reader takes for what they are: a cell with a line break of any kind is quoted."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence


def csv_text(rows: Iterable[Sequence[object]], *, quote_text: bool = False) -> str:
    r"""The rows as CSV, each line ended by a line feed; ``quote_text`` quotes every cell that is not a number.

    Python's writer quotes the line breaks of its own line end only, so it is given both, and each line ends anew: a
    lone carriage return within a cell would otherwise be read back as the end of the row.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC if quote_text else csv.QUOTE_MINIMAL, lineterminator="\r\n")
    lines = []
    for row in rows:
        writer.writerow(row)
        lines.append(text.getvalue()[: -len("\r\n")])
        text.seek(0)
        text.truncate()
    return "".join(f"{line}\n" for line in lines)
