"""Asks Slurm for everything that a plan is made from, at one moment, and saves it as it came."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
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
from planner.slurm.commands import Slurm, failed
from planner.store.folder import PRIVATE, held, put, replaced

LONGEST_DAY = "25hours"
"""How far back jobs that have ended are asked for: a day may have so many hours."""


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
