"""A slice of a day on a real Slurm, planned again and again: its accounts and the planner's ledger agree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.slurm_day import Entry, compare, report, run_day, standing_in, write_site
from tests.slurm.cluster import ACCOUNTING, Cluster, why_not


@pytest.mark.slow
@pytest.mark.skipif(bool(why_not(ACCOUNTING)), reason=f"no accounting: {why_not(ACCOUNTING)}")
def test_accounts_and_ledger_agree_job_by_job(empty_cluster: Cluster, tmp_path: Path) -> None:
    """Nothing is lost, killed or started before its begin time, and both books have the same of every job."""
    with standing_in(write_site(tmp_path / "site"), empty_cluster):
        day = run_day(empty_cluster, jobs=30, seconds=5, every_s=2, seed=3)
        lines, differences = report(empty_cluster, day)
    assert differences == []
    assert day.changes == 0  # the tariff is flat
    assert len(day.submitted) == 30
    assert "differences" in lines[-1]


def test_what_differs_between_books_is_named() -> None:
    """A job that one of them does not have, or has otherwise."""
    entry = Entry(1, 5, frozenset({"n1"}), 16)
    books = {"1": entry, "2": entry, "3": entry}
    assert compare(books, dict(books)) == []
    found = compare(books, {"1": replace(entry, end_unix=6), "2": entry, "4": entry})
    assert [line.partition(":")[0] for line in found] == ["1", "3", "4"]
