"""Claims about inputs: each is read once, within bounds, and its digest is that of the bytes that were planned from."""

from __future__ import annotations

import hashlib
import json
import lzma
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from planner import text_files
from planner.cli.main import run
from planner.errors import FileFormatError, InputError, OutputError
from planner.inputs import table_cells
from planner.text_files import digest_read, read_bytes, reading_once
from tests.days import BRIEF, DAY, plan, refused, write_small_site
from tests.job_tables import read

QUICK = ("-m", "est", "--bound-time", "0", "-q", *BRIEF)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small site, as the current folder."""
    monkeypatch.chdir(write_small_site(tmp_path))
    return tmp_path


def test_the_digest_is_of_what_was_planned(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A queue and a table that are replaced right after they were read are in run.json as they were read."""
    replaced: list[str] = []
    real = text_files.read_raw

    def read_and_replace(path: Path | str) -> bytes:
        content = real(path)
        if Path(path).suffix == ".csv" and str(path) not in replaced:
            replaced.append(str(path))
            Path(path).write_text("something else")
        return content

    before = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in site.rglob("*.csv")}
    monkeypatch.setattr(text_files, "read_raw", read_and_replace)
    plan("--day", DAY, *QUICK)
    run = json.loads((site / "reports" / "site" / DAY / "run.json").read_text())
    told = {Path(path).name: seal for path, seal in run["inputs"].items() if path.endswith(".csv")}
    assert len(replaced) == 2
    assert told == before


def test_a_file_is_read_once(tmp_path: Path) -> None:
    """Whatever becomes of it meanwhile; afterwards it is read anew."""
    path = tmp_path / "a"
    path.write_text("one")
    with reading_once():
        assert read_bytes(path) == b"one"
        path.write_text("two")
        assert read_bytes(path) == b"one"
    assert digest_read(path) == hashlib.sha256(b"one").hexdigest()
    assert read_bytes(path) == b"two"


@pytest.mark.parametrize("name", ["weather.csv", "weather.epw", "weather.json", "a.csv.gz", "a.csv.xz"])
def test_a_file_beyond_any_input_is_not_read(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three gigabytes of nothing are refused by their size."""
    path = tmp_path / name
    path.touch()
    os.truncate(path, 3 * 1024**3)
    monkeypatch.setattr(text_files.os, "fdopen", lambda *given: _Unread())
    with pytest.raises(InputError, match="more than 192 MB"):
        read_bytes(path)


class _Unread:
    """A stream that must not be read."""

    def __enter__(self) -> _Unread:
        return self

    def __exit__(self, *given: object) -> None:
        return None


def test_a_pipe_that_took_the_place_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is seen when it is opened, and nobody waits for whoever might write to it."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    monkeypatch.setattr(text_files, "require_file", Path)
    with pytest.raises(InputError, match="is a device or a pipe"):
        read_bytes(path)


def test_packed_text(tmp_path: Path) -> None:
    """Parts of xz follow each other with filling between; one that needs gigabytes to unpack, or is cut, is refused."""
    path = tmp_path / "a.xz"
    one, two = lzma.compress(b"one "), lzma.compress(b"two")
    path.write_bytes(one + two + b"\0" * 8)
    assert read_bytes(path) == b"one two"
    path.write_bytes(one + two[:-9])
    with pytest.raises(FileFormatError, match="cut short"):
        read_bytes(path)
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1024**3}]
    path.write_bytes(lzma.compress(b"x", filters=filters))
    with pytest.raises(FileFormatError, match=r"not a \.xz file or damaged"):
        read_bytes(path)


def wide(path: Path, columns: int, rows: int) -> Path:
    """A Parquet table of jobs with many columns that nobody knows; small, as all their values are alike."""
    usual = {"job_id": np.arange(rows), "submit_unix": np.full(rows, 1000), "requested_s": np.full(rows, 60)}
    further = {f"x{k}": np.zeros(rows) for k in range(columns)}
    pyarrow.parquet.write_table(pa.table({**usual, "cores": np.ones(rows), **further}), path)
    return path


def test_columns_that_nobody_reads_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a cell of a table with unknown columns, or with more cells than any queue has, becomes text."""
    monkeypatch.setattr(table_cells, "_texts", lambda *given: pytest.fail("a column was read"))
    with pytest.raises(FileFormatError, match="unknown column"):
        read(wide(tmp_path / "a.parquet", 300, 10))
    monkeypatch.setattr(table_cells, "CELLS_OF_A_TABLE", table_cells.Bounds(0, 39, "cells"))
    with pytest.raises(InputError, match="rows times columns is 40"):
        read(wide(tmp_path / "b.parquet", 0, 10))


def test_a_resource_that_no_node_has(site: Path) -> None:
    """None of its nothing is in use; the page says so."""
    plan("--day", DAY, *QUICK, "--set", "cluster.classes.cpu.capacity.licences=0")
    assert "licences" in (site / "reports" / "site" / DAY / "report.html").read_text()


def test_not_enough_memory(site: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not fit the machine is one line, and nothing is written."""
    from planner.cli.main import run

    def full(*given: object) -> bytes:
        raise MemoryError

    monkeypatch.setattr(text_files, "read_raw", full)
    assert run(["check", "--day", DAY]) == 1
    assert capsys.readouterr().err.startswith("plan: there is not enough memory for this; ")


def test_links_that_go_round(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Wherever a path is given, a loop of links is one line."""
    from planner.cli.main import run

    (site / "loop").symlink_to("loop")
    for words in (
        ("--day", DAY, "--out", "loop", *QUICK),
        ("run", "--from", DAY, "--to", DAY, "--out", "loop", *QUICK),
        ("compare", "site", "--day", DAY, "-m", "est", "--out", "loop", "-q"),
        ("now", "--at", f"{DAY}T08:00+02:00", "--snapshot", "loop", "-q"),
        ("book", "--day", DAY, "--table", "loop"),
        ("simulate", "loop", "--policy", "easy"),
        ("study", "metrics", "loop", "--out", "loop"),
        ("study", "operation", "--quick", "--out", "loop", "-q"),
        ("slurm", "apply", "loop"),
        ("check", "--day", DAY, "--scenario", "loop"),
        ("check", "--day", DAY, "--set", "jobs.source=loop"),
        ("init", "loop"),
        ("power", "learn", "--from", "loop", "--out", "loop"),
    ):
        code = run(list(words))
        told = capsys.readouterr().err
        assert code in (2, 6), f"{words}: {code} {told}"
        assert told.count("\n") == 1


@pytest.mark.parametrize("name", ["x" * 300, "y/" * 2500 + "z"])
def test_names_that_are_too_long(site: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Where results cannot go for the length of their path, one line says so."""
    from planner.cli.main import run

    for words in (
        ("--day", DAY, *QUICK),
        ("run", "--from", DAY, "--to", DAY, *QUICK),
        ("compare", "site", "--day", DAY, "-m", "est", "-q"),
    ):
        assert run([*words, "--out", name]) == 6, words
        assert capsys.readouterr().err.count("\n") == 1


def test_a_study_refuses_its_files_before_it_works(
    site: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second of two traces, which is not there, is seen before the first is read."""
    monkeypatch.setattr(text_files, "read_raw", lambda path: pytest.fail(f"{path} was read"))
    (site / "trace.swf").write_text("; nothing\n")
    assert "101: there is no such trace" in refused(capsys, "study", "predictions", "trace.swf", "101")


def test_what_is_read_is_not_written_over(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where a file to write is one to read, by whatever name, it stays as it is."""
    (site / "a.yaml").write_text("base: air\n")
    (site / "b.png").symlink_to("a.yaml")
    before = {path.name: path.read_bytes() for path in site.iterdir() if path.is_file()}
    jobs = next(site.rglob("*.csv"))
    for words in (
        ("table", "build", "--plant", "a.yaml", "--out", "./a.yaml"),
        ("table", "build", "--plant", "a.yaml", "--out", "t.csv", "--picture", "b.png"),
        ("table", "build", "--out", "t.png", "--picture", "t.png"),
        ("power", "learn", "--from", str(jobs), "--out", str(jobs)),
        ("simulate", str(jobs), "--page", str(jobs)),
        ("now", "--snapshot", str(jobs), "--apply", "--metrics-file", str(jobs)),
    ):
        assert "is read for this and would be lost" in refused(capsys, *words)
    assert {path.name: path.read_bytes() for path in site.iterdir() if path.is_file()} == before


def test_a_device_or_a_pipe_is_never_replaced(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, nobody waits for a reader, and it is what it was: a root that writes to /dev/null must not end it."""
    from planner.slurm.monitoring import write_metrics

    pipe, null = site / "pipe.png", Path("/dev/null").stat()
    os.mkfifo(pipe)
    for words in (("--out", str(pipe)), ("--out", "t.csv", "--picture", str(pipe)), ("--out", "/dev/null")):
        assert run(["table", "build", *words]) == OutputError.exit_code
        assert "is a device or a pipe" in capsys.readouterr().err
    with pytest.raises(OutputError, match="is a device or a pipe"):
        write_metrics(pipe, {"held_jobs": 3}, 0, 5)
    assert pipe.is_fifo()
    assert Path("/dev/null").stat().st_rdev == null.st_rdev
