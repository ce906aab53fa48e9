"""The program ``plan``; ``python -m planner`` is the same."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from typing import TextIO

from planner.compiled import load_no_linear_algebra
from planner.signals import ENDED, end, ended_by, said, told, watch_the_end

RARE = (500_000, 50, 100)
"""When the interpreter looks for objects that only refer to each other: rarely, for most that are made are kept."""


UMASK = "PLAN_UMASK"
"""The variable that says which rights others do not have on what is written."""


def main() -> None:
    """Run the command line, and end with the exit code that fits."""
    gc.set_threshold(*RARE)
    load_no_linear_algebra()
    _open_streams()
    _load_nothing_from_here()
    _set_umask()
    for number in ENDED:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):  # nohup, say, ignores one
            signal.signal(number, end)
    watch_the_end()
    for stream in (sys.stdout, sys.stderr):
        _never_fail(stream)
    try:
        from planner.cli.main import run

        code = run(sys.argv[1:])
    except BaseException as error:
        ended = ended_by(error)
        if ended is None:
            raise
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        word = next((word for known, word in ENDED.values() if known == code), None)
        if word is not None:
            with contextlib.suppress(OSError):  # as on a full disk
                print(told(word), file=sys.stderr, flush=True)
            said.set()
    # All is written and reported: what is left is the end of the interpreter, which nothing should disturb. It need not
    # look through all that was loaded for a last time, which would take longer than most commands do.
    for number in ENDED:
        signal.signal(number, signal.SIG_IGN)
    if "planner.store.folder" in sys.modules:
        sys.modules["planner.store.folder"].give_back_all()
    gc.freeze()
    sys.exit(code)


def _open_streams() -> None:
    """Give closed streams a place to go: else a result would get their number, and what is said would stand in it."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            handle = os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
            setattr(sys, name, os.fdopen(handle, "w" if number else "r", encoding="utf-8", closefd=False))


def _set_umask() -> None:
    """Take rights from all that is written, as PLAN_UMASK says; InputError when it is no umask."""
    asked = os.environ.get(UMASK)
    if asked is None:
        return
    try:
        umask = int(asked, 8)
    except ValueError:
        umask = -1
    if not 0 <= umask <= 0o077:
        with contextlib.suppress(OSError):
            problem = f"plan: {UMASK} is {asked!r:.20}; it must be an octal number from 000 to 077, such as 027"
            print(problem, file=sys.stderr, flush=True)
        sys.exit(2)
    os.umask(umask)


def _load_nothing_from_here() -> None:
    """Load no code of the current folder, here or in processes begun from here; ``python -m`` would look there first.

    Where the planner itself stands in the current folder, all of it is the caller's own.
    """
    os.environ["PYTHONSAFEPATH"] = "1"
    here = os.path.realpath(os.curdir)
    if os.path.dirname(os.path.dirname(os.path.realpath(__file__))) != here:  # noqa: PTH120
        sys.path[:] = [place for place in sys.path if os.path.realpath(place) != here]


def _never_fail(stream: TextIO | None) -> None:
    """Let a stream that cannot show a sign show its number in place of it."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    main()
