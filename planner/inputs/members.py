"""Members of a forecast: the columns of a file that its scenario means."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from planner.errors import FileFormatError
from planner.printable import shortened

_NAMED = 20
"""Columns that a message names at most."""


def members_of(path: Path, names: Sequence[str], wanted: Sequence[str]) -> tuple[str, ...]:
    """The columns among ``names`` that are wanted by name or pattern, in the order of the file.

    FileFormatError where a name or pattern has no column.
    """
    found: set[str] = set()
    for each in wanted:
        matching = [each] if each in names else [name for name in names if fnmatchcase(name, each)]
        if not matching:
            known = ", ".join([*names[:_NAMED], *(["..."] if len(names) > _NAMED else [])])
            raise FileFormatError(
                path,
                f"has no column {shortened(each, 60)!r} for a member; its columns are {known}",
                remedy="name columns, or give a pattern such as temp_*",
            )
        found.update(matching)
    return tuple(name for name in names if name in found)
