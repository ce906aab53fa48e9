"""Text files open plain or compressed, and every way to fail is one clear line."""

from __future__ import annotations

import gzip
import lzma
import os
from pathlib import Path

import pytest

from planner import text_files
from planner.errors import FileFormatError, InputError
from planner.limits import Bounds
from planner.text_files import open_text

TEXT = "first\nsecond é\n"


def read(path: Path) -> str:
    with open_text(path) as stream:
        return stream.read()


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.txt.xz", "A.TXT.GZ"])
def test_plain_and_compressed_files_read_alike(tmp_path: Path, name: str) -> None:
    """The suffix decides how a file is unpacked; the text is the same."""
    pack = {".gz": gzip.compress, ".xz": lzma.compress}.get(Path(name).suffix.lower(), bytes)
    (tmp_path / name).write_bytes(pack(TEXT.encode()))
    assert read(tmp_path / name) == TEXT


def test_the_mark_of_spreadsheets_is_skipped(tmp_path: Path) -> None:
    """A byte order mark at the start is no part of the text."""
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbfjob_id")
    assert read(tmp_path / "a.csv") == "job_id"


def test_missing_file(tmp_path: Path) -> None:
    """A missing file is named, with what to check."""
    with pytest.raises(InputError, match=r"gone\.swf: no such file; check the name"):
        read(tmp_path / "gone.swf")


def test_folder(tmp_path: Path) -> None:
    """A folder in place of a file is said to be one."""
    with pytest.raises(InputError, match="is a folder; give the name of a file"):
        read(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file(tmp_path: Path) -> None:
    """A file without permission says so."""
    path = tmp_path / "a.txt"
    path.write_text(TEXT)
    path.chmod(0)
    with pytest.raises(InputError, match=r"cannot be read \(Permission denied\); check its permissions"):
        read(path)


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_plain_text_under_a_compressed_name(tmp_path: Path, suffix: str) -> None:
    """Plain text called .gz or .xz is not taken for compressed text."""
    path = tmp_path / f"a{suffix}"
    path.write_text(TEXT)
    with pytest.raises(FileFormatError, match=rf"a\{suffix}: not a \{suffix} file.*rename it without"):
        read(path)


def test_truncated_gzip(tmp_path: Path) -> None:
    """A compressed file that was cut short is not taken for a short one."""
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(TEXT.encode() * 1000)[:-12])
    with pytest.raises(FileFormatError, match="cut short; fetch or compress it again"):
        read(path)


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_text_that_is_not_utf8_names_its_line(tmp_path: Path, name: str) -> None:
    """A Latin-1 letter on line 2 is reported there."""
    content = b"first\n\xe9\n"
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(FileFormatError, match=rf"{name}:2: not UTF-8 text \(byte 0xe9\); save the file as UTF-8"):
        read(tmp_path / name)


def test_a_file_that_unpacks_to_no_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is packed into little is read as far as any input may go, and no further."""
    monkeypatch.setattr("planner.text_files.MOST", 2 * 1024**2)
    path = tmp_path / "bomb.txt.gz"
    path.write_bytes(gzip.compress(b"x" * 50_000_000))
    with pytest.raises(InputError, match=r"bomb\.txt\.gz: more than 2 MB or 5,000,000 lines; give a part of it"):
        read(path)


def test_too_many_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty lines cost memory too."""
    monkeypatch.setattr("planner.text_files.LINES", Bounds(0, 10))
    (tmp_path / "a.txt").write_text("\n" * 11)
    with pytest.raises(InputError, match="or 10 lines"):
        read(tmp_path / "a.txt")


def test_pipes_and_names_that_cannot_be(tmp_path: Path) -> None:
    """A pipe would be waited for for ever; a name of a thousand letters is not there."""
    os.mkfifo(tmp_path / "pipe")
    for path, words in ((tmp_path / "pipe", "is a device or a pipe"), (tmp_path / ("x" * 1000), "no such file")):
        with pytest.raises(InputError, match=words):
            read(path)


def test_parts_of_xz_are_unpacked_up_to_what_a_file_may_have_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three parts of 40 bytes: of at most 100 in all, one byte more is unpacked, which shows that they are too many."""
    part = lzma.compress(b"x" * 40)
    assert text_files._from_xz(3 * part) == b"x" * 120
    monkeypatch.setattr(text_files, "MOST", 100)
    assert text_files._from_xz(2 * part + b"\0" * 8) == b"x" * 80
    assert text_files._from_xz(3 * part) == b"x" * 101
    assert text_files._from_xz(30 * part) == b"x" * 101
