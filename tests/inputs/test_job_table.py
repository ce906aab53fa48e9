"""Claims about the cells of job tables: columns mean what they say, and nothing is guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.domain.job import Dependency, Job
from planner.errors import FileFormatError
from planner.inputs.jobs.power_models import per_core
from planner.inputs.jobs.read import read_jobs
from planner.inputs.jobs.unit_groups import UnitShape
from planner.inputs.table_cells import ROUNDED_TIME
from tests.job_tables import FIRST, groups, one, read, table


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
    """Without a zone, a time without its offset is never taken for UTC or local."""
    with pytest.raises(
        FileFormatError, match=rf"jobs\.csv:2: column {column} is '{text}', expected a time with its offset.*; write"
    ):
        one(tmp_path, **{column: text}, cores=1)


@pytest.mark.parametrize(
    ("text", "unix"),
    [("2024-06-01T02:00:00", 1717200000), ("2024-01-01T00:00:00", 1704063600), ("2024-06-01", 1717192800)],
)
def test_local_times_are_of_the_zone(tmp_path: Path, text: str, unix: int) -> None:
    """Two in the morning in Paris is midnight UTC in summer; in winter clocks are one hour ahead."""
    path = table(tmp_path, FIRST, f"a,{text},60,1")
    jobs, _ = read_jobs(path, shape=UnitShape(32), power=per_core(1.0), zone="Europe/Paris")
    assert jobs[0].submit_unix == unix


@pytest.mark.parametrize(("text", "often"), [("2024-03-31T02:30:00", "never"), ("2024-10-27T02:30:00", "twice")])
def test_local_times_that_clocks_skip_or_repeat_are_refused(tmp_path: Path, text: str, often: str) -> None:
    path = table(tmp_path, FIRST, f"a,{text},60,1")
    with pytest.raises(FileFormatError, match=f"with its offset: Europe/Paris has this one {often}; write"):
        read_jobs(path, shape=UnitShape(32), power=per_core(1.0), zone="Europe/Paris")


@pytest.mark.parametrize("column", ["requested", "time_limit"])
@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1-12:00:00", 129600),
        ("2-06", 194400),
        ("2-06:30", 196200),
        ("08:30:00", 30600),
        ("100:00:00", 360000),
        ("45:30", 2730),
        ("90", 5400),
        ("4h", 14400),
        ("1h 30m", 5400),
    ],
)
def test_durations_as_slurm_writes_them(tmp_path: Path, column: str, text: str, seconds: int) -> None:
    """A number alone is minutes, as sbatch --time takes it; after days it is hours."""
    path = table(tmp_path, f"job_id,submit_unix,{column},cores", f"a,0,{text},1")
    assert read(path)[0][0].requested_s == seconds


@pytest.mark.parametrize("text", ["UNLIMITED", "1:75:00", "-5", "0", "1-", "12:", "1.5", "36601-00:00:00", "soon"])
def test_what_is_no_duration_is_refused(tmp_path: Path, text: str) -> None:
    path = table(tmp_path, "job_id,submit_unix,time_limit,cores", f"a,0,{text},1")
    with pytest.raises(FileFormatError, match=r"jobs\.csv:2: column time_limit is .*, expected D-HH:MM:SS"):
        read(path)


def test_a_job_has_one_requested_time(tmp_path: Path) -> None:
    path = table(tmp_path, "job_id,submit_unix,requested_h,time_limit,cores", "a,0,1,60,1")
    with pytest.raises(FileFormatError, match="columns requested_h and time_limit are both filled"):
        read(path)


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


def test_dependencies_are_read_in_slurms_words(tmp_path: Path) -> None:
    """Kinds parted by commas, ids by colons; an empty cell is none."""
    path = table(
        tmp_path,
        "job_id,submit_unix,requested_s,cores,dependency",
        "a,1000,60,1,",
        'b,1000,60,1,"afterok:a,after:x:y"',
    )
    first, second = read(path)[0]
    assert first.after == ()
    assert second.after == (Dependency("afterok", "a"), Dependency("after", "x"), Dependency("after", "y"))


def test_a_dependency_that_cannot_be_read_names_its_line(tmp_path: Path) -> None:
    """As every other cell."""
    path = table(tmp_path, "job_id,submit_unix,requested_s,cores,dependency", "a,1000,60,1,afternotok:7")
    with pytest.raises(FileFormatError, match=r"jobs.csv:2: unknown dependency 'afternotok:7'; write after, afterok"):
        read(path)


def test_a_circle_of_dependencies_is_one_line_with_the_file_and_the_jobs(tmp_path: Path) -> None:
    """Nothing of such a table can be planned."""
    rows = ("a,1000,60,1,afterok:b", "b,1000,60,1,afterany:a")
    with pytest.raises(FileFormatError, match=r"jobs.csv: jobs wait for each other in a circle: a -> b -> a; remove"):
        read(table(tmp_path, "job_id,submit_unix,requested_s,cores,dependency", *rows))
