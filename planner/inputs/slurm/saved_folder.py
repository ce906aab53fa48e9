"""What Slurm said at one moment, in its own words: documents straight from its commands, or saved in a folder.

A saved folder holds the documents as they came and a ``manifest.json`` that says when, by which version of Slurm and by
which commands they were written, so that a plan can be made again from them anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner import limits
from planner.errors import FileFormatError, InputError
from planner.inputs.slurm.json_document import DocumentAnswer, Source, content_of
from planner.inputs.slurm.nodes_reservations import (
    Reservation,
    SlurmNode,
    read_nodes,
    read_reservation_text,
    read_reservations,
)
from planner.inputs.slurm.queue import Queue, read_queue
from planner.inputs.slurm.sacct_json import Accounts, read_accounting
from planner.places import is_file, is_folder
from planner.text_files import read_bytes

MANIFEST = "manifest.json"
KIND = "slurm snapshot"
QUEUE, NODES, ACCOUNTING = "squeue.json", "nodes.json", "sacct.json"
RESERVATIONS, RESERVATION_TEXT = "reservations.json", "reservations.txt"
"""Names of the documents; reservations are text where Slurm has no JSON of them, and accounts may be missing."""


@dataclass(frozen=True)
class Documents:
    """Every document of one moment by its name; ``source`` is the folder or Slurm itself, for messages.

    ``version`` is Slurm's, as ``22.05.8``. ``remarks`` say what is left out and why.
    """

    source: str
    moment_unix: int
    version: str
    by_name: Mapping[str, Source]
    remarks: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[Path, ...]:
        """The files, where they are saved."""
        return tuple(Path(each) for each in self.by_name.values() if not isinstance(each, DocumentAnswer))

    def queue(self) -> Queue:
        """Every job that waits, runs, or has just ended."""
        return read_queue(self.by_name[QUEUE])

    def nodes(self) -> tuple[SlurmNode, ...]:
        """Every node."""
        return read_nodes(self.by_name[NODES])

    def reservations(self) -> tuple[Reservation, ...]:
        """Every reservation."""
        if RESERVATIONS in self.by_name:
            return read_reservations(self.by_name[RESERVATIONS])
        return read_reservation_text(self.by_name[RESERVATION_TEXT])

    def accounts(self) -> Accounts:
        """Jobs that have ended; none where there is no accounting."""
        return read_accounting(self.by_name[ACCOUNTING]) if ACCOUNTING in self.by_name else Accounts()


def manifest_of(documents: Documents) -> dict[str, Any]:
    """What the manifest says of documents that commands have just written."""
    return {
        "kind": KIND,
        "moment_unix": documents.moment_unix,
        "slurm": documents.version,
        "commands": {name: content_of(each)[0] for name, each in documents.by_name.items()},
        "remarks": list(documents.remarks),
    }


def read_saved(folder: Path) -> Documents:
    """The documents of a saved folder; InputError when it is none, or one of them is missing."""
    path = folder / MANIFEST
    if not is_folder(folder):
        raise InputError(f"{folder}: no such folder; save one with `plan slurm snapshot --out {folder}`")
    if not is_file(path):
        raise InputError(f"{folder}: has no {MANIFEST}; give a folder that `plan slurm snapshot` has saved")
    moment, version, names, remarks = _manifest(path)
    missing = next((name for name in names if not is_file(folder / name)), None)
    if missing is not None:
        raise InputError(f"{folder / missing}: is missing, and {MANIFEST} names it; save the snapshot again")
    return Documents(str(folder), moment, version, {name: folder / name for name in names}, remarks)


def _manifest(path: Path) -> tuple[int, str, list[str], tuple[str, ...]]:
    """Moment, version, names of the documents, and remarks."""
    remedy = "restore it, or save the snapshot again"
    try:
        said = json.loads(read_bytes(path).decode("utf-8"))
        if said["kind"] != KIND:
            raise ValueError("it is of another kind")
        moment, version, names, remarks = said["moment_unix"], said["slurm"], list(said["commands"]), said["remarks"]
        if isinstance(moment, bool) or not isinstance(moment, int) or moment not in limits.UNIX_S:
            raise ValueError("moment_unix is no time")
        if not isinstance(version, str) or not all(isinstance(each, str) for each in remarks):
            raise ValueError("slurm and remarks must be text")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise FileFormatError(path, f"is no manifest ({what})", remedy=remedy) from error
    known = {QUEUE, NODES, ACCOUNTING, RESERVATIONS, RESERVATION_TEXT}
    needed = {QUEUE, NODES, RESERVATION_TEXT if RESERVATION_TEXT in names else RESERVATIONS}
    if not needed <= set(names) <= known:
        raise FileFormatError(path, "does not name the documents of a snapshot", remedy=remedy)
    return moment, version, names, tuple(remarks)
