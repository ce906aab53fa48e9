"""Signals that end a run: in good order, with the exit code that shells expect, and within a few seconds."""

from __future__ import annotations

import os
import signal
import threading
import time
from types import FrameType

ENDED = {
    signal.SIGINT: (130, "interrupted"),
    signal.SIGTERM: (143, "terminated"),
    signal.SIGHUP: (129, "terminated"),
}
"""Signals that end a run in good order, with the exit code that shells expect and the word for it."""

GRACE_S = 3.0
"""How long a run that is told to end may take to tidy up [s]; what it leaves then, the next one removes."""

said = threading.Event()
"""Whether the run has said that it ends."""


def watch_the_end() -> None:
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
                if not said.is_set():
                    os.write(2, f"{told(word)}\n".encode())
                os._exit(code)

    threading.Thread(target=watch, daemon=True).start()


def end(number: int, frame: FrameType | None) -> None:
    """End the run by way of everything that tidies up, or at once where a command has not begun its work."""
    code, word = ENDED[signal.Signals(number)]
    if not _is_at_work(frame):
        # Libraries that are being loaded may swallow an exception, and the run would go on.
        os.write(2, f"{told(word)}\n".encode())
        os._exit(code)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(code)


def told(word: str) -> str:
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


def ended_by(error: BaseException | None) -> SystemExit | None:
    """The end that was asked for, also where a library stumbled over it; an interrupt that nobody took is one too."""
    while error is not None:
        if isinstance(error, SystemExit):
            return error
        if isinstance(error, KeyboardInterrupt):
            return SystemExit(ENDED[signal.SIGINT][0])
        error = error.__context__
    return None
