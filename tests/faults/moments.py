"""Moments at which a run is ended: a count of its steps, or a time.

A command runs in a child forked from a process that has loaded and compiled everything, so that a kill costs a fraction
of a second. Its steps are its file operations (audit events) and the lines that it executes where results are written.
The product knows nothing of this.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from joblib.externals.loky import reusable_executor

from planner import signals
from planner.__main__ import main
from tests.faults.commands import given, path_of

FILE_EVENTS = frozenset(
    {"open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.link", "os.truncate", "fcntl.flock", "shutil.rmtree"}
    | {"ctypes.dlsym", "os.scandir", "os.listdir", "subprocess.Popen"}
)
WRITERS = (
    *("store/folder.py", "store/write_day.py", "store/cost_files.py", "store/folder.py"),
    *("pages/index.py", "runs/compare.py", "runs/run_days.py", "runs/one_day.py", "runs/book.py"),
    *("store/plan_versions.py", "slurm/journal.py", "slurm/send_changes.py", "slurm/commands.py"),
    "runs/power_sources.py",
    *("inputs/pue_csv.py", "site/init.py"),
)
LIMIT_S = 600.0


@dataclass(frozen=True)
class Ending:
    """How a child ended: exit code (negative: a signal), what it wrote to its streams, and the steps it took."""

    code: int
    text: str
    steps: int


def in_a_child(
    site: Path,
    words: tuple[str, ...],
    *,
    by: signal.Signals | None = None,
    at_step: int | None = None,
    lines: bool = False,
    after_s: float | None = None,
    first: Callable[[], None] | None = None,
) -> Ending:
    """Run a command in a child, which gets a signal at a step of its own, or after a time.

    ``lines`` counts lines of the code that writes; else file operations count. ``first`` is called in the child before
    all else.
    """
    child = begun(site, words, (by, at_step, lines), first)
    if after_s is not None and by is not None:
        time.sleep(after_s)
        os.kill(child.number, by)
    return child.ending()


@dataclass(frozen=True)
class Child:
    """A command at work in a process of its own."""

    number: int
    _said: int
    _counted: int

    def ending(self) -> Ending:
        """Wait for its end."""
        status = _ended(self.number)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            while True:  # a command of Slurm that outlives it does what it was told
                os.killpg(self.number, 0)
                time.sleep(0.002)
        text, steps = (_drained(handle) for handle in (self._said, self._counted))
        return Ending(os.waitstatus_to_exitcode(status), text, int(steps or 0))


def begun(
    site: Path,
    words: tuple[str, ...],
    when: tuple[signal.Signals | None, int | None, bool] = (None, None, False),
    first: Callable[[], None] | None = None,
) -> Child:
    """Begin a command in a child; what it says must fit a pipe."""
    (said, said_in), (counted, counted_in) = os.pipe(), os.pipe()
    # A signal that comes while the child is being made waits until the program is there to hear it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals.ENDED)
    number = os.fork()
    if not number:
        _be_the_child(site, words, when, (said_in, counted_in), first)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    for handle in (said_in, counted_in):
        os.close(handle)
    return Child(number, said, counted)


def _drained(handle: int) -> str:
    with os.fdopen(handle, "rb") as stream:
        return stream.read().decode(errors="replace")


def _ended(child: int) -> int:
    until = time.monotonic() + LIMIT_S
    while time.monotonic() < until:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return status
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError(f"the command did not end within {LIMIT_S:g} s of the signal")


def _be_the_child(
    site: Path,
    words: tuple[str, ...],
    when: tuple[signal.Signals | None, int | None, bool],
    streams: tuple[int, int],
    first: Callable[[], None] | None,
) -> None:
    code = 1
    reusable_executor._executor = None  # worker processes of the parent answer nobody else
    try:
        said, counted = streams
        os.dup2(said, 1)
        os.dup2(said, 2)
        sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)
        sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
        for number in signals.ENDED:
            signal.signal(number, signals.end)
        os.setsid()
        os.chdir(site)
        os.environ["PATH"] = path_of(site)
        if first is not None:
            first()
        sys.argv = ["plan", *given(site, words)]
        counter = _Counter(*when)
        counter.begin()
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, signals.ENDED)
            main()
        finally:
            counter.end()
            os.write(counted, str(counter.steps).encode())
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code & 0xFF)


class _Counter:
    """Counts steps and sends a signal to its own process at one of them."""

    def __init__(self, by: signal.Signals | None, at_step: int | None, lines: bool) -> None:
        self.steps, self._by, self._at, self._lines, self._on = 0, by, at_step, lines, False

    def begin(self) -> None:
        self._on = True
        if self._lines:
            sys.settrace(self._trace)
        else:
            sys.addaudithook(self._heard)

    def end(self) -> None:
        self._on = False
        sys.settrace(None)

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._on and event in FILE_EVENTS:
            self._step()

    def _trace(self, frame: FrameType, event: str, argument: object) -> Any:
        return self._line if frame.f_code.co_filename.endswith(WRITERS) else None

    def _line(self, frame: FrameType, event: str, argument: object) -> Any:
        if event == "line" and self._on:
            self._step()
        return self._line

    def _step(self) -> None:
        self.steps += 1
        if self.steps == self._at and self._by is not None:
            os.kill(os.getpid(), self._by)
