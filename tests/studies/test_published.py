"""Claims about the tables of published figures: each has its source, and speaks of what the planner knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.online.estimates import estimate_named
from planner.online.policies import policy_named
from planner.online.replay import CORRECTIONS
from planner.places import shipped_folder
from planner.studies.curie23.cells import RUNS as CURIE23_RUNS
from planner.studies.curie23.cells import SCENARIOS
from planner.studies.published import (
    CURIE23,
    CURIE23_SEARCHES,
    DISPATCHERS,
    FIGURES,
    METRICS,
    POLICY_CHANGES,
    PREDICTIONS,
    RUNS,
    published_change,
)


@pytest.mark.parametrize("path", sorted(FIGURES.glob("*.csv")), ids=lambda path: path.stem)
def test_every_table_has_a_source(path: Path) -> None:
    """The README beside the tables has one row per table, with what it says and where it comes from."""
    rows = [line for line in (FIGURES / "README.md").read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    (row,) = [row for row in rows if row.startswith(f"| `{path.name}` |")]
    assert all(cell.strip() for cell in row.strip("|").split("|"))


def test_published_runs_can_be_made() -> None:
    """Every policy, estimate and correction is one that the simulator knows by that name."""
    for _, estimate, policy in POLICY_CHANGES:
        assert policy_named(policy)
        assert estimate_named(estimate)
    for policy, estimate, correction in RUNS:
        assert policy_named(policy)
        assert estimate_named(estimate)
        assert correction in CORRECTIONS
    assert tuple(PREDICTIONS[28_481, 100].bsld) == RUNS  # of KTH-SP2 every run was published


def test_a_change_is_found_by_trace_estimate_policy_and_metric() -> None:
    """Table of the metrics paper: EASY on KTH-SP2 with actual times has 7 % more BSLD and 4 % more P2SF."""
    assert [published_change(28_481, "actual", "easy", metric) for metric in METRICS] == [7, -4, 1, 4]
    assert published_change(28_480, "actual", "easy", "bsld") is None
    assert published_change(28_481, "actual", "list", "bsld") is None


def test_the_study_of_curie_has_its_figures() -> None:
    """Every scenario of the study, and runs that there are; what is said of all has no name."""
    assert tuple(CURIE23) == SCENARIOS
    assert {method for _, method in CURIE23_SEARCHES} - {""} <= set(CURIE23_RUNS)
    assert all(least <= most for least, most in CURIE23_SEARCHES.values())


def test_dispatchers_are_policies_on_machines_that_there_are() -> None:
    """PCP'19 came to no end on KIT's machine, and nothing else did so; both have their scenarios."""
    shipped = {path.stem for path in (shipped_folder() / "scenarios").glob("*.yaml")}
    for machine, estimate, policy in DISPATCHERS:
        assert machine in shipped
        assert estimate_named(estimate)
        assert policy_named(policy).dispatcher
    endless = [(machine, policy) for (machine, _, policy), told in DISPATCHERS.items() if not told.has_ended]
    assert endless == [("kit-forhlr2", "pcp19")] * 2
    assert DISPATCHERS["eurora", "data", "pcp21"].dispatch_ms == 209
