"""Claims of all documents but the tutorials: each command in them runs, or says in `NOT_RUN` why it is not run here.

Each runs in a folder of its own, with a small site and the files that documents speak of; a day is planned there for
those that read reports.
"""

from __future__ import annotations

import datetime as dt
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from typer.main import get_command

from planner.cli import study
from planner.cli.main import app, run
from tests.days import DAY, JOBS, plan, write_small_site
from tests.doc_commands import DOCUMENTS, ROOT, TUTORIALS, commands, inline_commands
from tests.slurm.saved import save
from tests.slurm_documents import job

NOT_RUN = {
    r"plan study ": "hours, and traces that are not part of the project; tests/studies and tests/cli/test_study.py",
    r"plan simulate (KTH|kit|eurora)": "traces that are not part of the project; tests/cli/test_simulate.py",
    r"plan now( --apply)?$": "asks Slurm; tests/slurm/test_slurm_cli.py:"
    " test_what_is_no_longer_wanted_is_released_by_the_next_run",
    r"plan slurm snapshot": "asks Slurm; tests/slurm/test_slurm_cli.py: test_a_snapshot_is_saved_and_planned_again",
    r"plan why": "needs a plan of Slurm; tests/slurm/test_slurm_cli.py: test_why_a_job_waits_is_said_in_words",
    r"plan slurm (apply|verify|undo)": "asks Slurm; tests/slurm/test_slurm_cli.py:"
    " test_a_hold_is_applied_verified_and_undone",
    r"plan book --day 2024-06-01$": "asks Slurm; tests/slurm/test_slurm_book.py",
    r"plan power learn --out": "asks Slurm; tests/cli/test_power_from_accounts.py",
    r"plan --install-completion": "changes the files of the user's shell",
    r"plan (savings|init --from-sacct)": "the accounts of a month; tests/cli/test_savings.py",
    r"plan compare SCENARIO": "a scenario that readers have to choose; tests/cli/test_site_contracts.py",
    r"plan compare site --day 2024-06-01 --members": "a forecast with members; tests/cli/test_members.py",
    r"python benchmarks/": "minutes to hours; tests/test_benchmarks.py loads each",
    r"(python -m build|pip install) ": "the package registry; tests/test_wheel.py builds and installs the wheel",
    r"(sacct|systemctl) ": "Slurm or systemd, as root",
}
"""Commands that are not run here, by how they begin, with the reason and where else they are tested."""

study.load()
PROGRAM = get_command(app)
"""The program as its parser has it, with all commands and options."""

QUEUE = """\
job_id,submit_time,requested_h,runtime_s,units,cores_per_unit,power_w,account,user
one,2024-05-31T08:00:00+02:00,6,9000,2,8,200,physics,ann
two,2024-05-31T09:00:00+02:00,2,7200,1,4,60,chem,cy
"""
NEW = """\
monday,2024-06-03T08:00:00+02:00,2,1,8,8,100,bio,dee,,,
tuesday,2024-06-04T08:00:00+02:00,4,2,8,8,200,bio,dee,,,
"""
"""Jobs of the site that come while others are replayed."""
FINISHED = """\
job_id,submit_time,end_time,requested_h,units,cores,user,account,name,exclusive,power_w
a,2024-05-28T08:00:00+02:00,2024-05-28T10:12:00+02:00,4,2,16,ann,physics,relax,true,150
b,2024-05-29T08:00:00+02:00,2024-05-29T11:00:00+02:00,4,2,16,ann,physics,relax,true,160
"""
HEADER = "; UnixStartTime: 1717200000\n; MaxProcs: 100\n"
RAN = "job_id,submit_time,requested_h,units,cores_per_unit,power_w,state,start_time,end_time,nodes\n"
SACCT = "JobID|State|Submit|Start|End|NodeList|AllocCPUS|User|Account|JobName|Timelimit|Elapsed\n"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that documents speak of: a site, a sample of the same size, a planned day of both, and files."""
    folder = write_small_site(tmp_path_factory.mktemp("reader"))
    (folder / "scenarios/sample.yaml").write_text("base: site\ndescription: As small as the site\n", encoding="utf-8")
    eve = dt.datetime.now(ZoneInfo("Europe/Paris")).date() - dt.timedelta(days=1)
    submit, start, end = (f"{eve}T{clock}:00:00" for clock in ("08", "09", "11"))
    lines = (
        f"{number} {60 * number} -1 {300 * number} 10 -1 -1 10 3600 -1 1 1 1 1 1 1 -1 -1" for number in range(1, 30)
    )
    for name, text in {
        "jobs/queue.csv": JOBS + NEW,
        "queue.csv": QUEUE,
        "jobs.csv": QUEUE,
        "finished.csv": FINISHED,
        "trace.swf": HEADER + "\n".join(lines) + "\n",
        "ran.csv": f"{RAN}one,{submit},6,2,8,200,done,{start},{end},cpu[1-2]\n",
        "sacct.txt": f"{SACCT}1|COMPLETED|{submit}|{start}|{end}|cpu1|8|ann|physics|relax|04:00:00|02:00:00\n",
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    save(folder / "monday", [job(42)], int(time.time()))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for scenario in ("site", "sample"):
            plan("--day", DAY, "--scenario", scenario, "--method", "est", "--bound-time", "0", "-q")
    return folder


def reason_not_to_run(command: str) -> str | None:
    """Why a command is not run here; None for one that is."""
    return next((reason for start, reason in NOT_RUN.items() if re.match(start, command)), None)


def fails(command: str) -> str | None:
    """Run a command in this folder; what went wrong, or None."""
    words = shlex.split(command)
    if words[0] == "make":
        # What would be done: that the target is there.
        done = subprocess.run(["make", "-n", "-C", str(ROOT), *words[1:]], capture_output=True, text=True, check=False)
        return done.stderr if done.returncode else None
    if words[0] != "plan":
        return "nobody knows how to run it: add the program, or a reason to NOT_RUN"
    code = run(words[1:])
    return f"exit code {code}" if code else None


@pytest.mark.slow(keep=4)
@pytest.mark.parametrize(
    "document", [each for each in DOCUMENTS if commands(each)], ids=lambda path: str(path.relative_to(ROOT))
)
def test_commands_of_a_document_run(
    document: Path, prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """All that are not excused, each in a folder of its own; those that are excused are known to the program."""
    for number, command in enumerate(commands(document)):
        without = () if "report" in command else ("reports",)
        monkeypatch.chdir(shutil.copytree(prepared, tmp_path / str(number), ignore=shutil.ignore_patterns(*without)))
        if reason_not_to_run(command) is None:
            wrong = fails(command)
        elif command.startswith("plan "):
            wrong = unknown(shlex.split(command)[1:])
        else:
            wrong = None
        told = capfd.readouterr()
        assert wrong is None, f"{document.name}: {command}\n{wrong}\n{told.out}{told.err}"


def unknown(words: Sequence[str]) -> str | None:
    """The first command or option that the program does not have, of a command line that is not run; None for none."""
    command = PROGRAM
    for place, word in enumerate(words):
        if word.startswith("-"):
            if not any(word in (*option.opts, *option.secondary_opts) for option in command.params) and word not in (
                "-h",
                "--help",
            ):
                return f"there is no option {word}"
        elif hasattr(command, "commands") and not any(each.startswith("-") for each in words[:place]):
            if word not in command.commands:
                return f"there is no command {word}"
            command = command.commands[word]
    return None


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_in_sentences_are_known(document: Path) -> None:
    """Commands and options that a sentence names are there."""
    for command in inline_commands(document):
        words = re.sub(r"[\[\]|]|\.\.\.", " ", command).split()
        assert unknown(words[1:]) is None, f"{document.name}: {command}"


def test_every_excuse_is_used() -> None:
    """A reason that no command needs any more is taken away; and tests that one names are there."""
    found = [command for document in DOCUMENTS for command in commands(document)]
    assert len(found) > 80
    for start, reason in NOT_RUN.items():
        assert any(re.match(start, command) for command in found), start
        for place in re.findall(r"tests/[\w/]+(?:\.py)?", reason):
            assert (ROOT / place).exists(), place
        for path, test in re.findall(r"(tests/[\w/]+\.py): (test_\w+)", reason):
            assert f"def {test}(" in (ROOT / path).read_text("utf-8"), test


def test_tutorials_are_documents() -> None:
    """What stands in them outside of their steps is looked at here."""
    assert set(TUTORIALS) < set(DOCUMENTS)


def test_a_slip_is_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    """In a command that is run, one that is not, and one that nobody knows."""
    assert fails("plan show method") is not None
    assert fails("make plann") is not None
    assert fails("conda install planner") is not None
    assert unknown(["study", "operation", "--marktdown"]) == "there is no option --marktdown"
    assert unknown(["slurm", "aply"]) == "there is no command aply"
    capsys.readouterr()
