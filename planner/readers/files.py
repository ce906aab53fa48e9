"""Opens text files, plain or compressed, and says in one line what is wrong when that fails."""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from planner.errors import FileFormatError, InputError

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
        The file is missing, a folder, or may not be read.
    FileFormatError
        The contents are not what the suffix says, are cut short, or are not UTF-8; also when this shows only
        while the caller reads.
    """
    path = Path(path)
    stream = _open(path, newline)
    try:
        yield stream
    except UnicodeDecodeError as error:
        raise FileFormatError(
            path,
            f"not UTF-8 text (byte 0x{error.object[error.start]:02x})",
            line=_first_undecodable_line(path),
            remedy="save the file as UTF-8; if it is compressed, its name must end in .gz or .xz",
        ) from error
    except (gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
        raise FileFormatError(path, f"not a {path.suffix} file or damaged ({error})", remedy=_repack(path)) from error
    except EOFError as error:
        raise FileFormatError(path, f"the {path.suffix} file is cut short", remedy=_repack(path)) from error
    finally:
        stream.close()


def require_file(path: Path | str) -> Path:
    """The path, once it is known to be a file; InputError when it is missing or a folder."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path}: is a folder; give the name of a file in it")
    if not path.exists():
        raise InputError(f"{path}: no such file; check the name and the folder that the program runs in")
    return path


def _open(path: Path, newline: str | None) -> TextIO:
    require_file(path)
    try:
        return io.TextIOWrapper(_open_bytes(path), encoding=ENCODING, newline=newline)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check its permissions") from error


def _first_undecodable_line(path: Path) -> int | None:
    with _open_bytes(path) as stream:
        for number, line in enumerate(stream, start=1):
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
