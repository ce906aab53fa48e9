"""Values with the file and line that they were written in."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

Scalar = str | int | float | bool | dt.date | dt.datetime | None


@dataclass(frozen=True)
class Source:
    """A text that values come from: a file, or an option of the command line.

    Relative paths in it start at ``folder``.
    """

    label: str
    folder: Path
    numbered: bool = True

    @classmethod
    def file(cls, path: Path) -> Source:
        """A file, whose relative paths start at its own folder."""
        return cls(str(path), path.parent)


@dataclass(frozen=True)
class Marked:
    """A value with the source and line that it was written in; a mapping entry has the line of its key.

    ``blank`` tells a key with nothing after it from one with a written ``null``.
    """

    value: Scalar | Mapping[str, Marked] | tuple[Marked, ...]
    source: Source
    line: int = 1
    blank: bool = False

    @property
    def where(self) -> str:
        """The place as people write it: ``site.yaml:12``."""
        return f"{self.source.label}:{self.line}" if self.source.numbered else self.source.label

    def entries(self) -> Mapping[str, Marked] | None:
        """The entries of a mapping, none for a blank; None when the value is something else."""
        if self.blank:
            return {}
        return self.value if isinstance(self.value, Mapping) else None

    def plain(self) -> object:
        """The value without its marks: dicts, lists and scalars."""
        if isinstance(self.value, Mapping):
            return {key: entry.plain() for key, entry in self.value.items()}
        if isinstance(self.value, tuple):
            return [entry.plain() for entry in self.value]
        return self.value
