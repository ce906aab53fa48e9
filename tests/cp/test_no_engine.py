"""Claims about machines without a CP engine: one line with the remedy, and the default method as always."""

from __future__ import annotations

from pathlib import Path

import pytest
from docplex.cp.model import CpoModel

from planner.cli.main import run
from planner.cp.engines import ENGINES, choose_engine
from planner.errors import SolverError

QUICK = ("--bound-time", "0", "--fresh", "-q")


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    for engine in ENGINES.values():
        monkeypatch.setattr(type(engine), "available", lambda self: False)


@pytest.mark.usefixtures("no_engine")
def test_a_method_that_needs_an_engine_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 4, one line, nothing written."""
    monkeypatch.chdir(tmp_path)
    assert run(["init", "."]) == 0
    capsys.readouterr()
    assert run(["--day", "2024-06-01", "-s", "site", "-m", "cp", *QUICK]) == 4
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "pip install ortools" in told
    assert not (tmp_path / "reports" / "site" / "2024-06-01").exists()


@pytest.mark.usefixtures("no_engine")
@pytest.mark.parametrize("name", [None, "cpsat"])
def test_no_engine_can_be_chosen(name: str | None) -> None:
    with pytest.raises(SolverError, match=r"installed; install it with: pip install ortools, or use a"):
        choose_engine(name, CpoModel())


@pytest.mark.usefixtures("no_engine")
def test_the_default_needs_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["init", "."]) == 0
    assert run(["--day", "2024-06-01", "-s", "site", *QUICK]) == 0
