"""Claims about what is printed: names, paths and options can hold anything, and a terminal is none the wiser."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from planner.cli.main import run
from planner.cli.terminal import say
from tests.days import DAY, JOBS

ODD = "\x1b[31mred\x07\x9b\u202e"
QUICK = ("-m", "est", "--bound-time", "0")


def seen(capsys: pytest.CaptureFixture[str]) -> str:
    """What was printed, all of it printable, every line on stderr short."""
    shown = capsys.readouterr()
    for line in [*shown.out.split("\n"), *shown.err.split("\n")]:
        assert line.isprintable(), line
    assert max(map(len, shown.err.split("\n"))) <= 300
    return shown.out + shown.err


@pytest.fixture
def odd_site(site: Path) -> Path:
    """The small site with control characters in the names of a job that runs and of one that never does."""
    text = JOBS.replace("deep", f"deep{ODD}").replace("giant", f"giant{ODD}").replace("physics", f"physics{ODD}")
    (site / "jobs" / "queue.csv").write_text(text, encoding="utf-8")
    return site


@pytest.mark.parametrize("how", [[], ["--json"]])
def test_names_of_jobs(how: list[str], odd_site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Planning, checking, auditing, reporting and replaying show them written out."""
    assert run(["--day", DAY, "--fresh", *QUICK, *how]) == 0
    assert r"rejected: job giant\x1b[31mred\x07\x9b\u202e" in seen(capsys)
    assert run(["check", "--day", DAY, "--fresh", *how]) == 0
    assert "giant" in seen(capsys)
    assert run(["audit", f"reports/site/{DAY}", *how]) == 0
    seen(capsys)
    assert run(["report", "--by", "account", *how]) == 0
    assert "physics" in seen(capsys)
    assert run(["simulate", "jobs/queue.csv", "--processors", "32", *how]) == 0
    seen(capsys)


def test_json_holds_the_names_as_they_are(odd_site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Written out in JSON's own way, they read back the same."""
    assert run(["check", "--day", DAY, "--fresh", "--json"]) == 0
    rejected = json.loads(seen(capsys))["rejected"]
    assert [each["job_id"] for each in rejected] == [f"giant{ODD}"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--day", f"{DAY}{ODD}"],
        ["--day", DAY, "--scenario", ODD],
        ["--day", DAY, "--method", ODD],
        ["--day", DAY, f"--{ODD}"],
        ["--day", DAY, "--seed", f"1{ODD}"],
        ["--day", DAY, "--jobs", f"{ODD}.csv"],
        ["--day", DAY, "--set", f"{ODD}=1"],
        ["--day", DAY, "--set", f"zone={ODD}"],
        ["show", ODD],
        ["audit", ODD],
        [ODD],
        ["simulate", "jobs/queue.csv", "--processors", "9" * 6000],
    ],
)
def test_options(arguments: list[str], site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever is wrong with a command line is shown in one short printable line."""
    assert run(arguments) == 2
    text = seen(capsys)
    assert text.startswith("plan: ")
    assert text.count("\n") == 1


@pytest.mark.parametrize("argument", ["\udcff", "a\x00b"])
def test_arguments_that_are_no_text(argument: str, site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Bytes that are not UTF-8, and NUL, are refused before anything is read or written."""
    for arguments in (["--day", DAY, "--out", argument], ["check", "--set", argument], ["init", argument]):
        assert run(arguments) == 2
        assert "plan: argument" in seen(capsys)


def test_a_stream_that_knows_few_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an encoding lacks a letter, it is written out."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr("sys.stdout", stream)
    say("5 °C")
    stream.flush()
    assert stream.buffer.getvalue() == b"5 \\xb0C\n"  # type: ignore[attr-defined]
