"""Asks Slurm for everything that a plan is made from, at one moment, and saves it as it came."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from planner.errors import InputError, SlurmError
from planner.inputs.slurm.json_document import DocumentAnswer, Source
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
from planner.slurm.commands import Slurm, first_line
from planner.store.folder import PRIVATE, held, put, replaced

LONGEST_DAY = "25hours"
"""How far back jobs that have ended are asked for: a day may have so many hours."""


@dataclass(frozen=True)
class Taken:
    """The documents of a moment, and the command that wrote each."""

    documents: Documents
    commands: Mapping[str, str]


def take(slurm: Slurm, clock: Callable[[], float] = time.time) -> Taken:
    """What Slurm says now. SlurmError when its commands are missing or fail; accounting may be missing."""
    version = slurm.ask("squeue", "--version").split()
    slurm.require_up()
    answers = {QUEUE: slurm.ask_json("squeue", "--all")}
    moment_unix = int(clock())
    answers[NODES] = ask_nodes(slurm)
    name, answer = ask_reservations(slurm)
    answers[name] = answer
    remarks = []
    try:
        answers[ACCOUNTING] = slurm.ask_json("sacct", "--allusers", f"--starttime=now-{LONGEST_DAY}")
    except SlurmError as error:
        remarks.append(f"jobs that have ended are left out: {error}")
    by_name: dict[str, Source] = {name: DocumentAnswer(command, output) for name, (command, output) in answers.items()}
    documents = Documents("Slurm", moment_unix, version[-1] if version else "unknown", by_name, tuple(remarks))
    return Taken(documents, {name: command for name, (command, _) in answers.items()})


def save(taken: Taken, folder: Path) -> Documents:
    """Write a new folder with the documents and their manifest, in one step; the same documents as saved ones."""
    if is_there(folder):
        raise InputError(f"{folder}: is there already; give the snapshot a folder of its own with --out")
    manifest = json.dumps(manifest_of(taken.documents, taken.commands), indent=2) + "\n"
    with held(folder, tidy=False), replaced(folder) as fresh:
        for name, document in taken.documents.by_name.items():
            assert isinstance(document, DocumentAnswer)
            put(fresh / name, document.output, PRIVATE)
        put(fresh / MANIFEST, manifest.encode(), PRIVATE)
    by_name: dict[str, Source] = {name: folder / name for name in taken.documents.by_name}
    return Documents(
        str(folder), taken.documents.moment_unix, taken.documents.version, by_name, taken.documents.remarks
    )


def queue_now(slurm: Slurm) -> Queue:
    """The queue as squeue has it now; SlurmError when it cannot be read."""
    slurm.require_up()
    try:
        return read_queue(DocumentAnswer(*slurm.ask_json("squeue", "--all")))
    except InputError as error:
        raise SlurmError(f"no queue that can be read: {error}") from error


def ask_nodes(slurm: Slurm) -> tuple[str, bytes]:
    """scontrol's own list; in Slurm 22.05, whose scontrol has no JSON, sinfo writes the same."""
    try:
        return slurm.ask_json("scontrol", "show", "node")
    except SlurmError:
        return slurm.ask_json("sinfo", "--all")


def ask_reservations(slurm: Slurm) -> tuple[str, tuple[str, bytes]]:
    """The name of the document of reservations that this version of Slurm has, its command and its output."""
    try:
        return RESERVATIONS, slurm.ask_json("scontrol", "show", "reservation")
    except SlurmError:
        words = ("--oneliner", "show", "reservation")
        answer = slurm.run("scontrol", *words)
        if answer.status:
            raise SlurmError(f"scontrol failed with status {answer.status}: {first_line(answer.errors)}") from None
        return RESERVATION_TEXT, (" ".join(("scontrol", *words)), answer.output)
