"""The commands that are disturbed, each with the state of a tiny site that it starts from and what it leaves."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from planner.cli.main import run
from planner.slurm.journal import JOURNAL
from planner.store.plan_versions import VERSIONS
from tests.faults.fake_slurm import begins, write_slurm_site
from tests.fuzz.site import hourly
from tests.rolling import write_rolling_site

FIRST, SECOND, THIRD = "2024-06-03", "2024-06-04", "2024-06-05"
QUICK = ("-m", "multisearch", "--bound-time", "0", "-q", "--workers", "1")
OTHER = ("--set", "tariff.eur_per_kwh=0.3")
RUN = ("run", "--from", FIRST, "--to", THIRD, *QUICK)
COMPARE = ("compare", "site", "warm", "--day", FIRST, "-m", "est", "--processes", "1", "-q")
SIMULATE = ("simulate", "jobs/trace.swf", "-p", "easy,list", "--processors", "32", "--out", "simulated", "-q")

NOW = ("now", "--at", f"{SECOND}T08:00:00+02:00", "--snapshot", "jobs/now.csv", *QUICK)
BOOK = ("book", "--day", THIRD, "--sacct", "jobs/sacct.txt", "-q")
LEARN = ("power", "learn", "--from", "jobs/finished.csv", "--out", "made/power.json", "-q")
PRICED = ("--prices", "jobs/prices.csv", "--zone", "Europe/Paris", "--hours", "2", "-q", "--out", "made")
SAVINGS = ("savings", "--sacct", "jobs/sacct.txt", *PRICED)
STUDY = ("study", "predictions", "jobs/trace.swf", "--processors", "32", "--jobs", "9", "--out", "made", "-q")
PLANNED = "PLANNED"
"""Stands for the folder of the day that was planned from Slurm, whatever day that is."""
SLURM = ("slurm", "apply", PLANNED)
SLURM_NOW = ("now", "--scenario", "slurm", "-m", "hold", "--bound-time", "0", "-q", "--workers", "1")

TABLES = {
    "now.csv": "job_id,submit_time,requested_h,units,cores_per_unit,state,start_time,end_time,nodes\n"
    "a,2024-06-04T05:00:00Z,4,1,4,running,2024-06-04T05:30:00Z,,cpu1\nb,2024-06-04T05:00:00Z,4,2,8,pending,,,\n",
    "sacct.txt": "JobID|JobName|User|Account|State|Submit|Start|End|Timelimit|NodeList|AllocCPUS|AllocTRES\n"
    "1|r|ann|a0|COMPLETED|2024-06-05T01:00:00|2024-06-05T02:00:00|2024-06-05T05:00:00|10:00:00|cpu[1-2]|16|cpu=16,node=2\n",
    "prices.csv": hourly("time,price", "{day}T{hour:02d}:00+02:00,{k}.5", (SECOND, THIRD, "2024-06-06", "2024-06-07")),
    "finished.csv": "job_id,submit_time,end_time,requested_h,units,cores_per_unit,user,name,power_w\n"
    "a,2024-05-28T08:00:00+02:00,2024-05-28T10:00:00+02:00,2,1,8,ann,relax,160\n"
    "b,2024-05-29T08:00:00+02:00,2024-05-29T10:00:00+02:00,2,1,8,bob,,80\n",
}

TRACE = "".join(
    f"{n} {n * 40} -1 {60 + 37 * n % 400} {width} -1 -1 {width} {600 + n} -1 1 {n % 3} 1 1 1 1 -1 -1\n"
    for n, width in ((n, 1 + n * 7 % 30) for n in range(1, 25))
)

DAY_FILES = ("schedule.csv", "deferred.csv", "segments.csv")
"""Files of a day that are the same bytes after every run; the others tell the time."""


@dataclass(frozen=True)
class Command:
    """A command and its rerun: ``before`` are the commands that make its state; what it leaves is found by `state`."""

    name: str
    words: tuple[str, ...]
    before: tuple[tuple[str, ...], ...] = ()
    slurm: bool = False
    once: bool = False
    """It refuses to do again what it has done."""


COMMANDS = {
    each.name: each
    for each in (
        Command("day", ("--day", SECOND, *QUICK), ((*RUN, *OTHER), ("--day", FIRST, *QUICK))),
        Command("run", RUN),
        Command("run again", RUN, ((*RUN, *OTHER),)),
        Command("compare", COMPARE, ((*COMPARE, *OTHER),)),
        Command(
            "report", ("report", "--by", "account"), ((*RUN[:4], SECOND, *QUICK), ("report", "--by", "account"), RUN)
        ),
        Command("simulate", SIMULATE, ((*SIMULATE, "--processors", "31"),)),
        Command("now", NOW, (RUN,)),
        Command("book", BOOK, (RUN,)),
        Command("book again", BOOK, (RUN, BOOK)),
        Command("savings", SAVINGS, ((*SAVINGS, "--pue", "1.2"),)),
        Command("learn", LEARN, ((*LEARN, "--set", "power.metered=job"),)),
        Command("init", ("init", "made/new"), once=True),
        Command("study", STUDY),
        Command("table", ("table", "build", "--plant", "air", "--max-power-kw", "3", "--out", "made/table.csv")),
        Command("snapshot", ("slurm", "snapshot", "--out", "made/saved"), slurm=True, once=True),
        Command("apply", (*SLURM[:2], PLANNED, "--yes"), (SLURM_NOW,), slurm=True),
        Command("undo", ("slurm", "undo", PLANNED, "--yes"), (SLURM_NOW, (*SLURM, "--yes")), slurm=True),
        Command("verify", ("slurm", "verify", PLANNED), (SLURM_NOW, (*SLURM, "--yes")), slurm=True),
    )
}
"""Every command that writes; `test_every_writing_command_is_disturbed` compares them with the command tree."""


@dataclass
class Stage:
    """A site in one place, put back to where a command starts from before each fault."""

    folder: Path
    _states: dict[str, Path] = field(default_factory=dict)
    _old: dict[str, dict[str, bytes]] = field(default_factory=dict)
    _new: dict[str, dict[str, bytes]] = field(default_factory=dict)

    @property
    def site(self) -> Path:
        """Where commands run."""
        return self.folder / "site"

    def prepare(self, command: Command) -> None:
        """Make a command's state and its undisturbed outcome, once."""
        self._clear()
        write_rolling_site(self.site, jobs_a_day=5)
        for name, text in {"trace.swf": TRACE, **TABLES}.items():
            (self.site / "jobs" / name).write_text(text)
        if command.slurm:
            write_slurm_site(self.site)
        for words in command.before:
            plan(self.site, words)
        kept = self.folder / f"state of {command.name}"
        shutil.copytree(self.site, kept)
        self._states[command.name], self._old[command.name] = kept, state(self.site)
        plan(self.site, command.words)
        self._new[command.name] = state(self.site)

    def reset(self, command: Command) -> None:
        """Put the site back to where the command starts from."""
        if command.name not in self._states:
            self.prepare(command)
        self._clear()
        shutil.copytree(self._states[command.name], self.site)

    def old(self, command: Command) -> dict[str, bytes]:
        """What is there before the command."""
        return self._old[command.name]

    def new(self, command: Command) -> dict[str, bytes]:
        """What is there after it."""
        return self._new[command.name]

    def _clear(self) -> None:
        shutil.rmtree(self.site, ignore_errors=True)


def plan(site: Path, words: tuple[str, ...]) -> str:
    """Run a command in this process and expect it to end well; what it said."""
    code, told = ended(site, words)
    assert code == 0, f"plan {' '.join(words)} ended with {code}: {told}"
    return told


def ended(site: Path, words: tuple[str, ...]) -> tuple[int, str]:
    """Exit code and words of a command run in this process."""
    with contextlib.chdir(site), _said() as said, mock.patch.dict(os.environ, PATH=path_of(site)):
        code = run(list(given(site, words)))
    return code, said.getvalue()


def path_of(site: Path) -> str:
    """PATH with the commands of the site's Slurm first."""
    return f"{site / 'bin'}{os.pathsep}{os.environ['PATH']}"


def given(site: Path, words: tuple[str, ...]) -> tuple[str, ...]:
    """The words with the folder of the day that was planned from Slurm."""
    if PLANNED not in words:
        return words
    (planned,) = (site / "reports" / "slurm").glob("2*")
    return tuple(str(planned.relative_to(site)) if word == PLANNED else word for word in words)


@contextlib.contextmanager
def _said() -> Iterator[io.StringIO]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        yield said


def state(site: Path) -> dict[str, bytes]:
    """Every result that is the same after every run, by its path; nothing hidden."""
    found = begins(site)
    for top in ("reports", "simulated", "made"):
        for path in sorted((site / top).rglob("*")):
            parts = path.relative_to(site).parts
            is_of_a_day = (path.parent / "run.json").is_file()
            is_same_again = path.is_file() and (not is_of_a_day or path.name in DAY_FILES)
            if is_same_again and not _is_hidden(path, site) and not {VERSIONS, JOURNAL} & set(parts):
                found["/".join(parts)] = _timeless(path)
    return found


def _timeless(path: Path) -> bytes:
    """The bytes of a file, without the times that it tells: what a simulation took, and when it was made."""
    if path.suffix == ".json" and path.parent.name in ("made", "saved"):
        return re.sub(rb'"(made|moment_unix)": [^,]*', b"", path.read_bytes())
    if path.name == "savings.json":
        return re.sub(rb'"cpu_s": [^,\n]*', b"", path.read_bytes())
    if path.name not in ("metrics.csv", "savings.csv"):
        return path.read_bytes()
    with path.open(newline="", encoding="utf-8") as file:
        rows = [{name: cell for name, cell in row.items() if name != "cpu_s"} for row in csv.DictReader(file)]
    return repr(rows).encode()


def hidden(site: Path) -> list[str]:
    """Locks, begun files and whatever else should not be there."""
    return [str(path.relative_to(site)) for path in site.rglob(".*")]


def day_folders(site: Path) -> list[Path]:
    """Every written day, of runs and of comparisons."""
    return [path.parent for path in sorted(site.glob("reports/**/run.json")) if not _is_hidden(path, site)]


def _is_hidden(path: Path, site: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(site).parts)


def results(found: dict[str, bytes]) -> dict[str, dict[str, bytes]]:
    """What belongs together and appears in one step: a day, a comparison's tables, a cost report, a simulation."""
    grouped: dict[str, dict[str, bytes]] = {}
    for path, content in found.items():
        place = path if "/pieces/" in path else os.path.dirname(path)  # noqa: PTH120, a name in a report
        grouped.setdefault(place, {})[path] = content
    return grouped
