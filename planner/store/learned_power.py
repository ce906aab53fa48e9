"""Learned power written to its file in one step, with where it came from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from planner import __version__
from planner.errors import InputError, OutputError
from planner.inputs.books.finished import Finished
from planner.inputs.learned_power import LearnedFile, learned_power_text
from planner.places import is_folder
from planner.power.learned import learned_from
from planner.store.folder import alone_in, put


def learned_file(finished: Finished, sources: Mapping[str, str], made: str) -> LearnedFile:
    """What finished jobs teach, with its provenance; InputError when there is no job to learn from.

    ``sources`` are the SHA-256 of what they were read from, by name.
    """
    if not finished.jobs:
        reasons = "; ".join(f"{count:,} {reason}" for reason, count in finished.left_out.most_common())
        raise InputError(f"no finished job can be learned from: {reasons or 'there is none'}")
    return LearnedFile(
        learned_from(finished.jobs),
        len(finished.jobs),
        finished.jobs[0].end_unix,
        finished.jobs[-1].end_unix,
        sources,
        finished.left_out,
        made,
        __version__,
    )


def write_learned_power(file: LearnedFile, path: Path) -> None:
    """Write the file in one step: a crash, a full disk or a kill leaves the earlier one as it was."""
    if is_folder(path):
        raise OutputError(f"{path}: is a folder; give the name of a file with --out")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with alone_in(path.parent):
            put(path, learned_power_text(file).encode())
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error
