"""Claims about mutated ``dependency`` cells of job tables: one clear line, or jobs that wait in good order."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from planner.domain.job import KINDS, format_dependencies, parse_dependencies
from planner.domain.precedence import require_no_circle
from planner.inputs.jobs.job_table import write_job_table
from tests.fuzz.damage import put
from tests.fuzz.dependencies import IDS, odd_dependencies
from tests.fuzz.grid import csv_text
from tests.fuzz.refusals import read_or_refused
from tests.job_tables import read


@pytest.mark.parametrize("seed", range(10))
def test_mutated_texts(seed: int) -> None:
    """What is read is written and read back the same; ids are plain, and no dependency stands there twice."""
    rng = random.Random(f"dependency:{seed}")
    good = 0
    for _ in range(1000):
        text = odd_dependencies(rng)
        found = read_or_refused(parse_dependencies, text)
        if found is None:
            continue
        good += bool(found)
        assert parse_dependencies(format_dependencies(found)) == found
        assert len(set(found)) == len(found)
        assert all(each.job_id == each.job_id.strip() != "" for each in found)
    assert 50 < good < 950


@pytest.mark.parametrize("seed", range(20))
def test_mutated_tables(tmp_path: Path, seed: int) -> None:
    """Jobs that wait for each other in a circle are refused; a table that is read is written and read back the same."""
    rng = random.Random(f"dependency table:{seed}")
    good = 0
    for number in range(50):
        grid = [["job_id", "submit_unix", "requested_s", "cores", "dependency"]]
        for identity in rng.sample(IDS[:8], 4):
            cell = odd_dependencies(rng) if rng.random() < 0.3 else f"{rng.choice(KINDS)}:{rng.choice(IDS[:8])}"
            grid.append([identity, "1000", "60", "4", rng.choice(["", cell])])
        text = csv_text(rng, grid).encode("utf-8", "surrogatepass")
        path = tmp_path / f"{number}.csv"
        if rng.random() < 0.2:
            path = put(rng, path, text)
        else:
            path.write_bytes(text)
        found = read_or_refused(read, path)
        if found is None:
            continue
        jobs, _ = found
        good += any(job.after for job in jobs)
        require_no_circle(jobs)
        write_job_table(jobs, tmp_path / "again.csv")
        assert read(tmp_path / "again.csv")[0] == jobs
    assert 5 < good < 45
