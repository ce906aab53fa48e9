"""Claims about the tables of published figures: each has its source, and speaks of what the planner knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.online.estimates import estimate_named
from planner.online.policies import policy_named
from planner.online.replay import CORRECTIONS
from planner.places import shipped_folder
from planner.studies.curie23_setup import RUNS as CURIE23_RUNS
from planner.studies.published import (
    CURIE23,
    CURIE23_SEARCHES,
    DISPATCHERS,
    FIGURES,
    METRICS,
    POLICY_CHANGES,
    PREDICTED,
    PREDICTIONS,
    PREDICTORS,
    RUNS,
    TRACES,
    deadline_trace,
    published_trace,
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


def test_tables_of_the_metrics_paper() -> None:
    """Nine policies, two estimates and four metrics on six traces; EASY on KTH-SP2 has 7 % more BSLD."""
    assert len(TRACES) == 6
    assert sum(len(said) for said in POLICY_CHANGES.values()) == 9 * 2 * 4 * 6
    assert [POLICY_CHANGES["KTH-SP2", "actual", "easy"][metric] for metric in METRICS] == [7, -4, 1, 4]
    assert PREDICTED == {"easy-sjbf": "bsld", "saf-list": "bsld", "laf-list": "awf", "list": "p2sf"}
    for figure in ("change_percent", "r2"):
        assert sum(getattr(said, figure) is not None for said in PREDICTORS.values()) == 22 * 6
    for _, policy, estimate in PREDICTORS:
        assert policy_named(policy)
        assert estimate_named(estimate)


def test_a_trace_is_known_by_the_name_of_its_file() -> None:
    """As the Parallel Workloads Archive names them."""
    assert published_trace("CTC-SP2-1996-3.1-cln") == "CTC-SP2"
    assert published_trace("CEA-Curie-2011-2.1-cln") == "CEA-CURIE"
    assert published_trace("HPC2N-2002-2.2-cln") is None
    assert deadline_trace("SDSC-DS-2004-2.1-cln") == "SDSC-DS"
    assert deadline_trace("mine") == "mine"


def test_the_study_of_curie_has_its_figures() -> None:
    """Of scenarios and runs that there are; what is said of all has no name."""
    shipped = {path.stem for path in (shipped_folder() / "scenarios").glob("*.yaml")}
    assert set(CURIE23) <= shipped
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
