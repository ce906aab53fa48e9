"""Claims about help in plain words, the tab key of shells, and days by name in every command."""

from __future__ import annotations

import datetime as dt
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from planner.cli.main import _command, run
from tests.days import names

PARSER_WORDS = re.compile(r"<(?:str|int|float|path|list)\b[^>]*>|INTEGER|FLOAT|RANGE|[<>]=?x|x[<>]")
QUICK = ("-m", "est", "--bound-time", "0")


def _commands(command: Any, words: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    below = getattr(command, "commands", {})
    return [words, *(each for name, sub in below.items() for each in _commands(sub, (*words, name)))]


@pytest.mark.parametrize("words", _commands(_command()), ids=" ".join)
def test_help_has_no_words_of_the_parser(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """Of every command there is."""
    assert run([*words, "--help"]) == 0
    assert PARSER_WORDS.findall(capsys.readouterr().out) == []


def test_limits_are_told_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    assert "[0 to 2,147,483,647]" in capsys.readouterr().out


def _offered(line: str, folder: Path) -> list[str]:
    """What bash would offer at the end of a line."""
    words = shlex.split(line)
    asked = {"_PLAN_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    path = os.pathsep.join(filter(None, (str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "planner"],
        env=os.environ | asked | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        timeout=600,
    )
    return done.stdout.split()


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("plan --scenario si", ["site"]),
        ("plan compare hybrid", ["hybrid-summer", "hybrid-winter"]),
        ("plan -m mu", ["multisearch"]),
        ("plan simulate -p easy,hol", ["easy,hold"]),
        ("plan show pre", ["predictors"]),
        ("plan check --day to", ["today", "tomorrow"]),
    ],
)
def test_the_tab_key(site: Path, line: str, offered: list[str]) -> None:
    """Names of the site's own scenarios too; after a comma the last name is completed."""
    assert _offered(line, site) == offered


def _today() -> dt.date:
    return dt.datetime.now(ZoneInfo("Europe/Paris")).date()


def test_days_by_name_everywhere(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of runs, reports, comparisons and replays; in the scenario's zone."""
    before = _today()
    assert run(["run", "--from", "today", "--to", "tomorrow", *QUICK, "--fresh", "-q"]) == 0
    if _today() != before:
        pytest.skip("midnight passed")
    wanted = [(before + dt.timedelta(days=ahead)).isoformat() for ahead in (0, 1)]
    assert set(wanted) <= set(names(site / "reports" / "site"))
    capsys.readouterr()
    assert run(["report", "--from", "today", "--to", "Tomorrow", "-q"]) == 0
    assert (site / "reports" / "site" / "costs" / f"{wanted[0]}_{wanted[1]}-by-account.csv").is_file()
    assert run(["compare", "site", "--day", "today", "-m", "est", "-q"]) == 0
    assert f"\n{wanted[0]}, in EUR\n" in capsys.readouterr().out
    assert run(["simulate", "--scenario", "site", "--from", "today", "--to", "tomorrow", "-q"]) in (0, 2)
    assert "as a day" not in capsys.readouterr().err


@pytest.mark.parametrize("command", ["run", "report", "compare site"])
def test_a_day_that_cannot_be_read_is_told_at_once(
    site: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command.split(), "--from", "2024-06-31", "--to", "2024-07-01"]) == 2
    assert "cannot read '2024-06-31' as a day; write it as 2024-06-01, or yesterday" in capsys.readouterr().err


def test_advice_after_a_gap_works_when_followed(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command that the message gives fills the gap, and the day can then be planned."""
    assert run(["--day", "2024-06-01", *QUICK, "-q"]) == 0
    assert run(["--day", "2024-06-04", *QUICK, "-q"]) == 2
    told = capsys.readouterr().err
    advice = re.search(r"plan (run --from \S+ --to \S+)", told)
    assert advice is not None, told
    assert run([*advice[1].split(), *QUICK, "-q"]) == 0
    assert run(["--day", "2024-06-04", *QUICK, "-q"]) == 0
