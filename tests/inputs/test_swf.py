"""SWF traces: every line is read exactly or refused, and what is repaired or dropped is counted."""

from __future__ import annotations

import datetime as dt
import gzip
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from planner.domain.job import UnitGroup
from planner.errors import FileFormatError, InputError
from planner.inputs.jobs.power_models import drawn_per_core, per_core
from planner.inputs.jobs.read import read_jobs
from planner.inputs.jobs.swf_cleaning import (
    CUT_RUNTIME,
    NO_PROCESSORS,
    NO_REQUEST,
    NO_RUNTIME,
    NO_TIME,
    PARTIAL,
    TOOK_RUNTIME,
    TOOK_USED_PROCESSORS,
    swf_jobs,
)
from planner.inputs.jobs.swf_file import FIELDS, SwfTrace, read_swf_trace
from planner.inputs.jobs.unit_groups import UnitShape
from planner.inputs.traces import read_pool

HEADER = "; Version: 2.2\n; UnixStartTime: 1000\n"
SHAPE = UnitShape(unit_cores=32)
POWER = per_core(10.0)
DEFAULTS = dict.fromkeys(FIELDS, "-1") | {
    "job": "1",
    "submit_s": "0",
    "runtime_s": "60",
    "used_procs": "4",
    "requested_procs": "4",
    "requested_s": "100",
    "status": "1",
}


def line(**fields: object) -> str:
    return " ".join(str(value) for value in (DEFAULTS | fields).values())


def write(folder: Path, *lines: str, header: str = HEADER) -> Path:
    path = folder / "jobs.swf"
    path.write_text(header + "\n".join(lines) + "\n")
    return path


def trace_of(folder: Path, *lines: str, header: str = HEADER) -> SwfTrace:
    return read_swf_trace(write(folder, *lines, header=header))


# Lines


def test_all_18_fields_keep_their_place(tmp_path: Path) -> None:
    """Field k of the line is column k, with tabs or spaces between and around."""
    trace = trace_of(tmp_path, "  " + "\t ".join(str(k) for k in range(1, 19)) + "  ")
    assert [values.tolist() for values in trace.columns.values()] == [[float(k)] for k in range(1, 19)]


@pytest.mark.parametrize("count", [1, 17, 19, 36])
@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_line_of_other_than_18_fields_is_refused(tmp_path: Path, count: int, position: int) -> None:
    """Too few or too many fields are never padded or dropped, wherever the line stands; the line is named."""
    lines = [line(job=k) for k in range(3)]
    lines[position] = " ".join(["7"] * count)
    with pytest.raises(FileFormatError, match=rf"jobs\.swf:{position + 3}: expected 18 fields, found {count}; write"):
        trace_of(tmp_path, *lines)


def test_lines_whose_fields_only_add_up_are_refused(tmp_path: Path) -> None:
    """17 and 19 fields make 36, but neither line is right."""
    with pytest.raises(FileFormatError, match=r":3: expected 18 fields, found 17"):
        trace_of(tmp_path, line()[:-3], line() + " 5")


@pytest.mark.parametrize(
    "text",
    ["abc", "nan", "NA", "inf", "-inf", "1e999", "12:30", '"5"', "1_000", "1,5", "5\0", "--5", "1-2", "0x10", "٣"],
)
def test_a_field_that_is_not_a_finite_number_is_named(tmp_path: Path, text: str) -> None:
    """What numpy or pandas might take for a number or a gap is refused, with line, field and text."""
    with pytest.raises(
        FileFormatError, match=r"jobs\.swf:4: field 4 \(run time\) is .*, expected a number; write -1"
    ) as caught:
        trace_of(tmp_path, line(), line(job=2, runtime_s=text))
    assert repr(text) in str(caught.value)


def test_a_comment_after_the_fields_is_refused(tmp_path: Path) -> None:
    """A semicolon begins a comment only at the start of a line."""
    with pytest.raises(FileFormatError, match=r":3: expected 18 fields, found 20"):
        trace_of(tmp_path, line() + " ; odd")


def test_fractions_and_exponents_are_numbers(tmp_path: Path) -> None:
    """An average CPU time of 12.5 s stands in real traces; 1.2e1 is a number too."""
    trace = trace_of(tmp_path, line(cpu_s="12.5"), line(job=2, cpu_s="1.2e1"), line(job=3, cpu_s="552.21"))
    assert trace.columns["cpu_s"].tolist() == [12.5, 12.0, 552.21]


def test_quick_and_careful_parsing_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The columns do not depend on which of the two ways read them."""
    rng = np.random.default_rng(0)
    rows = [" ".join(f"{value:.{k % 3}f}" for k, value in enumerate(row)) for row in rng.uniform(0, 1e6, (200, 18))]
    quick = trace_of(tmp_path, *rows)
    monkeypatch.setattr("planner.inputs.jobs.swf_file._parse_quickly", lambda lines: None)
    careful = trace_of(tmp_path, *rows)
    for name in FIELDS:
        assert quick.columns[name].tolist() == careful.columns[name].tolist()


def test_line_numbers_count_comments_and_blank_lines(tmp_path: Path) -> None:
    """Jobs know their line in the file, after blank lines and comments between them."""
    trace = trace_of(tmp_path, line(), "", "   ", "; a note", line(job=2))
    assert trace.line_numbers.tolist() == [3, 7]


def test_windows_line_ends(tmp_path: Path) -> None:
    """Carriage returns at line ends change nothing."""
    path = tmp_path / "jobs.swf"
    path.write_bytes((HEADER + line() + "\n").replace("\n", "\r\n").encode())
    trace = read_swf_trace(path)
    assert trace.columns["think_s"].tolist() == [-1.0]
    assert trace.header_integer("UnixStartTime") == 1000


def test_a_negative_submit_time_is_refused(tmp_path: Path) -> None:
    """A job without a submit time cannot be planned, and is not silently dropped."""
    with pytest.raises(FileFormatError, match=r"jobs\.swf:4: field 2 \(submit time\) is -1"):
        trace_of(tmp_path, line(), line(job=2, submit_s=-1))


def test_a_trace_without_jobs_is_empty(tmp_path: Path) -> None:
    """Zero jobs are a valid trace."""
    path = tmp_path / "jobs.swf"
    path.write_text(HEADER)
    jobs, intake = read_jobs(path, shape=SHAPE, power=POWER)
    assert jobs == ()
    assert intake.kept == 0


# Header


def test_header_of_real_traces(tmp_path: Path) -> None:
    """Leading integers, repeated keys, comments without a colon and addresses are told apart."""
    header = (
        ";   --- SWF file converted from SACCT ---\n"
        "; MaxProcs: 1664 (72, 1368, 224)\n"
        ";Note: one\n; Note:  two: three\n;\n"
        ";        http://www.cs.huji.ac.il/labs/\n"
        "; Queue:\n; TimeZoneString: Europe/Paris\n; UnixStartTime: 1296571124\n"
    )
    trace = trace_of(tmp_path, line(), header=header)
    assert trace.header == {
        "MaxProcs": ("1664 (72, 1368, 224)",),
        "Note": ("one", "two: three"),
        "Queue": ("",),
        "TimeZoneString": ("Europe/Paris",),
        "UnixStartTime": ("1296571124",),
    }
    assert trace.header_integer("MaxProcs") == 1664
    assert trace.header_integer("maxprocs") == 1664
    assert trace.header_integer("MaxNodes") is None


def test_submit_times_count_from_the_start_of_the_trace(tmp_path: Path) -> None:
    """Start 1000 and submit 5 are Unix time 1005, whatever zone the header names."""
    path = write(tmp_path, line(submit_s=5), header=HEADER + "; TimeZoneString: Asia/Tokyo\n; TimeZone: 32400\n")
    jobs, _ = read_jobs(path, shape=SHAPE, power=POWER)
    assert jobs[0].submit_unix == 1005


def test_a_missing_start_time_needs_an_override(tmp_path: Path) -> None:
    """Without UnixStartTime the reader asks for it; given as an argument, also 0, it is used."""
    trace = trace_of(tmp_path, line(submit_s=5), header="; Version: 2.2\n")
    with pytest.raises(FileFormatError, match=r"the header has no UnixStartTime; add a line .* or give start_unix"):
        swf_jobs(trace, shape=SHAPE, power=POWER)
    assert swf_jobs(trace, shape=SHAPE, power=POWER, start_unix=0)[0][0].submit_unix == 5


@pytest.mark.parametrize("value", ["soon", "12.5"])
def test_a_start_time_that_is_no_integer_is_refused(tmp_path: Path, value: str) -> None:
    """The header's start time is never guessed."""
    with pytest.raises(FileFormatError, match=rf"header UnixStartTime is '{value}', expected an integer"):
        read_jobs(write(tmp_path, line(), header=f"; UnixStartTime: {value}\n"), shape=SHAPE, power=POWER)


# Cleaning


def cleaned(folder: Path, drop_zero_runtime: bool = True, **fields: object) -> tuple[object, dict[str, object]]:
    jobs, intake = read_jobs(
        write(folder, line(**fields)), shape=SHAPE, power=POWER, drop_zero_runtime=drop_zero_runtime
    )
    counts = intake.as_dict()
    return (jobs[0] if jobs else None), {key: counts[key] for key in ("kept", "repaired", "dropped")}


@pytest.mark.parametrize(
    ("fields", "reason", "cores", "requested_s", "runtime_s"),
    [
        ({"requested_procs": -1, "used_procs": 8}, TOOK_USED_PROCESSORS, 8, 100, 60),
        ({"requested_procs": 0, "used_procs": 8}, TOOK_USED_PROCESSORS, 8, 100, 60),
        ({"requested_s": -1}, TOOK_RUNTIME, 4, 60, 60),
        ({"runtime_s": 130}, CUT_RUNTIME, 4, 100, 100),
    ],
)
def test_repairs(
    tmp_path: Path, fields: dict[str, object], reason: str, cores: int, requested_s: int, runtime_s: int
) -> None:
    """What is missing comes from the other field, a runtime is cut at the request, and each is counted."""
    job, counts = cleaned(tmp_path, **fields)
    assert (job.total("cores"), job.requested_s, job.runtime_s) == (cores, requested_s, runtime_s)
    assert counts == {"kept": 1, "repaired": {reason: 1}, "dropped": {}}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"requested_procs": -1, "used_procs": 0}, NO_PROCESSORS),
        ({"requested_s": -1, "runtime_s": 0}, NO_TIME),
        ({"runtime_s": 0}, NO_RUNTIME),
        ({"runtime_s": -1}, NO_RUNTIME),
        ({"runtime_s": 0, "requested_procs": -1, "used_procs": -1}, NO_PROCESSORS),
    ],
)
def test_drops(tmp_path: Path, fields: dict[str, object], reason: str) -> None:
    """A job that cannot be planned or never ran is left out, counted once, and not also as repaired."""
    assert cleaned(tmp_path, **fields) == (None, {"kept": 0, "repaired": {}, "dropped": {reason: 1}})


def test_jobs_that_never_ran_can_be_kept(tmp_path: Path) -> None:
    """For planning the request counts; the runtime is then unknown."""
    job, counts = cleaned(tmp_path, drop_zero_runtime=False, runtime_s=0)
    assert (job.requested_s, job.runtime_s) == (100, None)
    assert counts == {"kept": 1, "repaired": {}, "dropped": {}}


def test_the_used_processors_matter_only_without_a_request(tmp_path: Path) -> None:
    """The request counts where both are given."""
    job, _ = cleaned(tmp_path, requested_procs=2, used_procs=64)
    assert job.total("cores") == 2


def test_partial_executions_are_left_out(tmp_path: Path) -> None:
    """Lines with status 2, 3 or 4 repeat parts of a job that has a line of its own."""
    path = write(tmp_path, line(), line(status=2), line(status=3), line(job=2))
    jobs, intake = read_jobs(path, shape=SHAPE, power=POWER)
    assert [job.id for job in jobs] == ["1", "2"]
    assert intake.dropped == {PARTIAL: 2}


def test_a_replay_is_cleaned_by_the_same_rules(tmp_path: Path) -> None:
    """Jobs, widths, times and counts of a replay are those of planning without the jobs that never ran."""
    path = write(
        tmp_path,
        line(),
        line(status=2),
        line(job=2, requested_procs=-1, used_procs=8),
        line(job=3, requested_s=-1),
        line(job=4, runtime_s=130),
        line(job=5, requested_procs=-1, used_procs=0),
        line(job=6, runtime_s=0),
    )
    jobs, planned = read_jobs(path, shape=SHAPE, power=POWER)
    source = read_pool(path, 100)
    trace = source.trace
    assert source.intake == planned
    assert trace.ids == tuple(job.id for job in jobs) == ("1", "2", "3", "4")
    assert trace.width.tolist() == [job.total("cores") for job in jobs] == [4, 8, 4, 4]
    assert trace.requested_s.tolist() == [job.requested_s for job in jobs] == [100, 100, 60, 100]
    assert trace.runtime_s.tolist() == [job.runtime_s for job in jobs] == [60, 60, 60, 100]


@pytest.mark.parametrize(("unrequested", "kept", "reason"), [("keep", 1, None), ("drop", 0, NO_REQUEST)])
def test_a_replay_may_leave_out_jobs_without_a_request(
    tmp_path: Path, unrequested: str, kept: int, reason: str | None
) -> None:
    """A job without a requested time is repaired, or dropped when told so; one that never ran is dropped as such."""
    path = write(tmp_path, line(), line(job=2, requested_s=-1), line(job=3, requested_s=-1, runtime_s=0))
    source = read_pool(path, 100, unrequested=unrequested)
    assert source.intake.kept == 1 + kept
    assert source.intake.dropped == {NO_RUNTIME: 1} | ({reason: 1} if reason else {})
    assert source.intake.repaired == ({TOOK_RUNTIME: 1} if kept else {})


def test_a_replay_may_be_of_some_partitions_and_queues_alone(tmp_path: Path) -> None:
    """Each job that is left out counts once: under its partition, else under its queue."""
    path = write(tmp_path, line(partition=1, queue=5), line(job=2, partition=2, queue=6), line(job=3, partition=2))
    source = read_pool(path, 100, partitions=(2,), queues=(6, 7))
    assert source.trace.ids == ("2",)
    assert source.intake.dropped == {"of another partition": 1, "of another queue": 1}
    assert read_pool(path, 100, partitions=(1, 2)).trace.ids == ("1", "2", "3")
    table = tmp_path / "jobs.csv"
    table.write_text("job_id,submit_unix,requested_s,cores\na,0,60,1\n", encoding="utf-8")
    with pytest.raises(InputError, match="only SWF jobs have numbers of partitions and queues"):
        read_pool(table, 100, queues=(1,))


def test_a_repeated_job_number_is_refused(tmp_path: Path) -> None:
    """Two whole jobs of one number cannot be told apart; both lines are named."""
    with pytest.raises(FileFormatError, match=r"jobs\.swf:5: job 1 is also on line 3; give every job"):
        read_jobs(write(tmp_path, line(), line(job=2), line()), shape=SHAPE, power=POWER)


def test_a_job_number_must_be_whole(tmp_path: Path) -> None:
    """Job 1.5 would collide with job 1, in a plan and in a replay."""
    path = write(tmp_path, line(job=1.5))
    with pytest.raises(FileFormatError, match=r":3: field 1 \(job number\) is 1.5"):
        read_jobs(path, shape=SHAPE, power=POWER)
    with pytest.raises(FileFormatError, match=r":3: field 1 \(job number\) is 1.5"):
        read_pool(path, processors=4)


# What a job becomes


@pytest.mark.parametrize(
    ("cores", "groups"),
    [
        (1, ((1, 1),)),
        (32, ((1, 32),)),
        (33, ((1, 32), (1, 1))),
        (96, ((3, 32),)),
        (100, ((3, 32), (1, 4))),
    ],
)
def test_cores_become_full_units_and_a_rest(tmp_path: Path, cores: int, groups: tuple[tuple[int, int], ...]) -> None:
    """100 cores in units of 32 are three full units and one of 4."""
    job, _ = cleaned(tmp_path, requested_procs=cores)
    assert job.units == tuple(UnitGroup.of(count, {"cores": size}) for count, size in groups)


@pytest.mark.parametrize(("scale", "asked", "cores"), [(0.5, 5, 3), (0.5, 4, 2), (0.1, 1, 1), (9600 / 93312, 256, 26)])
def test_scaled_cores_round_half_up(scale: float, asked: int, cores: int) -> None:
    """2.5 becomes 3, 0.1 becomes 1, and 256 * 9600 / 93312 = 26.3 becomes 26."""
    assert UnitShape(32, scale).scaled_cores(asked) == cores


def test_memory_goes_with_the_cores_of_each_unit(tmp_path: Path) -> None:
    """2 GB per processor (2097152 KB) is 64 GB on a unit of 32 cores and 8 GB on one of 4."""
    job, _ = cleaned(tmp_path, requested_procs=36, requested_kb=2 * 1024 * 1024, used_kb=5)
    assert job.units == (
        UnitGroup.of(1, {"cores": 32, "memory_gb": 64}),
        UnitGroup.of(1, {"cores": 4, "memory_gb": 8}),
    )


def test_names_and_power(tmp_path: Path) -> None:
    """Group, user and executable become account, user and name; power is that of the cores after scaling: 2 * 10 W."""
    path = write(tmp_path, line(user=7, group=3, executable=5), line(job=2))
    jobs, _ = read_jobs(path, shape=UnitShape(32, 0.5), power=POWER)
    assert [(job.id, job.account, job.user, job.name, job.power_w) for job in jobs] == [
        ("1", "group3", "user7", "app5", 20.0),
        ("2", "", "", "", 20.0),
    ]


def test_a_window_takes_its_start_and_not_its_end(tmp_path: Path) -> None:
    """Of submits at 1000, 1010 and 1020 the window [1000, 1020) has two, and counts only those."""
    path = write(tmp_path, *(line(job=k, submit_s=10 * k, runtime_s=130) for k in range(3)))
    jobs, intake = read_jobs(path, shape=SHAPE, power=POWER, window=(1000, 1020))
    assert [job.id for job in jobs] == ["0", "1"]
    assert intake.repaired == {CUT_RUNTIME: 2}
    assert intake.notes == ["2 of 3 jobs were submitted in the window [1000, 1020) of Unix time"]


@pytest.mark.parametrize(
    "shape", [{"unit_cores": 0}, {"unit_cores": 1, "core_scale": 0.0}, {"unit_cores": 1, "core_scale": float("nan")}]
)
def test_an_impossible_shape_is_refused(shape: dict[str, float]) -> None:
    """Units need cores, and a scale is a positive number."""
    with pytest.raises(InputError, match="must"):
        UnitShape(**shape)


# Real traces

AUGUST_7 = int(dt.datetime(2012, 8, 7, tzinfo=dt.UTC).timestamp())
STUDY_WINDOW = (AUGUST_7, AUGUST_7 + 23 * 86400)


read_once = lru_cache(read_swf_trace)


@pytest.fixture
def curie(planner_data: Path) -> SwfTrace:
    return read_once(planner_data / "swf" / "CEA-Curie-2011-2.1-cln.swf.gz")


def test_curie_is_read_whole(curie: SwfTrace) -> None:
    """312,826 jobs on 93,312 cores, the first submitted 31,656,837 s after the start (data README)."""
    assert len(curie) == 312_826
    assert curie.header_integer("MaxProcs") == 93_312
    assert curie.header_text("TimeZoneString") == "Europe/Paris"
    assert curie.columns["submit_s"][0] == 31_656_837


@pytest.mark.slow
def test_counts_of_the_whole_of_curie(curie: SwfTrace) -> None:
    """17,286 jobs with zero runtime or processors go; 5,416 ran past their request (data README)."""
    _, intake = swf_jobs(curie, shape=SHAPE, power=POWER)
    assert intake.dropped.total() == 17_286
    assert intake.repaired[CUT_RUNTIME] == 5_416
    assert intake.kept + intake.dropped.total() == len(curie)


@pytest.mark.parametrize(
    ("drop_zero_runtime", "kept", "dropped"),
    [
        (False, 33_609, {NO_PROCESSORS: 1}),
        (True, 30_894, {NO_PROCESSORS: 1, NO_RUNTIME: 2_715}),
    ],
)
def test_the_window_of_the_study(curie: SwfTrace, drop_zero_runtime: bool, kept: int, dropped: dict[str, int]) -> None:
    """33,610 lines were submitted in the 23 days; job 664680 asks for nothing, 2,715 others never ran."""
    jobs, intake = swf_jobs(
        curie,
        shape=UnitShape(32, 9600 / 93312),
        power=drawn_per_core(),
        window=STUDY_WINDOW,
        drop_zero_runtime=drop_zero_runtime,
    )
    assert len(jobs) == intake.kept == kept
    assert intake.dropped == dropped
    assert intake.kept + intake.dropped.total() == 33_610
    assert all(STUDY_WINDOW[0] <= job.submit_unix < STUDY_WINDOW[1] for job in jobs)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("KTH-SP2-1996-2.1-cln", 28_476),
        ("KTH-SP2-filtered", 28_481),
        ("SDSC-SP2-1998-4.2-cln", 59_715),
    ],
)
def test_other_traces_are_read_whole(planner_data: Path, name: str, count: int) -> None:
    """Every data line of the archive's files is a job, and its fields are what splitting the line gives."""
    path = planner_data / "swf" / f"{name}.swf.gz"
    trace = read_swf_trace(path)
    assert len(trace) == count
    with gzip.open(path, "rt") as stream:
        last = stream.readlines()[int(trace.line_numbers[-1]) - 1].split()
    assert [values[-1] for values in trace.columns.values()] == [float(text) for text in last]


# Bounds


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        (
            "requested_s",
            "9" * 30,
            r"field 9 \(requested time\) is 1e\+30, expected a number from .* to 3,162,240,000 s",
        ),
        ("requested_s", "4e9", r"field 9 \(requested time\)"),
        ("requested_procs", "2e9", r"field 8 \(requested processors\) is 2e\+09, expected"),
        ("user", "1e300", r"field 12 \(user\) is 1e\+300"),
        ("submit_s", "1e18", r"field 2 \(submit time\)"),
    ],
)
def test_a_field_beyond_all_bounds_is_named(tmp_path: Path, field: str, value: str, words: str) -> None:
    """What does not fit into 64 bits, or no machine has, is refused with its line; 2147483647 s are not."""
    with pytest.raises(FileFormatError, match=rf"jobs\.swf:4: {words}"):
        read_swf_trace(write(tmp_path, line(job=2, requested_s=2147483647), line(**{field: value})))


def test_a_job_that_no_planner_can_take_is_named(tmp_path: Path) -> None:
    """A billion processors in units of one are more than any job may have."""
    path = write(tmp_path, line(requested_procs=10**9))
    with pytest.raises(FileFormatError, match=r"jobs\.swf: the job of number 1: .* units"):
        read_jobs(path, shape=UnitShape(unit_cores=1), power=POWER)


@pytest.mark.parametrize("value", ["9" * 5000, "99999999999999999999", "-5", "253402300800"])
def test_a_start_beyond_the_calendar_is_refused(tmp_path: Path, value: str) -> None:
    """Whatever its digits."""
    path = write(tmp_path, line(), header=f"; UnixStartTime: {value}\n")
    with pytest.raises(FileFormatError, match="UnixStartTime"):
        read_jobs(path, shape=SHAPE, power=POWER)


@pytest.mark.parametrize("comment", ["; a" + " " * 200_000, "; a: b" + " " * 200_000 + "c", ";" * 200_000])
def test_long_comments_take_no_time(tmp_path: Path, comment: str) -> None:
    """Spaces without end are looked at once."""
    assert len(trace_of(tmp_path, comment, line())) == 1


def test_a_long_number_takes_no_time(tmp_path: Path) -> None:
    """A hundred thousand digits and a letter are refused at once."""
    with pytest.raises(FileFormatError, match=r"jobs\.swf:3: "):
        trace_of(tmp_path, line(requested_s="9" * 5_000 + "x"))
