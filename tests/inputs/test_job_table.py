"""Job tables: columns mean what they say, nothing is guessed, and what is written reads back the same."""

from __future__ import annotations

import gzip
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.domain.intake import Intake
from planner.domain.job import Job, UnitGroup
from planner.errors import FileFormatError, InputError, OutputError
from planner.inputs.jobs.power import per_core
from planner.inputs.jobs.table import ROUNDED_TIME, read_job_table, write_job_table

POWER = per_core(10.0)
FIRST = "job_id,submit_time,requested_s,cores"


def read(path: Path, resources: tuple[str, ...] = (), **options: object) -> tuple[tuple[Job, ...], Intake]:
    return read_job_table(path, unit_cores=32, power=POWER, resources=resources, **options)


def table(folder: Path, *lines: str) -> Path:
    path = folder / "jobs.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def one(folder: Path, resources: tuple[str, ...] = (), **cells: object) -> Job:
    """The job of a table with one row; what is not given is usual."""
    defaults = {"job_id": "a", "submit_unix": 1000, "requested_s": 60}
    for name, other in (("submit_unix", "submit_time"), ("requested_s", "requested_h")):
        if other in cells:
            del defaults[name]
    cells = defaults | cells
    path = table(folder, ",".join(cells), ",".join(str(value) for value in cells.values()))
    return read(path, resources)[0][0]


def groups(*parts: tuple[int, dict[str, float]]) -> tuple[UnitGroup, ...]:
    return tuple(UnitGroup.of(count, amounts) for count, amounts in parts)


# Values


def test_the_smallest_table(tmp_path: Path) -> None:
    """Four columns make a job; power comes from the model: 4 cores * 10 W."""
    jobs, intake = read(table(tmp_path, FIRST, "a,2024-06-01T00:00:00Z,3600,4"))
    assert jobs == (Job("a", 1717200000, 3600, groups((1, {"cores": 4})), 40.0),)
    assert intake.kept == 1


def test_every_other_column(tmp_path: Path) -> None:
    """Account, user, name, runtime, deadline and weight arrive as given."""
    job = one(
        tmp_path,
        cores=4,
        power_w=55.5,
        account="phys",
        user="ann",
        name="run 1",
        runtime_s=30,
        deadline="2024-06-01T02:00:00+02:00",
        revenue_weight=0.5,
    )
    assert job == Job("a", 1000, 60, groups((1, {"cores": 4})), 55.5, "phys", "ann", "run 1", 30, 1717200000, 0.5)


def test_a_table_without_rows_has_no_jobs(tmp_path: Path) -> None:
    """Zero jobs are a valid table."""
    assert read(table(tmp_path, FIRST))[0] == ()


@pytest.mark.parametrize("text", ["2024-06-01T00:00:00Z", "2024-06-01 02:00:00+02:00", "2024-05-31T20:00-04:00"])
def test_times_with_an_offset_are_the_same_moment(tmp_path: Path, text: str) -> None:
    """Midnight UTC is 02:00 in Paris in summer and 20:00 in New York."""
    assert one(tmp_path, submit_time=text, cores=1).submit_unix == 1717200000


@pytest.mark.parametrize("text", ["2024-06-01T00:00:00", "2024-06-01"])
@pytest.mark.parametrize("column", ["submit_time", "deadline"])
def test_a_naive_time_is_refused(tmp_path: Path, column: str, text: str) -> None:
    """A time without its offset is never taken for UTC or local."""
    with pytest.raises(
        FileFormatError, match=rf"jobs\.csv:2: column {column} is '{text}', expected a time with its offset.*; write"
    ):
        one(tmp_path, **{column: text}, cores=1)


def test_fractions_of_a_second_are_rounded_up_and_counted(tmp_path: Path) -> None:
    """A job is not known before it was submitted, nor does it get less time than asked for."""
    path = table(tmp_path, FIRST, "a,1970-01-01T00:00:01.25Z,60.5,1", "b,1970-01-01T00:00:01.000Z,60.0,1")
    jobs, intake = read(path)
    assert [(job.submit_unix, job.requested_s) for job in jobs] == [(2, 61), (1, 60)]
    assert intake.repaired == {ROUNDED_TIME: 2}


@pytest.mark.parametrize(("hours", "seconds"), [("1.5", 5400), ("1.1", 3960), ("24", 86400)])
def test_hours_are_exact(tmp_path: Path, hours: str, seconds: int) -> None:
    """1.1 h is 3960 s, although 1.1 * 3600 in floating point is a little more."""
    assert one(tmp_path, requested_h=hours, cores=1).requested_s == seconds


def test_power_per_core_is_times_the_cores(tmp_path: Path) -> None:
    """9.5 W on each of 40 cores is 380 W."""
    assert one(tmp_path, cores=40, power_w_per_core=9.5).power_w == 380.0


def test_an_empty_cell_is_not_given(tmp_path: Path) -> None:
    """A column may be filled in some rows only."""
    path = table(tmp_path, FIRST + ",power_w,runtime_s", "a,1970-01-01T00:00Z,60,1,5,", "b,1970-01-01T00:00Z,60,1,,9")
    jobs, _ = read(path)
    assert [(job.power_w, job.runtime_s) for job in jobs] == [(5.0, None), (10.0, 9)]


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("requested_s", "0", "a number above 0"),
        ("requested_s", "-5", "a number above 0"),
        ("requested_s", "abc", "a number above 0"),
        ("requested_s", "nan", "a number above 0"),
        ("requested_s", "1e999", "a number above 0"),
        ("cores", "0", "a whole number from 1 to 1,000,000,000 cores"),
        ("cores", "2.5", "a whole number from 1 to 1,000,000,000 cores"),
        ("cores", "1_000", "a whole number from 1 to 1,000,000,000 cores"),
        ("cores", "inf", "a whole number from 1 to 1,000,000,000 cores"),
        ("power_w", "-1", "a number from 0 to 1,000,000,000 W"),
        ("power_w_per_core", "x", "a number from 0 to 1,000,000 W"),
        ("runtime_s", "-1", "a whole number from 0 to 3,162,240,000 s"),
        ("revenue_weight", "-1", "a number from 0 to 10,000"),
        ("memory_gb", "-2", "a number from 0 to "),
        ("submit_unix", "-1", "a whole number from 0 to 253,370,764,799 s"),
        ("submit_unix", "1717200000000", "Unix time in seconds; if it is in milliseconds"),
        ("deadline_unix", "soon", "a whole number from 0 to 253,370,764,799 s"),
        ("submit_time", "yesterday", "an ISO 8601 time"),
    ],
)
def test_a_bad_value_names_line_column_value_and_remedy(tmp_path: Path, column: str, value: str, expected: str) -> None:
    """Every value that cannot be is refused where it stands."""
    with pytest.raises(
        FileFormatError, match=rf"jobs\.csv:2: column {column} is '{value}', expected {expected}"
    ) as caught:
        one(tmp_path, **({"cores": 4} | {column: value}))
    assert "; " in str(caught.value)


# Units


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ({"cores": 100}, [(3, {"cores": 32}), (1, {"cores": 4})]),
        ({"cores": 64, "memory_gb": 10}, [(2, {"cores": 32, "memory_gb": 5})]),
        ({"cores": 40, "memory_gb": 10}, [(1, {"cores": 32, "memory_gb": 8}), (1, {"cores": 8, "memory_gb": 2})]),
        ({"cores": 10, "units": 4}, [(2, {"cores": 3}), (2, {"cores": 2})]),
        ({"cores": 8, "units": 4, "gpus_per_unit": 2}, [(4, {"cores": 2, "gpus": 2})]),
        ({"units": 3, "cores_per_unit": 16}, [(3, {"cores": 16})]),
        ({"units": 3, "cores_per_unit": 16, "cores": 48}, [(3, {"cores": 16})]),
        ({"units": 3, "cores_per_unit": 16, "last_unit_cores": 1}, [(2, {"cores": 16}), (1, {"cores": 1})]),
        ({"units": 1, "cores_per_unit": 16, "last_unit_cores": 4}, [(1, {"cores": 4})]),
        (
            {"units": 3, "cores_per_unit": 8, "memory_gb_per_unit": 4, "last_unit_memory_gb": 9},
            [(2, {"cores": 8, "memory_gb": 4}), (1, {"cores": 8, "memory_gb": 9})],
        ),
        (
            {"units": 2, "cores_per_unit": 6, "last_unit_cores": 2, "memory_gb": 16},
            [(1, {"cores": 6, "memory_gb": 12}), (1, {"cores": 2, "memory_gb": 4})],
        ),
        (
            {"unit_groups": "3x cores=32 memory_gb=64; 1x cores=4"},
            [(3, {"cores": 32, "memory_gb": 64}), (1, {"cores": 4})],
        ),
        ({"cores": 4, "gpus": 0}, [(1, {"cores": 4})]),
    ],
)
def test_units(tmp_path: Path, cells: dict[str, object], expected: list[tuple[int, dict[str, float]]]) -> None:
    """Totals are cut into units, other totals go with the cores, and the last unit may differ."""
    assert one(tmp_path, **cells).units == groups(*expected)


def test_a_resource_that_the_site_names(tmp_path: Path) -> None:
    """Any resource of the cluster can have columns, once the caller names it."""
    assert one(tmp_path, ("fpgas",), cores=4, fpgas=2).units == groups((1, {"cores": 4, "fpgas": 2}))
    with pytest.raises(FileFormatError, match="unknown column 'fpgas'"):
        one(tmp_path, cores=4, fpgas=2)


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ({"cores": "", "name": "x"}, "the job has no size; fill cores, or units"),
        ({"cores_per_unit": 4}, "column cores_per_unit is filled, units is not"),
        ({"cores": 4, "last_unit_cores": 1}, "last_unit_cores is filled, cores_per_unit is not"),
        ({"units": 3, "cores_per_unit": 16, "cores": 50}, "column cores is '50', expected 48"),
        ({"cores": 3, "units": 4}, "column units is '4', expected at most"),
        ({"cores": 4, "gpus": 1, "gpus_per_unit": 1}, "columns gpus and gpus_per_unit are both filled"),
        ({"cores": 4, "last_unit_gpus": 1}, "column last_unit_gpus is filled, gpus_per_unit is not"),
        ({"cores": 4, "unit_groups": "1x cores=4"}, "columns unit_groups and cores are both filled"),
        ({"cores": 4, "power_w": 1, "power_w_per_core": 1}, "power_w and power_w_per_core are both filled"),
        ({"unit_groups": "cores=4"}, "cannot read 'cores=4' as units"),
        ({"unit_groups": "2x cores:4"}, "cannot read 'cores:4' as an amount"),
        ({"unit_groups": "2x cores=4; "}, "cannot read '' as units"),
        ({"unit_groups": "2x cores=4 corse=1"}, "unknown resource 'corse'; known are cores, gpus, memory_gb"),
        ({"unit_groups": "2x cores=4 cores=1"}, "cores is given twice"),
        ({"unit_groups": "0x cores=4"}, "units of a kind is 0; it must be from 1"),
        ({"unit_groups": "1x cores=0"}, "a unit asks for nothing"),
    ],
)
def test_contradictions_are_refused(tmp_path: Path, cells: dict[str, object], problem: str) -> None:
    """Where columns disagree or leave something open, the row is named and nothing is chosen."""
    with pytest.raises(FileFormatError, match=rf"jobs\.csv:2: .*{problem}"):
        one(tmp_path, **cells)


# Table


def test_an_unknown_column_suggests_the_right_one(tmp_path: Path) -> None:
    """Typing errors in column names are all reported, and never ignored."""
    with pytest.raises(FileFormatError, match=r"'submit_tme' \(did you mean 'submit_time'\?\), 'zzz'; rename"):
        read(table(tmp_path, "job_id,submit_tme,requested_s,cores,zzz"))


@pytest.mark.parametrize("missing", ["job_id", "submit_time", "requested_s", "cores"])
def test_a_missing_column_is_named(tmp_path: Path, missing: str) -> None:
    """Each of the four necessary columns is asked for."""
    names = [name for name in FIRST.split(",") if name != missing]
    with pytest.raises(FileFormatError, match=rf"jobs\.csv: no column {missing}.*; add it"):
        read(table(tmp_path, ",".join(names)))


def test_a_repeated_job_names_both_lines(tmp_path: Path) -> None:
    """Jobs a on lines 2 and 5 (after a blank line) cannot both be."""
    row = "1970-01-01T00:00Z,60,1"
    with pytest.raises(FileFormatError, match=r"jobs\.csv:5: job_id 'a' is also on line 2; give every job"):
        read(table(tmp_path, FIRST, f"a,{row}", "", f"b,{row}", f"a,{row}"))


def test_a_job_without_an_id_is_refused(tmp_path: Path) -> None:
    """An empty id is not a name."""
    with pytest.raises(FileFormatError, match=r"jobs\.csv:2: column job_id is empty"):
        read(table(tmp_path, FIRST, ",1970-01-01T00:00Z,60,1"))


@pytest.mark.parametrize("row", ["a,1970-01-01T00:00Z,60", "a,1970-01-01T00:00Z,60,1,9"])
def test_a_row_of_other_length_is_refused(tmp_path: Path, row: str) -> None:
    """Short rows are not padded, and what is over is not dropped."""
    with pytest.raises(FileFormatError, match=r"jobs\.csv:3: expected 4 fields, found [35]"):
        read(table(tmp_path, FIRST, "b,1970-01-01T00:00Z,60,1", row))


def test_lines_are_right_after_a_quoted_line_break(tmp_path: Path) -> None:
    """A name over two lines shifts the lines that follow."""
    start = "1970-01-01T00:00Z,60"
    with pytest.raises(FileFormatError, match=r"jobs\.csv:4: column cores is 'x'"):
        read(table(tmp_path, FIRST + ",name", f'a,{start},1,"two\nlines"', f"b,{start},x,y"))


@pytest.mark.parametrize(
    ("content", "problem"),
    [("", "the file is empty"), ("job_id,cores,cores\n", "columns given twice: cores"), ('job_id\n"a', ":2: not CSV")],
)
def test_files_that_are_no_table(tmp_path: Path, content: str, problem: str) -> None:
    """An empty file, a column twice and an open quote each say what is wrong."""
    path = tmp_path / "jobs.csv"
    path.write_text(content)
    with pytest.raises(FileFormatError, match=problem):
        read(path)


def test_a_window_filters_by_submit_time(tmp_path: Path) -> None:
    """The window takes its start and not its end."""
    path = table(tmp_path, "job_id,submit_unix,requested_s,cores", "a,10,1,1", "b,20,1,1", "c,30,1,1")
    jobs, intake = read(path, window=(10, 30))
    assert [job.id for job in jobs] == ["a", "b"]
    assert intake.kept == 2
    assert intake.notes[0].startswith("2 of 3 jobs")


def test_a_resource_may_not_be_called_like_a_column(tmp_path: Path) -> None:
    """A resource called units would make the column units ambiguous."""
    with pytest.raises(InputError, match="resource name 'units' is also a column"):
        read(table(tmp_path, FIRST), ("units",))


# Parquet


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


# Round trip

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=8).filter(
    lambda text: not text or bool(text.strip())
)
AMOUNT = st.floats(min_value=1e-3, max_value=1e9)
GROUP = st.builds(
    UnitGroup.of,
    st.integers(1, 1000),
    st.dictionaries(st.sampled_from(["cores", "memory_gb", "gpus"]), AMOUNT, min_size=1),
)
JOB = st.builds(
    Job,
    id=TEXT.filter(bool),
    submit_unix=st.integers(0, 4_000_000_000),
    requested_s=st.integers(1, 10_000_000),
    units=st.lists(GROUP, min_size=1, max_size=3).map(tuple),
    power_w=st.floats(0, 1e7),
    account=TEXT,
    user=TEXT,
    name=TEXT,
    runtime_s=st.none() | st.integers(0, 10_000_000),
    deadline_unix=st.none() | st.integers(0, 4_000_000_000),
    revenue_weight=st.floats(0, 100),
)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(jobs=st.lists(JOB, max_size=4, unique_by=lambda job: job.id).map(tuple))
def test_what_is_written_reads_back_the_same(tmp_path: Path, suffix: str, jobs: tuple[Job, ...]) -> None:
    """Every field of every job survives the file, to the last bit."""
    path = tmp_path / f"jobs{suffix}"
    write_job_table(jobs, path)
    assert read(path)[0] == jobs


def test_line_breaks_quotes_and_spaces_survive_csv(tmp_path: Path) -> None:
    """Names may hold what CSV uses itself."""
    job = Job("a", 0, 1, groups((1, {"cores": 1})), 0.1 + 0.2, name='  say "hi",\r\nthen; stop ')
    write_job_table([job], tmp_path / "jobs.csv")
    assert read(tmp_path / "jobs.csv")[0] == (job,)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_the_same_jobs_give_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    """Files carry no time of writing."""
    job = Job("a", 0, 1, groups((1, {"cores": 1})), 1.0)
    for name in ("one", "two"):
        write_job_table([job], tmp_path / f"{name}{suffix}")
    assert (tmp_path / f"one{suffix}").read_bytes() == (tmp_path / f"two{suffix}").read_bytes()


def test_what_cannot_be_written_says_why(tmp_path: Path) -> None:
    """An unknown suffix, a missing folder and an odd resource name are told apart."""
    job = Job("a", 0, 1, groups((1, {"a b": 1})), 1.0)
    with pytest.raises(InputError, match=r"use \.csv, \.csv\.gz, \.parquet"):
        write_job_table([], tmp_path / "jobs.txt")
    with pytest.raises(OutputError, match=r"cannot be written \(No such file or directory\)"):
        write_job_table([], tmp_path / "gone" / "jobs.csv")
    with pytest.raises(InputError, match="resource 'a b' cannot be written"):
        write_job_table([job], tmp_path / "jobs.csv")


def test_compressed_csv(tmp_path: Path) -> None:
    """A .csv.gz of anyone's making is read."""
    path = tmp_path / "jobs.csv.gz"
    path.write_bytes(gzip.compress(f"{FIRST}\na,1970-01-01T00:00Z,60,1\n".encode()))
    assert len(read(path)[0]) == 1


# Bounds and types


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("requested_s", "1e18"),
        ("requested_h", "1e9"),
        ("runtime_s", str(2**63)),
        ("power_w", "1e300"),
        ("power_w_per_core", "1e7"),
        ("revenue_weight", "1e99"),
        ("submit_unix", "99999999999999999999"),
        ("deadline", "9999-12-31T23:59:59-14:00"),
        ("submit_time", "1969-12-31T23:59:59Z"),
        ("memory_gb", "1e15"),
    ],
)
def test_a_number_beyond_its_bounds_is_refused(tmp_path: Path, column: str, value: str) -> None:
    """The message names the column, the value and what is allowed."""
    with pytest.raises(
        FileFormatError, match=rf"jobs\.csv:2: column {column} is '{value}', expected ".replace("+", "")
    ):
        one(tmp_path, **({"cores": 4} | {column: value}))


@pytest.mark.parametrize("units", ["9" * 5000 + "x cores=1", "2000000x cores=1", "1x cores=1e10", "1x cores=1e400"])
def test_units_beyond_their_bounds_are_refused(tmp_path: Path, units: str) -> None:
    """However many digits they have."""
    with pytest.raises(FileFormatError, match=r"jobs\.csv:2: "):
        one(tmp_path, unit_groups=units)


def test_a_long_number_takes_no_time(tmp_path: Path) -> None:
    """A hundred thousand digits and a letter are refused at once, in a short line."""
    with pytest.raises(FileFormatError) as caught:
        one(tmp_path, cores="9" * 100_000 + "x")
    assert len(str(caught.value)) < 300


def test_a_lone_carriage_return_is_a_line_break(tmp_path: Path) -> None:
    """A CSV that is written from it could not be read back else."""
    path = tmp_path / "jobs.csv"
    path.write_bytes(f'{FIRST},name\na,1970-01-01T00:00Z,60,1,"x\ry\r\nz"\n'.encode())
    assert read(path)[0][0].name == "x\ny\r\nz"


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


@pytest.mark.parametrize("column", ["job_id", "account", "user", "name"])
def test_texts_have_an_end(tmp_path: Path, column: str) -> None:
    """A thousand characters are a name; more would be copied into every table and page of a day."""
    assert getattr(one(tmp_path, cores=1, **{column: "x" * 1000}), column.removeprefix("job_")) == "x" * 1000
    with pytest.raises(FileFormatError, match=rf"column {column} is .*expected at most 1,000 characters"):
        one(tmp_path, cores=1, **{column: "x" * 1001})
