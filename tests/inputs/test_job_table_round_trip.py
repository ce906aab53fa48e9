"""Claims about job tables that are written: they read back the same, to the byte and to the last digit."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.domain.job import KINDS, Dependency, Job, UnitGroup
from planner.errors import InputError, OutputError
from planner.inputs.jobs.job_table import write_job_table
from tests.job_tables import groups, read

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=8).filter(
    lambda text: not text or bool(text.strip())
)
AMOUNT = st.floats(min_value=1e-3, max_value=1e9)
GROUP = st.builds(
    UnitGroup.of,
    st.integers(1, 1000),
    st.dictionaries(st.sampled_from(["cores", "memory_gb", "gpus"]), AMOUNT, min_size=1),
)
DEPENDENCY = st.builds(Dependency, st.sampled_from(KINDS), st.integers(0, 99).map(lambda number: f"gone {number}"))
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
    after=st.lists(DEPENDENCY, max_size=3, unique=True).map(tuple),
)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
