"""Claims about the other commands: help, check, show, init and table."""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from planner.cli.main import run
from planner.inputs.pue_csv import read_pue_table
from planner.places import shipped_folder
from tests.days import DAY, plan, rows_of, tree

COMMANDS = ["run", "compare", "check", "audit", "init", "show", "table", "table build", "power", "power learn"]
COMMANDS += ["power errors", "study curie23", "study dispatchers", "study metrics", "study deadlines"]
SHIPPED = sorted(path.stem for path in (shipped_folder() / "scenarios").glob("*.yaml"))


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """``plan`` alone and ``plan --help`` show examples and exit codes on stdout, each example on one line."""
    assert run(arguments) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "plan --day 2024-06-01 --jobs queue.csv   the same with the jobs of a file\n" in shown.out
    text = " ".join(shown.out.split())
    for code in ("0 done", "2 bad input", "5 a plan breaks a rule", "6 the output", "130 int"):
        assert code in text
    assert max(map(len, shown.out.splitlines())) <= 80


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_commands(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every command has help, and it says what the command is for."""
    assert run([*command.split(), "--help"]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith(f"Usage: plan {command}")
    assert shown.err == ""


def test_command_groups_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """A group without its command shows its help, and that is no error."""
    assert run(["table"]) == 0
    assert "build" in capsys.readouterr().out


def test_help_is_light() -> None:
    """``plan --help`` loads none of the packages that take seconds."""
    script = (
        "import sys; from planner.cli.main import run; code = run(['--help']);"
        "heavy = {'pandas', 'pvlib', 'docplex', 'numba', 'numpy', 'scipy', 'pyarrow', 'pydantic', 'rich'};"
        "heavy &= set(sys.modules);"
        "sys.exit(f'{code} {heavy}' if code or heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr


def test_program_without_colour(tmp_path: Path) -> None:
    """The installed program and ``python -m planner`` are the same, and write no colours into a pipe."""
    environment = os.environ | {"NO_COLOR": "1"}
    program = Path(sys.executable).parent / "plan"
    outputs = [
        subprocess.run(
            [*command, "show", "methods"], capture_output=True, text=True, check=True, cwd=tmp_path, env=environment
        )
        for command in ([str(program)], [sys.executable, "-m", "planner"])
    ]
    assert outputs[0].stdout == outputs[1].stdout
    assert "multisearch" in outputs[0].stdout
    assert "\x1b" not in outputs[0].stdout + outputs[0].stderr


def test_closed_pipe() -> None:
    """A reader that goes away early, as ``head`` does, gets no traceback."""
    process = subprocess.Popen(
        [sys.executable, "-m", "planner", "show", "orderings"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    _, errors = process.communicate(timeout=600)
    assert b"Traceback" not in errors
    assert b"Exception" not in errors


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    """``plan --version`` is one line."""
    assert run(["--version"]) == 0
    assert re.fullmatch(r"plan \d+\.\d+\.\d+\n", capsys.readouterr().out)


@pytest.mark.parametrize("arguments", [["--day", DAY], ["--scenario", "nope"], ["--set", "seed=1"], ["-q"]])
def test_options_before_a_command(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """An option before a command is refused rather than lost."""
    assert run([*arguments, "check"]) == 2
    assert "stands before check and would be lost" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["frobnicate"], ["--seed", "1"], ["audit"], ["show"], ["init"], ["table", "build"], ["--day"]]
)
def test_usage_errors(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """What the parser refuses is one line with exit code 2, and points to the help of that command."""
    assert run(arguments) == 2
    command = " ".join(["plan", *(word for word in arguments if word in ("audit", "show", "init", "table", "build"))])
    assert re.fullmatch(rf"plan: [^\n]*[^.]; see {command} --help\n", capsys.readouterr().err)


def test_check(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``plan check`` says what would be planned and from where, and writes nothing."""
    before = tree(site)
    assert run(["check", "--day", DAY]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    # wide 192 + deep 8 + long 320 + soon 4 + free 4 + night and again 288 each + more 960 + tiny 0.01 = 2064
    # core-hours, of 4 nodes x 8 cores x 24 h = 768.
    assert "jobs      9, asking 2,064 core-hours: 269 % of the day" in shown.out
    assert "rejected: giant asks for 5 units" in shown.out
    assert "machine   4 nodes, 32 cores" in shown.out
    for source in ("jobs from", "weather from", "cooling table from"):
        assert source in shown.out
    assert tree(site) == before


def test_check_reads_the_day_before(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What it leaves is counted; a gap in the days is refused in the words of planning; --fresh starts anew."""
    assert run(["--day", DAY, "-m", "multisearch", "--bound-time", "0", "-q"]) == 0
    day = dt.date.fromisoformat(DAY)
    tomorrow, later = (str(day + dt.timedelta(days=days)) for days in (1, 2))
    capsys.readouterr()
    assert run(["check", "--day", tomorrow, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["continues"] == DAY
    assert told["running"] + told["waiting"] > 0
    assert run(["check", "--day", tomorrow]) == 0
    assert f"before    {DAY}, which leaves {told['running']} jobs running" in capsys.readouterr().out
    assert run(["check", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == told  # without a day: the one after the last result
    assert run(["check", "--day", later]) == run(["--day", later, "-q"]) == 2
    checked, planned = capsys.readouterr().err.splitlines()
    assert checked == planned
    assert run(["check", "--day", later, "--fresh"]) == 0
    assert "nothing: the day starts anew" in capsys.readouterr().out


def test_check_json(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``plan check --json`` is JSON and nothing else; without a day it takes tomorrow."""
    assert run(["check", "--json", "--fresh"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["jobs"] == 9
    assert [each["job_id"] for each in told["rejected"]] == ["giant"]
    assert told["zone"] == "Europe/Paris"


@pytest.mark.parametrize(
    ("topic", "word"),
    [
        ("methods", "multisearch"),
        ("orderings", "+latest-start"),
        ("scenarios", "site"),
        ("versions", "numpy"),
        ("docs", "python"),
    ],
)
def test_show(site: Path, topic: str, word: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every topic lists names with a sentence each, and the same as JSON."""
    assert run(["show", topic]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert run(["show", topic, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [line.split()[0] for line in lines] == list(told)
    assert word in told
    assert all(told.values())


def test_show_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown topic is exit code 2 with the known ones."""
    assert run(["show", "bananas"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("plan: nothing to show by the name of 'bananas'; known: methods, params, orderings, ")
    assert {"policies", "metrics", "predictors", "scenarios", "versions"} <= set(
        err.split("known: ")[1].strip().split(", ")
    )


def test_show_scenarios_with_a_broken_one(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A scenario that cannot be read does not hide the others."""
    (site / "scenarios" / "broken.yaml").write_text("a: [1\n")
    assert run(["show", "scenarios"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == sorted({"broken", "site", *SHIPPED})
    assert ["cannot be read" in line for line in lines] == [line.startswith("broken") for line in lines]


def test_init(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A new site plans its day by default and audits clean, as its README says; a second init refuses."""
    monkeypatch.chdir(tmp_path)
    assert run(["init", "mine"]) == 0
    listed = capsys.readouterr().out.split()
    assert listed == sorted(name for name in (f"mine/{path}" for path in tree(tmp_path / "mine")) if "." in name)
    before = tree(tmp_path)
    assert run(["init", "mine"]) == 2
    assert capsys.readouterr().err == "plan: mine is not empty; name a new or empty folder\n"
    assert tree(tmp_path) == before
    monkeypatch.chdir(tmp_path / "mine")
    assert run(["check", "--scenario", "site"]) == 0
    plan("--day", DAY)
    assert len(rows_of(Path("reports/site") / DAY / "schedule.csv")) == 12
    assert run(["audit", f"reports/site/{DAY}"]) == 0


def test_init_into_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file where a folder should be is refused."""
    (tmp_path / "taken").write_text("")
    assert run(["init", str(tmp_path / "taken")]) == 2
    assert run(["init", str(tmp_path / "taken" / "deeper")]) in (2, 6)
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("plant", ["air", "hybrid", "own.yaml"])
def test_table(tmp_path: Path, plant: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A table is built for a shipped plant or one's own, reads back, covers the power asked for, and has a picture."""
    monkeypatch.chdir(tmp_path)
    Path("own.yaml").write_text("base: air\nname: mine\nair: {chiller_cop: 2.5}\n")
    arguments = ["--plant", plant, "--max-power-kw", "20", "--power-step-w", "1000"]
    assert run(["table", "build", "--out", "t.csv", *arguments, "--picture", "t.png"]) == 0
    assert capsys.readouterr().out == "t.csv\nt.png\n"
    made, _ = read_pue_table("t.csv")
    assert made.powers_w[-1] == 20000
    assert Path("t.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--plant", "water"], 2, "unknown cooling plant 'water'; use air or hybrid"),
        (["--plant", "gone.yaml"], 2, "gone.yaml: no such file"),
        (["--plant", "bad.yaml"], 2, "unknown key 'chiler_cop'; did you mean 'chiller_cop'"),
        (["--max-power-kw", "-3"], 2, "--max-power-kw"),
        (["--max-power-kw", "nan"], 2, "--max-power-kw"),
        (["--max-power-kw", "1", "--power-step-w", "5000"], 2, "give a larger power or a smaller step"),
        (["--step-c", "0.1"], 2, "the number of temperatures is 651; it must be from 1 to 401 columns"),
        (["--first-c", "20", "--last-c", "10"], 2, "the last must be warmer than the first"),
        (["--picture", "t.xyz"], 2, "its name must end in .png, .svg, .pdf"),
        (["--out", "bad.yaml/where.csv"], 6, "bad.yaml/where.csv: cannot be written"),
        (["--out", "ok.csv", "--picture", "bad.yaml/where.png"], 6, "bad.yaml/where.png: cannot be written"),
    ],
)
def test_table_bad_values(
    tmp_path: Path,
    arguments: list[str],
    code: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Bad values are one line with the right exit code, and no table appears."""
    monkeypatch.chdir(tmp_path)
    Path("bad.yaml").write_text("base: air\nair: {chiler_cop: 2.5}\n")
    assert run(["table", "build", "--out", "t.csv", "--max-power-kw", "5", *arguments]) == code
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert message in told
    assert not Path("t.csv").exists()


def test_why_a_planned_job_waits(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By its name alone, from the last day of the site: what the plan expects of it, and which plan."""
    capsys.readouterr()
    assert run(["why", "wide"]) == 0
    told, made = capsys.readouterr().out.splitlines()
    assert told.startswith("job wide is not held; it waits for its turn and for room on the machine")
    assert made == f"as planned for {DAY}"
