"""The program ``plan``; ``python -m planner`` is the same."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import TextIO

ENDED = {
    signal.SIGINT: (130, "interrupted"),
    signal.SIGTERM: (143, "terminated"),
    signal.SIGHUP: (129, "terminated"),
}
"""Signals that end a run in good order, with the exit code that shells expect and the word for it."""

GRACE_S = 3.0
"""How long a run that is told to end may take to tidy up [s]; what it leaves then, the next one removes."""

RARE = (100_000, 50, 100)
"""When the interpreter looks for objects that only refer to each other: rarely, for most that are made are kept."""


UMASK = "PLAN_UMASK"
"""The variable that says which rights others do not have on what is written."""


def main() -> None:
    """Run the command line, and end with the exit code that fits."""
    gc.set_threshold(*RARE)
    _open_streams()
    _load_nothing_from_here()
    _set_umask()
    for number in ENDED:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):  # nohup, say, ignores one
            signal.signal(number, _end)
    _watch_the_end()
    for stream in (sys.stdout, sys.stderr):
        _never_fail(stream)
    try:
        from planner.cli.main import run

        code = run(sys.argv[1:])
    except BaseException as error:
        ended = _ended_by(error)
        if ended is None:
            raise
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        word = next((word for told, word in ENDED.values() if told == code), None)
        if word is not None:
            with contextlib.suppress(OSError):  # as on a full disk
                print(_told(word), file=sys.stderr, flush=True)
            _said.set()
    # All is written and reported: what is left is the end of the interpreter, which nothing should disturb. It need not
    # look through all that was loaded for a last time, which would take longer than most commands do.
    for number in ENDED:
        signal.signal(number, signal.SIG_IGN)
    if "planner.store.folder" in sys.modules:
        sys.modules["planner.store.folder"].give_back_all()
    gc.freeze()
    sys.exit(code)


def _ended_by(error: BaseException | None) -> SystemExit | None:
    """The end that was asked for, also where a library stumbled over it; an interrupt that nobody took is one too."""
    while error is not None:
        if isinstance(error, SystemExit):
            return error
        if isinstance(error, KeyboardInterrupt):
            return SystemExit(ENDED[signal.SIGINT][0])
        error = error.__context__
    return None


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


_said = threading.Event()
"""Whether the run has said that it ends."""


def _watch_the_end() -> None:
    """Let a thread end the process where the main one does not come to it: it may be deep in compiled code, or wait.

    An interrupt is left alone: a search that it ends goes on to write its plan.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def watch() -> None:
        while True:
            number = os.read(reader, 1)[0]
            if number in (signal.SIGTERM, signal.SIGHUP):
                time.sleep(GRACE_S)
                code, word = ENDED[signal.Signals(number)]
                if not _said.is_set():
                    os.write(2, f"{_told(word)}\n".encode())
                os._exit(code)

    threading.Thread(target=watch, daemon=True).start()


def _end(number: int, frame: FrameType | None) -> None:
    """End the run by way of everything that tidies up, or at once where a command has not begun its work."""
    code, word = ENDED[signal.Signals(number)]
    if not _is_at_work(frame):
        # Libraries that are being loaded may swallow an exception, and the run would go on.
        os.write(2, f"{_told(word)}\n".encode())
        os._exit(code)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(code)


def _told(word: str) -> str:
    return f"plan: {word}; nothing more was written"


def _is_at_work(frame: FrameType | None) -> bool:
    """Whether a command runs, and not only the reading of the command line."""
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        is_import = frame.f_code.co_name == "<module>"
        if name.startswith("planner.cli.") and name != "planner.cli.main" and not is_import:
            return True
        frame = frame.f_back
    return False


def _never_fail(stream: TextIO | None) -> None:
    """Let a stream that cannot show a sign show its number in place of it."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    main()
