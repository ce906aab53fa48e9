"""The format of a job file follows from its name, and every format passes the same checks."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import pytest

from planner.domain.job import Job, UnitGroup
from planner.errors import InputError
from planner.inputs.jobs.job_table import write_job_table
from planner.inputs.jobs.power_models import per_core
from planner.inputs.jobs.read import FORMAT_OF_SUFFIX, read_jobs
from planner.inputs.jobs.unit_groups import UnitShape

SHAPE = UnitShape(32)
POWER = per_core(10.0)
SWF = b"; UnixStartTime: 1000\n7 5 -1 60 -1 -1 -1 40 100 -1 1 2 3 -1 -1 -1 -1 -1\n"
CSV = b"job_id,submit_unix,requested_s,cores,account,user,runtime_s\n7,1005,100,40,group3,user2,60\n"
UNITS = (UnitGroup.of(1, {"cores": 32}), UnitGroup.of(1, {"cores": 8}))
JOB = Job("7", 1005, 100, UNITS, 400.0, account="group3", user="user2", runtime_s=60)


def write(folder: Path, suffix: str) -> Path:
    path = folder / f"Jobs{suffix}"
    if suffix == ".parquet":
        write_job_table([JOB], path)
        return path
    pack = {".gz": gzip.compress, ".xz": lzma.compress}.get(path.suffix, bytes)
    path.write_bytes(pack(SWF if ".swf" in suffix else CSV))
    return path


@pytest.mark.parametrize("suffix", FORMAT_OF_SUFFIX)
def test_every_format_gives_the_same_job(tmp_path: Path, suffix: str) -> None:
    """The same job from any kind of file, twice over, is the same Job."""
    path = write(tmp_path, suffix)
    for _ in range(2):
        jobs, intake = read_jobs(path, shape=SHAPE, power=POWER)
        assert jobs == (JOB,)
        assert intake.kept == 1


@pytest.mark.parametrize("suffix", FORMAT_OF_SUFFIX)
def test_every_format_has_a_window(tmp_path: Path, suffix: str) -> None:
    """A window that ends at the submit time has no jobs."""
    jobs, _ = read_jobs(write(tmp_path, suffix), shape=SHAPE, power=POWER, window=(0, 1005))
    assert jobs == ()


def test_a_named_format_overrules_the_suffix(tmp_path: Path) -> None:
    """A CSV called .txt is read when the format is given."""
    path = tmp_path / "queue.txt"
    path.write_bytes(CSV)
    assert read_jobs(path, "csv", shape=SHAPE, power=POWER)[0] == (JOB,)


def test_a_parquet_file_of_any_name(tmp_path: Path) -> None:
    """The format given decides, not the suffix."""
    path = write(tmp_path, ".parquet").rename(tmp_path / "queue.dat")
    assert read_jobs(path, "parquet", shape=SHAPE, power=POWER)[0] == (JOB,)


def test_an_unknown_suffix_lists_the_known(tmp_path: Path) -> None:
    """What cannot be told from the name is asked for."""
    path = tmp_path / "queue.txt"
    path.write_bytes(CSV)
    with pytest.raises(InputError, match=r"known endings are \.swf, \.swf\.gz, .*\.parquet, or give the format"):
        read_jobs(path, shape=SHAPE, power=POWER)


def test_an_unknown_format_lists_the_known(tmp_path: Path) -> None:
    """A format that does not exist is refused."""
    with pytest.raises(InputError, match="unknown job file format 'xls'; known are auto, csv, parquet, swf"):
        read_jobs(write(tmp_path, ".csv"), "xls", shape=SHAPE, power=POWER)


@pytest.mark.parametrize("name", ["gone.swf", "gone.csv", "gone.parquet", "gone.txt"])
def test_a_missing_file_says_so_first(tmp_path: Path, name: str) -> None:
    """A missing file is reported as missing, whatever its name."""
    with pytest.raises(InputError, match=f"{name}: no such file"):
        read_jobs(tmp_path / name, shape=SHAPE, power=POWER)


def test_a_core_scale_is_for_traces(tmp_path: Path) -> None:
    """A table means what it says: a scale is refused rather than ignored."""
    with pytest.raises(InputError, match=r"core scale is 0\.5, but a job table is taken as it is written"):
        read_jobs(write(tmp_path, ".csv"), shape=UnitShape(32, 0.5), power=POWER)
