"""Files of text, plain or compressed, opened with one clear line when that fails; rows as CSV, texts as bytes."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import lzma
import os
import stat
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from planner.errors import FileFormatError, InputError
from planner.limits import FILE_BYTES, LINES
from planner.places import full_path, is_folder, is_there

ENCODING = "utf-8-sig"
"""UTF-8; the mark that spreadsheets put at the start is skipped."""

LONE = "backslashreplace"
"""How halves of characters, which UTF-8 cannot hold, are written: as JSON and Python spell them."""


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
    path = Path(path)
    content = read_raw(path)
    try:
        match path.suffix.lower():
            case ".gz":
                with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
                    content = stream.read(MOST + 1)
            case ".xz":
                content = _from_xz(content)
    except (gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
        raise FileFormatError(path, f"not a {path.suffix} file or damaged ({error})", remedy=_repack(path)) from error
    except EOFError as error:
        raise FileFormatError(path, f"the {path.suffix} file is cut short", remedy=_repack(path)) from error
    if len(content) > MOST or content.count(b"\n") not in LINES:
        raise _too_large(path)
    return content


def read_raw(path: Path | str) -> bytes:
    """The bytes of a file as it stands, once it is known to be one of a size that an input can have.

    Within `reading_once` they are those of the first reading.
    """
    path = require_file(path)
    place = os.path.abspath(path)  # noqa: PTH100, a link stays a link
    if _contents is not None and place in _contents:
        return _contents[place]
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe that took its place does not keep us waiting
        with os.fdopen(handle, "rb") as stream:
            about = os.fstat(handle)
            if not stat.S_ISREG(about.st_mode):
                raise _no_file(path)
            if about.st_size > MOST:
                raise _too_large(path)
            content = stream.read(MOST + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}); check its permissions") from error
    if len(content) > MOST:
        raise _too_large(path)
    _digests[place] = hashlib.sha256(content).hexdigest()
    if _contents is not None:
        _contents[place] = content
    return content


MOST = int(FILE_BYTES.high)
_XZ_BYTES = 256 * 1024**2
"""What unpacking may take besides the text; files of ``xz -9`` need 65 MB."""


def _from_xz(packed: bytes) -> bytes:
    """The text of one or more parts, one after another; LZMAError where that needs too much memory."""
    parts: list[bytes] = []
    left = MOST + 1
    while left > 0 and (not parts or packed.strip(b"\0")):
        decoder = lzma.LZMADecompressor(memlimit=_XZ_BYTES)
        parts.append(decoder.decompress(packed.lstrip(b"\0") if parts else packed, max_length=left))
        left -= len(parts[-1])
        if not decoder.eof and left > 0:
            raise EOFError
        packed = decoder.unused_data
    return b"".join(parts)


_digests: dict[str, str] = {}
"""SHA-256 of the bytes that this process read last of each file, by its full path."""
_contents: dict[str, bytes] | None = None
"""The bytes themselves, within `reading_once`."""


@contextmanager
def reading_once() -> Iterator[None]:
    """Within this block every file is read once: all that comes of it is of the same bytes, as is its digest."""
    global _contents  # noqa: PLW0603
    before, _contents = _contents, {}
    try:
        yield
    finally:
        _contents = before


def digest_read(path: Path) -> str:
    """SHA-256 of the bytes that were read of a file, whatever it holds by now; of the file if it was not read."""
    return _digests.get(os.path.abspath(path)) or digest(path)  # noqa: PTH100


def digest(path: Path) -> str:
    """SHA-256 of a file as it stands, whatever its size."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _too_large(path: Path) -> InputError:
    most = f"{MOST // 1024**2} MB or {LINES.high:,} lines"
    return InputError(f"{path}: more than {most}; give a part of it, such as the days that you need")


def _no_file(path: Path) -> InputError:
    return InputError(f"{path}: is a device or a pipe; save its contents in a file, and give that")


def require_file(path: Path | str) -> Path:
    """The path, once it is known to be a file; InputError when it is missing or a folder."""
    path = Path(path)
    if is_folder(path):
        raise InputError(f"{path}: is a folder; give the name of a file in it")
    if not is_there(path):
        raise InputError(f"{path}: no such file; check the name and the folder that the program runs in")
    if not path.is_file():
        raise _no_file(path)
    return path


def require_other(target: Path, option: str, *read: Path | str | None) -> None:
    """InputError where a file to write is one of those to read, which would be lost."""
    if any(each is not None and full_path(target) == full_path(Path(each)) for each in read):
        raise InputError(f"{target}: is read for this and would be lost; give {option} another name")


def _first_undecodable_line(content: bytes) -> int | None:
    for number, line in enumerate(content.split(b"\n"), start=1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            return number
    return None


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


def encoded(text: str) -> bytes:
    """A text as the bytes of a file, whatever it was made from; JSON reads it back as it was."""
    return text.encode("utf-8", LONE)
