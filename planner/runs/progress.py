"""How far long work has come: days done, told through a folder by whoever does them, and how long the rest takes."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

Done = TypeVar("Done")

LOOK_S = 0.5
"""How often the folder is looked at [s]."""


@dataclass(frozen=True)
class DayCount:
    """Counts days by what was done to them; None for the folder: nobody wants to know.

    Every process writes a file for each kind of its own, a line with the seconds that each day took: so it works
    between processes, and between machines that share the folder.
    """

    folder: Path | None = None

    def add(self, kind: str, seconds: float) -> None:
        """Count a day."""
        if self.folder is not None:
            name = f"{kind}-{os.uname().nodename}-{os.getpid()}-{threading.get_native_id()}"
            try:
                with (self.folder / name).open("a", encoding="ascii") as file:
                    file.write(f"{seconds:.6f}\n")
            except OSError:  # it is gone with whoever wanted to know
                return

    def timed(self, days: Iterable[Done], kind: Callable[[Done], str]) -> Iterator[Done]:
        """The days as they come, each counted with the time that it took."""
        began = time.monotonic()
        for day in days:
            self.add(kind(day), time.monotonic() - began)
            yield day
            began = time.monotonic()

    def read(self) -> dict[str, list[float]]:
        """Seconds of the days so far, by what was done to them."""
        found: dict[str, list[float]] = {}
        try:
            files = sorted(self.folder.iterdir()) if self.folder is not None else []
            for path in files:
                lines = path.read_text(encoding="ascii").splitlines()
                found.setdefault(path.name.partition("-")[0], []).extend(float(line) for line in lines if line)
        except (OSError, ValueError):  # a line is being written
            return found
        return found


UNCOUNTED = DayCount()


@dataclass(frozen=True)
class Pace:
    """How many days of how many are done, how many of them were there already, and how long the rest may take [s]."""

    done: int
    total: int
    kept: int
    left_s: float | None


@dataclass(frozen=True)
class Work:
    """What is to be done: days by kind, where ``planned`` ones may turn out to be kept; calls side by side."""

    days: Mapping[str, int]
    side: int = 1

    def pace(self, seen: Mapping[str, list[float]]) -> Pace:
        """How far it has come. Each kind of day is as long as the median of those seen, or as all days are."""
        kept, total = len(seen.get("kept", [])), sum(self.days.values())
        done = min(total, sum(len(each) for each in seen.values()))
        every = [seconds for name, each in seen.items() if name != "kept" for seconds in each]
        left_s = 0.0
        for kind, count in self.days.items():
            own = seen.get(kind, [])
            left = max(0, count - len(own) - (kept if kind == "planned" else 0))
            if left and not every:
                return Pace(done, total, kept, None)
            left_s += left * _middle(own or every) if left else 0.0
        return Pace(done, total, kept, left_s / self.side)


def _middle(seconds: list[float]) -> float:
    """The mean without the slowest: the first day of a process loads what all others share."""
    ordered = sorted(seconds)
    taken = ordered[: max(1, math.ceil(0.9 * len(ordered)))]
    return sum(taken) / len(taken)


@contextmanager
def watched(count: DayCount, work: Work, on_pace: Callable[[Pace], None] | None) -> Iterator[None]:
    """Tell of the days that are counted while the block runs, and at its end."""
    if on_pace is None:
        yield
        return
    over = threading.Event()

    def look() -> None:
        while not over.wait(LOOK_S):
            on_pace(work.pace(count.read()))

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
        on_pace(work.pace(count.read()))
