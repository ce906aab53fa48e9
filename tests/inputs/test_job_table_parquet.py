"""Claims about job tables in Parquet: values of every plain type are what they say, others are refused."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from planner.errors import FileFormatError
from tests.job_tables import read


def test_parquet_of_pandas_types(tmp_path: Path) -> None:
    """Zone-aware timestamps, integers with gaps and numbers as ids are read for what they are."""
    path = tmp_path / "jobs.parquet"
    pd.DataFrame(
        {
            "job_id": [17, 18],
            "submit_time": pd.to_datetime(["2024-06-01 02:00", "2024-06-01 03:00"]).tz_localize("Europe/Paris"),
            "requested_s": [3600, 60],
            "cores": [4, 40],
            "runtime_s": [None, 30.0],
            "power_w": [float("nan"), 12.5],
            "user": ["ann", None],
        }
    ).to_parquet(path)
    jobs, _ = read(path)
    assert [(job.id, job.submit_unix, job.runtime_s, job.power_w, job.user) for job in jobs] == [
        ("17", 1717200000, None, 40.0, "ann"),
        ("18", 1717203600, 30, 12.5, ""),
    ]


def test_a_naive_timestamp_in_parquet_is_refused(tmp_path: Path) -> None:
    """Parquet rows are named by number, and naive times are refused there too."""
    path = tmp_path / "jobs.parquet"
    pd.DataFrame(
        {"job_id": ["a"], "submit_time": pd.to_datetime(["2024-06-01"]), "requested_s": [1], "cores": [1]}
    ).to_parquet(path)
    with pytest.raises(FileFormatError, match=r"jobs\.parquet: row 1: column submit_time is .* with its offset"):
        read(path)


def test_a_file_that_is_not_parquet(tmp_path: Path) -> None:
    """Text called .parquet is refused in one line."""
    path = tmp_path / "jobs.parquet"
    path.write_text("hello")
    with pytest.raises(FileFormatError, match=r"jobs\.parquet: cannot be read as Parquet \(.*\); write it again"):
        read(path)


def parquet(folder: Path, **columns: object) -> Path:
    """A Parquet table of one job, with other columns."""
    usual = {"job_id": ["a"], "submit_unix": [1000], "requested_s": [60], "cores": [4]}
    path = folder / "jobs.parquet"
    pyarrow.parquet.write_table(pa.table(usual | columns), path)
    return path


@pytest.mark.parametrize(
    "values",
    [
        pa.array([[1, 2]]),
        pa.array([{"x": 1}]),
        pa.array([[("a", 1)]], type=pa.map_(pa.string(), pa.int64())),
        pa.array([b"\xff"]),
        pa.array([3], type=pa.time64("us")),
        pa.array([3], type=pa.duration("s")),
    ],
)
def test_a_parquet_column_that_holds_no_plain_values(tmp_path: Path, values: pa.Array) -> None:
    """Lists, structures, maps, bytes and the like are refused by the name of their column and type."""
    with pytest.raises(FileFormatError, match=r"jobs\.parquet: column name holds values of type .*; write numbers"):
        read(parquet(tmp_path, name=values))


def test_parquet_values_of_many_types(tmp_path: Path) -> None:
    """Decimals, short floats, categories and times of any precision are what they say."""
    jobs, _ = read(
        parquet(
            tmp_path,
            power_w=pa.array([Decimal("12.50")]),
            requested_s=pa.array([60.0], type=pa.float32()),
            user=pa.array(["ann"]).dictionary_encode(),
            deadline=pa.array([1_717_200_000_123_456_789], type=pa.timestamp("ns", tz="Europe/Paris")),
        )
    )
    assert (jobs[0].power_w, jobs[0].requested_s, jobs[0].user) == (12.5, 60, "ann")
    assert jobs[0].deadline_unix == 1_717_200_001


@pytest.mark.parametrize("column", ["deadline", "submit_time"])
def test_parquet_times_beyond_the_calendar(tmp_path: Path, column: str) -> None:
    """A timestamp of the year 148108 is refused in one line."""
    columns = {column: pa.array([2**62], type=pa.timestamp("us", tz="UTC"))}
    if column == "submit_time":
        columns["submit_unix"] = pa.nulls(1)
    with pytest.raises(FileFormatError, match=rf"jobs\.parquet: row 1: column {column} is '4611686018427387904 us"):
        read(parquet(tmp_path, **columns))


def test_parquet_with_damaged_labels_of_pandas(tmp_path: Path) -> None:
    """What pandas wrote about its own index plays no part."""
    path = parquet(tmp_path)
    labelled = pyarrow.parquet.read_table(path).replace_schema_metadata({b"pandas": b'{"columns": 3}'})
    pyarrow.parquet.write_table(labelled, path)
    assert len(read(path)[0]) == 1
