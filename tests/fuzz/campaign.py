"""Many cases in processes of their own, which may die without ending the campaign."""

from __future__ import annotations

import multiprocessing
import os
import resource
import tempfile
import threading
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import Empty, SimpleQueue

from tests.fuzz.harness import MOST_WAIT_S, Outcome, run_case

ADDRESS_SPACE = 6 * 1024**3
"""Far more than a case may use, and less than what would harm the machine."""

PATIENCE_S = 2 * MOST_WAIT_S
"""How long a worker may be silent: time to compile, and an alarm that compiled code does not hear."""

Number = tuple[str, int]


@dataclass
class Campaign:
    """Cases by kind and number, and what came of them."""

    keep: Path
    outcomes: dict[Number, Outcome] = field(default_factory=dict)

    def run(self, cases: list[Number], processes: int) -> None:
        """Run all cases; failures are kept and reported at once. Ctrl-C ends it with what came until then."""
        waiting: SimpleQueue[Number] = SimpleQueue()
        for case in cases:
            waiting.put(case)
        threads = [threading.Thread(target=self._serve, args=(waiting,)) for _ in range(processes)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except KeyboardInterrupt:
            for _ in _drained(waiting):
                pass
            for thread in threads:
                thread.join()

    def _serve(self, waiting: SimpleQueue[Number]) -> None:
        worker: Worker | None = None
        for case in _drained(waiting):
            worker = worker or Worker(self.keep)
            outcome = worker.run(case)
            if outcome is None:
                outcome, worker = Outcome("died", True, "the process died, or was silent for too long"), None
            self.outcomes[case] = outcome
            if outcome.failed:
                lines = outcome.detail.strip().splitlines() or [""]
                trace = [line for line in lines if line.startswith('  File "') and "/planner/" in line]
                last = next((line for line in lines if "Error" in line and not line.startswith(" ")), lines[0])
                print(
                    f"{case[0]}:{case[1]} {outcome.word}: {last[:200]} {trace[-1].strip() if trace else ''}", flush=True
                )
        if worker is not None:
            worker.end()


class Worker:
    """A process that runs cases one after another."""

    def __init__(self, keep: Path) -> None:
        context = multiprocessing.get_context("spawn")
        self._here, there = context.Pipe()
        self._process: BaseProcess = context.Process(target=_work, args=(there, keep))
        self._process.start()
        there.close()

    def run(self, case: Number) -> Outcome | None:
        """What came of a case; None when the process died of it or hangs."""
        try:
            self._here.send(case)
            if self._here.poll(PATIENCE_S):
                found: Outcome = self._here.recv()
                return found
        except (EOFError, OSError):
            pass
        self._process.kill()
        self._process.join()
        return None

    def end(self) -> None:
        """Let the process go."""
        self._here.close()
        self._process.join(10)


def _work(connection: Connection, keep: Path) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    with tempfile.TemporaryFile() as said:
        # whatever libraries write past Python, to where nobody looks
        for descriptor in (1, 2):
            os.dup2(said.fileno(), descriptor)
        while True:
            try:
                kind, number = connection.recv()
            except EOFError:
                return
            said.seek(0)
            said.truncate()
            try:
                outcome = run_case(kind, number, keep=keep)
            except Exception:  # of the mutator: the campaign goes on, and tells of it
                outcome = Outcome("harness", True, traceback.format_exc())
            said.seek(0)
            written = said.read(2000)
            if written and not outcome.failed:
                outcome = Outcome("library output", True, written.decode("utf-8", "replace"))
            connection.send(outcome)


def _drained(waiting: SimpleQueue[Number]) -> Iterator[Number]:
    while True:
        try:
            yield waiting.get_nowait()
        except Empty:
            return


def table_text(outcomes: dict[Number, Outcome]) -> str:
    """Kinds by outcomes, with the sums; failures in the columns to the right, in capitals."""
    words = sorted({(each.failed, each.word) for each in outcomes.values()})
    kinds = list(dict.fromkeys(kind for kind, _ in sorted(outcomes)))
    heads = [word.upper() if failed else word for failed, word in words]
    lines = [["", *heads, "all"]]
    for kind in [*kinds, "all"]:
        mine = [each for (name, _), each in outcomes.items() if kind in (name, "all")]
        counts = [sum((each.failed, each.word) == word for each in mine) for word in words]
        lines.append([kind, *(f"{count:,}" if count else "-" for count in counts), f"{len(mine):,}"])
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    return "\n".join(
        f"{line[0]:<{widths[0]}}"
        + "".join(f"  {cell:>{width}}" for cell, width in zip(line[1:], widths[1:], strict=True))
        for line in lines
    )
