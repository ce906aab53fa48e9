"""Real processes in odd surroundings: streams that are closed or full, a home that is none, settings of libraries."""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ENVIRONMENT: tuple[dict[str, str | None], ...] = (
    {"HOME": None, "XDG_CACHE_HOME": None},
    {"HOME": "/dev/null/none"},
    {"HOME": "/dev/null"},
    {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0"},
    {"LC_ALL": "tr_TR.UTF-8"},
    {"LC_ALL": "xx_YY.nothing"},
    {"PYTHONIOENCODING": "ascii"},
    {"PYTHONIOENCODING": "latin-1"},
    {"TZ": "Asia/Kathmandu"},
    {"TZ": ":Mars/Olympus\x01"},
    {"PLAN_UMASK": "077"},
    {"PLAN_UMASK": "nonsense"},
    {"COLUMNS": "1"},
    {"COLUMNS": "wide", "LINES": "-1"},
    {"TERM": "dumb", "NO_COLOR": "1"},
    {"FORCE_COLOR": "1", "TERM": "xterm"},
    {"TMPDIR": "/dev/null/none"},
    {"PYTHONOPTIMIZE": "2"},
    {"PYTHONWARNINGS": "error"},
    {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "7"},
    {"OMP_NUM_THREADS": "many", "NUMBA_NUM_THREADS": "1"},
    {"PLANNER_DATA": "/dev/null/none"},
    {"USER": None, "LOGNAME": None, "SHELL": None},
)


def _closed(number: int) -> Callable[[], None]:
    return lambda: os.close(number)


def _full(number: int) -> Callable[[], None]:
    return lambda: _as(number, os.open("/dev/full", os.O_WRONLY))


def _as(number: int, handle: int) -> None:
    os.dup2(handle, number)
    os.close(handle)


def _unread() -> None:
    """A pipe whose reader has gone, as that of `head`."""
    reader, writer = os.pipe()
    os.close(reader)
    _as(1, writer)


def _few_files() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))


DONE_TO_IT: dict[str, Callable[[], None]] = {
    "stdin closed": _closed(0),
    "stdout closed": _closed(1),
    "stderr closed": _closed(2),
    "stdout full": _full(1),
    "stderr full": _full(2),
    "stdout unread": _unread,
    "64 open files": _few_files,
}
MUTE = frozenset({"stderr closed", "stderr full"})
"""Where a command cannot say what is wrong."""


@dataclass(frozen=True)
class Surroundings:
    """What a process finds: variables, and what was done to its streams and limits."""

    variables: dict[str, str | None] = field(default_factory=dict)
    done: tuple[str, ...] = ()

    def code_of(self, argv: list[str], place: Path) -> int:
        """The exit code of a command in a process of its own; negative: a signal."""
        wanted = {**os.environ, "NUMBA_CACHE_DIR": str(Path.home() / ".cache"), **self.variables}
        variables = {name: value for name, value in wanted.items() if value is not None}

        def first() -> None:
            for name in self.done:
                DONE_TO_IT[name]()

        words = [sys.executable, "-P", "-m", "planner", *argv]
        return subprocess.run(words, cwd=place, env=variables, preexec_fn=first, check=False).returncode


def odd_surroundings(rng: random.Random) -> Surroundings:
    """One or two odd things at once."""
    variables: dict[str, str | None] = {}
    for _ in range(rng.choice([0, 1, 1, 2])):
        variables |= rng.choice(ENVIRONMENT)
    return Surroundings(variables, tuple(rng.sample(sorted(DONE_TO_IT), rng.choice([0, 1, 1]))))
