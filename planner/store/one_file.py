"""Single files, each written in one step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from planner.errors import OutputError
from planner.store.folder import alone_in, put
from planner.store.write_tables import encoded
from planner.text_files import csv_text


def write_rows(rows: Sequence[Mapping[str, object]], path: Path) -> None:
    """Write the lines of a table, all with the columns of any."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    write_csv(path, columns, ([row.get(name, "") for name in columns] for row in rows))


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table in one step."""
    write_text(path, csv_text([columns, *rows]))


def write_text(path: Path, text: str) -> None:
    """Write a text in one step."""
    write_file(path, encoded(text))


def write_file(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a file in one step, in a folder that is made if need be; the umask takes from the mode."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with alone_in(path.parent):
            put(path, content, mode)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error
