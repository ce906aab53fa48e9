"""The planner's deliberate errors; anything else that escapes is a bug.

    PlannerError                  exit 1
      InputError (ValueError)     exit 2   the user can fix it
        FileFormatError             a line or field of a file: "jobs.swf:812: expected 18 fields, found 17"
        ScenarioError               a scenario file: every problem at once, with "did you mean"
        TableError                  a PUE table, or a look-up outside it
        CoverageError               weather, price or carbon that does not cover the day
      BookedError                 exit 3   the day is booked, and would be written over
      SolverError                 exit 4   an engine is missing, too small, or died
      AuditError                  exit 5   a plan of ours breaks a rule: our bug
      OutputError                 exit 6   the output folder cannot be written, or another run holds it
      SlurmError                  exit 8   Slurm's commands are missing, fail, or do not answer

There is always a plan, if need be one that defers jobs, so "no feasible plan" is neither an error nor a status.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from planner.printable import LONGEST_LINE, one_line

LONGEST = LONGEST_LINE - 10
"""Characters of an error, which leaves room for the program's name before it."""
MOST_PROBLEMS = 20
"""Problems of a scenario that one message lists at most."""


class PlannerError(Exception):
    """Base of everything deliberate; its text is one printable line of at most 290 characters."""

    exit_code = 1

    def __init__(self, text: str) -> None:
        super().__init__(one_line(text, LONGEST))


class InputError(PlannerError, ValueError):
    """Something that the user gave and can fix."""

    exit_code = 2


class FileFormatError(InputError):
    """A file whose contents cannot be read; names the file, the line where known, and the remedy."""

    def __init__(self, path: Path | str, problem: str, *, line: int | None = None, remedy: str = "") -> None:
        where = f"{path}:{line}" if line is not None else str(path)
        super().__init__(f"{where}: {problem}" + (f"; {remedy}" if remedy else ""))


class ScenarioError(InputError):
    """A scenario that cannot be used; carries every problem found."""

    def __init__(self, path: Path | str, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        told = self.problems[:MOST_PROBLEMS]
        if len(told) < len(self.problems):
            told = (*told, f"and {len(self.problems) - len(told)} more")
        # Not the base's one line: every problem has its own.
        Exception.__init__(self, "\n".join(one_line(f"{path}: {problem}", LONGEST) for problem in told))


class TableError(InputError):
    """A PUE table that cannot be used, or a power or temperature outside it."""


class CoverageError(InputError):
    """Weather, price or carbon data that does not cover the time asked for.

    ``until_unix`` is until when it does [Unix s], None: not at all; ``is_end``: nothing comes after that. ``what`` is
    what it is, and where it came from.
    """

    def __init__(self, message: str, until_unix: int | None = None, what: str = "", *, is_end: bool = False) -> None:
        super().__init__(message)
        self.until_unix = until_unix
        self.what = what
        self.is_end = is_end


class BookedError(PlannerError):
    """A day that is booked, and that would be planned or booked again."""

    exit_code = 3


class SolverError(PlannerError):
    """An engine that is missing, too small for the model, or died."""

    exit_code = 4


class AuditError(PlannerError):
    """A plan of ours that breaks a rule."""

    exit_code = 5


class OutputError(PlannerError):
    """An output folder that cannot be written or is held by another run."""

    exit_code = 6


class SlurmError(PlannerError):
    """Slurm's commands are missing, fail, or do not answer."""

    exit_code = 8
