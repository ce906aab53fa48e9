"""Runs Slurm's own commands, and asks them for everything that a plan is made from, at one moment, saved as it came.

They run never through a shell, with a fixed environment, and never longer than a time limit.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from planner.errors import InputError, SlurmError
from planner.inputs.slurm.json_document import DocumentAnswer, Source, content_of
from planner.inputs.slurm.queue import Queue, read_queue
from planner.inputs.slurm.saved_folder import (
    ACCOUNTING,
    MANIFEST,
    NODES,
    QUEUE,
    RESERVATION_TEXT,
    RESERVATIONS,
    Documents,
    manifest_of,
)
from planner.places import is_there
from planner.store.folder import PRIVATE, held, put, replaced

FIXED = {
    "LC_ALL": "C",
    "TZ": "UTC",
    "SLURM_TIME_FORMAT": "standard",
    "SLURM_BITSTR_LEN": "0",  # the tasks of an array in full, not cut off after 64 characters
}
DIALECT = "v0.0.42"
"""Of 24.05 and later; the last that says of every waiting job whether it wants whole nodes."""
KEPT = ("PATH", "LD_LIBRARY_PATH", "SLURM_CONF")
"""All that commands see of the caller's environment; SQUEUE_STATES and its like would change what they answer."""
ANSWER_S = 8.0
"""How long a controller may take to say that it is there [s]."""
SECONDS_PER_LINE = 10.0
"""What one change may take: Slurm waits 5 s for the account of a job that has just started, and then gives up."""

LONGEST_DAY = "25hours"
"""How far back jobs that have ended are asked for: a day may have so many hours."""


@dataclass(frozen=True)
class CommandAnswer:
    """What a command said, and how it ended."""

    status: int
    output: bytes
    errors: str


@dataclass(frozen=True)
class Slurm:
    """How a site's Slurm is reached.

    ``folder`` is where its commands stand; None looks along PATH. ``conf`` is its slurm.conf; None leaves that to
    SLURM_CONF or to the place that Slurm was built for. One command may take ``timeout_s``; every line that it is given
    to read makes that longer.
    """

    folder: Path | None = None
    conf: Path | None = None
    timeout_s: float = 60.0

    def require_up(self) -> None:
        """SlurmError within seconds when the controller is down or does not answer; its commands would wait longer."""
        try:
            said = replace(self, timeout_s=min(ANSWER_S, self.timeout_s)).run("scontrol", "ping").output
        except SlurmError as error:
            if shutil.which("scontrol", path=None if self.folder is None else str(self.folder)) is None:
                return  # whoever needs it says so
            raise SlurmError("slurmctld does not answer; nothing was changed, the next run goes on") from error
        if b"is DOWN" in said and b"is UP" not in said:
            raise SlurmError("slurmctld is down; nothing was changed, the next run goes on")

    def ask(self, name: str, *arguments: str) -> str:
        """The output of a command; SlurmError when it fails."""
        answer = self.run(name, *arguments)
        if answer.status:
            raise failed(name, answer)
        return answer.output.decode("utf-8", "replace")

    def ask_json(self, name: str, *arguments: str) -> DocumentAnswer:
        """The JSON that a command writes, in the dialect that is known best where this version has a choice."""
        for option in (f"--json={DIALECT}", "--json"):
            answer = self.run(name, *arguments, option)
            if not answer.status:
                return DocumentAnswer(" ".join((name, *arguments, option)), answer.output)
        raise failed(name, answer)

    def run(self, name: str, *arguments: str, stdin: str = "") -> CommandAnswer:
        """A command's answer, whatever its status; SlurmError when it is missing or takes too long."""
        limit_s = self.timeout_s + SECONDS_PER_LINE * stdin.count("\n")
        try:
            done = subprocess.run(
                [self._program(name), *arguments],
                input=stdin.encode("utf-8"),
                env=self._environment(),
                capture_output=True,
                timeout=limit_s,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise SlurmError(f"{name} did not answer within {limit_s:g} s; is slurmctld up?") from error
        except OSError as error:
            raise SlurmError(f"{name} cannot be run ({error.strerror or error})") from error
        return CommandAnswer(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))

    def _program(self, name: str) -> str:
        path = str(self.folder) if self.folder is not None else None
        found = shutil.which(name, path=path)
        if found is None:
            where = f"in {self.folder}" if self.folder is not None else "along PATH"
            raise SlurmError(f"{name} is missing {where}; install Slurm's commands on this host, or say where they are")
        return found

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        named = {"SLURM_CONF": str(self.conf)} if self.conf is not None else {}
        return {**kept, **named, **FIXED}


def failed(name: str, answer: CommandAnswer) -> SlurmError:
    """The error of a command that failed, with the first line of what it said; errors make that printable."""
    why = next((line.strip() for line in answer.errors.splitlines() if line.strip()), "it gives no reason")
    return SlurmError(f"{name} failed with status {answer.status}: {why}")


def take(slurm: Slurm, clock: Callable[[], float] = time.time) -> Documents:
    """What Slurm says now. SlurmError when its commands are missing or fail; accounting may be missing."""
    version = slurm.ask("squeue", "--version").split()
    slurm.require_up()
    by_name: dict[str, Source] = {QUEUE: slurm.ask_json("squeue", "--all")}
    moment_unix = int(clock())
    by_name[NODES] = ask_nodes(slurm)
    name, reservations = ask_reservations(slurm)
    by_name[name] = reservations
    remarks = []
    try:
        by_name[ACCOUNTING] = slurm.ask_json("sacct", "--allusers", f"--starttime=now-{LONGEST_DAY}")
    except SlurmError as error:
        remarks.append(f"jobs that have ended are left out: {error}")
    return Documents("Slurm", moment_unix, version[-1] if version else "unknown", by_name, tuple(remarks))


def save(taken: Documents, folder: Path) -> Documents:
    """Write a new folder with what Slurm said and a manifest, in one step; the same documents as saved ones."""
    if is_there(folder):
        raise InputError(f"{folder}: is there already; give the snapshot a folder of its own with --out")
    manifest = json.dumps(manifest_of(taken), indent=2) + "\n"
    with held(folder, tidy=False), replaced(folder) as fresh:
        for name, document in taken.by_name.items():
            put(fresh / name, content_of(document)[1], PRIVATE)
        put(fresh / MANIFEST, manifest.encode(), PRIVATE)
    return replace(taken, source=str(folder), by_name={name: folder / name for name in taken.by_name})


def queue_now(slurm: Slurm) -> Queue:
    """The queue as squeue has it now; SlurmError when it cannot be read."""
    slurm.require_up()
    try:
        return read_queue(slurm.ask_json("squeue", "--all"))
    except InputError as error:
        raise SlurmError(f"no queue that can be read: {error}") from error


def ask_nodes(slurm: Slurm) -> DocumentAnswer:
    """scontrol's own list; in Slurm 22.05, whose scontrol has no JSON, sinfo writes the same."""
    try:
        return slurm.ask_json("scontrol", "show", "node")
    except SlurmError:
        return slurm.ask_json("sinfo", "--all")


def ask_reservations(slurm: Slurm) -> tuple[str, DocumentAnswer]:
    """The document of reservations that this version of Slurm has, and its name."""
    try:
        return RESERVATIONS, slurm.ask_json("scontrol", "show", "reservation")
    except SlurmError:
        words = ("--oneliner", "show", "reservation")
        answer = slurm.run("scontrol", *words)
        if answer.status:
            raise failed("scontrol", answer) from None
        return RESERVATION_TEXT, DocumentAnswer(" ".join(("scontrol", *words)), answer.output)
