"""Many kills drawn from a seed: commands by signals by moments, with the outcome of each."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.faults.commands import COMMANDS, Command, Stage
from tests.faults.moments import Ending, in_a_child
from tests.faults.verdict import require_recovery, standing

SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
WAYS = ("file", "line", "clock")
"""Moments: before a file operation, before a line of the code that writes, or after a time."""
CODES = {signal.SIGKILL: (-9,), signal.SIGINT: (130,), signal.SIGTERM: (143,)}
"""Exit codes besides 0, which a run has that was done before the signal could count."""


@dataclass(frozen=True)
class Kill:
    """One fault: ``part`` is how far into the command it comes, from 0 to 1."""

    command: str
    by: signal.Signals
    way: str
    part: float

    def __str__(self) -> str:
        return f"{self.command}, {self.by.name} at {self.way} {self.part:.4f}"


@dataclass
class Outcomes:
    """Counts of command, signal and outcome, and what went beyond."""

    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    beyond: list[str] = field(default_factory=list)

    def table(self) -> str:
        """Command by signal by outcome, in columns."""
        columns = sorted({outcome for _, _, outcome in self.counts})
        head = f"{'command':<12}{'signal':<9}" + "".join(f"{name:>20}" for name in columns)
        rows = sorted({(command, by) for command, by, _ in self.counts})
        return "\n".join(
            [head]
            + [
                f"{command:<12}{by:<9}" + "".join(f"{self.counts[command, by, name]:>20}" for name in columns)
                for command, by in rows
            ]
        )


def draw(seed: int, kills: int) -> Iterator[Kill]:
    """So many kills; commands, signals and ways take turns, so that a few already cover much."""
    rng = random.Random(seed)
    names = list(COMMANDS)
    for number in range(kills):
        by = SIGNALS[number // len(names) % len(SIGNALS)]
        way = WAYS[(number // (len(names) * len(SIGNALS)) + number) % len(WAYS)]
        yield Kill(names[number % len(names)], by, way, rng.random())


class Campaign:
    """Runs kills one by one on a stage."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._steps: dict[tuple[str, str], float] = {}

    def run(self, kills: Iterator[Kill], on_done: Callable[[Kill, str], None] | None = None) -> Outcomes:
        """Every kill with its outcome."""
        outcomes = Outcomes()
        for kill in kills:
            try:
                outcome = self.one(kill)
            except AssertionError as error:
                outcome = "BEYOND"
                outcomes.beyond.append(f"{kill}: {error}")
            outcomes.counts[kill.command, kill.by.name, outcome] += 1
            if on_done is not None:
                on_done(kill, outcome)
        return outcomes

    def one(self, kill: Kill) -> str:
        """Disturb a command once; what stood afterwards. AssertionError when it is nothing that is allowed."""
        command = COMMANDS[kill.command]
        self._stage.reset(command)
        length = self._length(command, kill.way)
        self._stage.reset(command)
        if kill.way == "clock":
            ending = in_a_child(self._stage.site, command.words, by=kill.by, after_s=kill.part * length)
        else:
            step, lines = 1 + int(kill.part * length), kill.way == "line"
            ending = in_a_child(self._stage.site, command.words, by=kill.by, at_step=step, lines=lines)
        _require_end(kill, ending)
        stands = standing(self._stage, command)
        if ending.code == 0:
            assert stands == "new", f"it ended well, and the {stands} result stands"
        require_recovery(self._stage, command)
        return f"{stands}, {'done' if ending.code == 0 else 'ended'}"

    def _length(self, command: Command, way: str) -> float:
        """How many steps an undisturbed run has, or how long it takes."""
        if (command.name, way) not in self._steps:
            began = time.monotonic()
            ending = in_a_child(self._stage.site, command.words, lines=way == "line")
            took = time.monotonic() - began
            assert ending.code == 0, ending.text
            self._steps[command.name, way] = took if way == "clock" else ending.steps
        return self._steps[command.name, way]


def _require_end(kill: Kill, ending: Ending) -> None:
    # A time may come before the program has taken over from the interpreter, and then the signal ends it as it is.
    raw = (-kill.by,) if kill.way == "clock" and kill.part < 0.2 else ()
    assert ending.code in (0, *CODES[kill.by], *raw), f"exit code {ending.code}: {ending.text[-300:]}"
    assert "Traceback" not in ending.text, ending.text[-600:]
    long = [line for line in ending.text.splitlines() if len(line) > 300]
    assert not long or ending.code == 0, f"a line of {len(long[0])} characters"
