"""Files of text, plain or compressed, opened with one clear line when that fails; and rows as CSV text."""

from __future__ import annotations

import csv
import gzip
import io
import lzma
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from planner.bounds import FILE_BYTES, LINES
from planner.errors import FileFormatError, InputError
from planner.places import is_folder, is_there

ENCODING = "utf-8-sig"
"""UTF-8; the mark that spreadsheets put at the start is skipped."""


@contextmanager
def open_text(path: Path | str, *, newline: str | None = None) -> Iterator[TextIO]:
    """Open a UTF-8 text file for reading; ``.gz`` and ``.xz`` are unpacked on the way.

    Parameters
    ----------
    path
        File to read; its suffix says how it is compressed.
    newline
        As for `open`; ``""`` leaves line ends alone, as the csv module wants.

    Raises
    ------
    InputError
        The file is missing, a folder, too large, or may not be read.
    FileFormatError
        The contents are not what the suffix says, are cut short, or are not UTF-8; the last also when it shows only
        while the caller reads.
    """
    path = Path(path)
    content = read_bytes(path)
    try:
        yield io.TextIOWrapper(io.BytesIO(content), encoding=ENCODING, newline=newline)
    except UnicodeDecodeError as error:
        raise FileFormatError(
            path,
            f"not UTF-8 text (byte 0x{error.object[error.start]:02x})",
            line=_first_undecodable_line(content),
            remedy="save the file as UTF-8; if it is compressed, its name must end in .gz or .xz",
        ) from error


def read_bytes(path: Path | str) -> bytes:
    """The whole of a file, unpacked as its suffix says; InputError when it is larger than any input should be."""
    path = require_file(path)
    try:
        with _open_bytes(path) as stream:
            content = stream.read(int(FILE_BYTES.high) + 1)
    except (gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
        raise FileFormatError(path, f"not a {path.suffix} file or damaged ({error})", remedy=_repack(path)) from error
    except EOFError as error:
        raise FileFormatError(path, f"the {path.suffix} file is cut short", remedy=_repack(path)) from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}); check its permissions") from error
    if len(content) not in FILE_BYTES or content.count(b"\n") not in LINES:
        most = f"{int(FILE_BYTES.high) // 1024**2} MB or {LINES.high:,} lines"
        raise InputError(f"{path}: more than {most}; give a part of it, such as the days that you need")
    return content


def require_file(path: Path | str) -> Path:
    """The path, once it is known to be a file; InputError when it is missing or a folder."""
    path = Path(path)
    if is_folder(path):
        raise InputError(f"{path}: is a folder; give the name of a file in it")
    if not is_there(path):
        raise InputError(f"{path}: no such file; check the name and the folder that the program runs in")
    if not path.is_file():
        raise InputError(f"{path}: is a device or a pipe; save its contents in a file, and give that")
    return path


def _first_undecodable_line(content: bytes) -> int | None:
    for number, line in enumerate(content.split(b"\n"), start=1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            return number
    return None


def _open_bytes(path: Path) -> BinaryIO:
    match path.suffix.lower():
        case ".gz":
            return cast(BinaryIO, gzip.open(path, "rb"))
        case ".xz":
            return cast(BinaryIO, lzma.open(path, "rb"))
        case _:
            return path.open("rb")


def _repack(path: Path) -> str:
    return f"fetch or compress it again; if it is plain text, rename it without {path.suffix}"


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
