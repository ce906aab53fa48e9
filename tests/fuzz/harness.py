"""Runs a case in a process of its own, under limits of time and memory, and judges what came of it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from joblib.externals.loky import reusable_executor

from planner.cli.main import run
from planner.printable import LONGEST_LINE
from tests.faults.commands import path_of
from tests.fuzz.case import Case
from tests.fuzz.construct import about_of, case_of, template
from tests.fuzz.surroundings import MUTE

MOST_BYTES = 2 * 1024**3
"""Beyond what the process that it is forked from already holds."""
MOST_CPU_S = 60
MOST_WAIT_S = 600
"""By the clock: a case that takes longer waits for something; a busy machine is nobody's fault."""
WORDS = {
    0: "done",
    2: "refused",
    3: "booked",
    4: "engine",
    5: "disagrees",
    6: "output",
    7: "skipped",
    8: "slurm",
    9: "slurm",
}

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True)
class Outcome:
    """What came of a case: what it is about, a word for the table, and for failures all that is known."""

    about: str
    word: str
    failed: bool = False
    detail: str = ""
    cpu_s: float = 0.0


def run_case(number: int, *, keep: Path | None = None) -> Outcome:
    """Make and run the case of a number; ``keep`` gets the site of a failure."""
    with tempfile.TemporaryDirectory(prefix="case-") as folder:
        place = Path(folder) / "site"
        about, case = about_of(number), case_of(number, place)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        wrong, told = _judged(case, place, Path(folder))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_s = round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 3)
        if wrong is None:
            return Outcome(about, told, cpu_s=cpu_s)
        detail = f"plan {' '.join(map(repr, case.argv))}\n{case.around or ''}\n{told}"
        if keep is not None:
            shutil.rmtree(keep / str(number), ignore_errors=True)
            shutil.copytree(place, keep / str(number), symlinks=True, ignore_dangling_symlinks=True, ignore=_odd)
            (keep / str(number) / "outcome.txt").write_text(f"{about}\n{wrong}\n{detail}", errors="backslashreplace")
        return Outcome(about, wrong, True, detail, cpu_s)


def _odd(folder: str, names: list[str]) -> list[str]:
    """What cannot be copied, or is too large to keep."""
    paths = [Path(folder) / name for name in names]
    return [p.name for p in paths if p.is_fifo() or (p.is_file() and p.stat().st_size > 10**8)]


def _judged(case: Case, place: Path, folder: Path) -> tuple[str | None, str]:
    """What is wrong, if anything, and what the command said; or its outcome in a word."""
    status = _in_a_child(case, place, folder)
    out, err = ((folder / name).read_text(encoding="utf-8", errors="surrogateescape") for name in ("out", "err"))
    told = f"status {status}\n--- stdout\n{out[:3000]}\n--- stderr\n{err[:5000]}"
    done = json.loads((folder / "done").read_text() or "{}")
    if status is None:
        return "time", told
    if "code" not in done:
        return ("time" if status in (-signal.SIGXCPU, -signal.SIGKILL) else "died"), told
    code = done["code"]
    if code == 1 and "plan: there is not enough memory" in err:
        return None, "memory"
    if "Traceback" in err or code not in case.codes:
        return ("traceback" if "Traceback" in err else f"code {code}"), told
    if "Warning" in err:
        return "warning", told
    if max(map(len, err.split("\n"))) > LONGEST_LINE:
        return "long line", told
    if _CONTROL.search(out) or _CONTROL.search(err):
        return "control character", told
    is_mute = case.around is not None and not MUTE.isdisjoint(case.around.done)
    if code != 0 and "plan: " not in err and "skipped " not in err and code != 9 and not is_mute:
        return "silent", told
    if done["audits"]:
        return "audit", f"{done['audits']}\n{told}"
    return None, WORDS[code]


def _in_a_child(case: Case, place: Path, folder: Path) -> int | None:
    """How the child that runs the command ended; None when it had to be ended."""
    for name in ("out", "err", "done"):
        (folder / name).touch()
    sys.stdout.flush()
    number = os.fork()
    if not number:
        _be_the_child(case, place, folder)
    until = time.monotonic() + MOST_WAIT_S
    try:
        while time.monotonic() < until:
            found, status = os.waitpid(number, os.WNOHANG)
            if found:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.005)
        os.killpg(number, signal.SIGKILL)
        os.waitpid(number, 0)
        return None
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(number, signal.SIGKILL)


def _be_the_child(case: Case, place: Path, folder: Path) -> None:
    try:
        os.setsid()
        reusable_executor._executor = None  # worker processes of the parent answer nobody else
        for name, descriptor in (("out", 1), ("err", 2)):
            os.dup2(os.open(folder / name, os.O_WRONLY | os.O_APPEND), descriptor)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
        os.chdir(place)
        os.environ |= {"PATH": path_of(place), "PLANNER_DATA": str(place)}
        if case.changing is not None:
            threading.Thread(target=_rewrite, args=(case.changing,), daemon=True).start()
        before = {path: path.stat().st_mtime_ns for path in place.rglob("run.json") if path.is_file()}
        most = MOST_BYTES + _held_bytes()
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_S, MOST_CPU_S))
        # mutated years are kept as long as this campaign runs
        with mock.patch("planner.inputs.weather.typical_year.kept_folder", return_value=template().parent):
            code = _code_of(case.argv) if case.around is None else case.around.code_of(case.argv, place)
            found = {"code": code, "audits": _audits(case, place, before) if code == 0 else []}
        sys.stdout.flush()
        (folder / "done").write_text(json.dumps(found))
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    finally:
        os._exit(0)


def _held_bytes() -> int:
    """How much data this process holds as the limit counts it."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"^VmData:\s+(\d+) kB$", status, re.MULTILINE)[1])


def _code_of(argv: list[str]) -> int:
    try:
        return run(argv)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1


def _audits(case: Case, place: Path, before: dict[Path, int]) -> list[str]:
    """What the audit says of days that the case has written, unless they are clean.

    Where an input changes all the while it may say that an input is no longer there to compare with.
    """
    if not case.clean:
        return []
    days = [path for path in place.rglob("run.json") if path.is_file() and path != case.changing]
    fresh = [path for path in days if path.stat().st_mtime_ns != before.get(path)]
    codes = {str(path.parent.relative_to(place)): _code_of(["audit", str(path.parent)]) for path in sorted(fresh)}
    return [f"{day}: {code}" for day, code in codes.items() if code not in ((0, 2) if case.changing else (0,))]


def _rewrite(path: Path) -> None:
    """Write a file anew again and again: in one step, or in place and cut short on the way.

    It shares the memory limit of the case, and gives way to it.
    """
    with contextlib.suppress(OSError, MemoryError):
        whole = path.read_bytes()
        for turn in range(10**9):
            if turn % 2:
                path.write_bytes(whole[: len(whole) // 2])
                path.write_bytes(whole)
            else:
                path.with_name(f"{path.name}.other").write_bytes(whole + b"\n")
                path.with_name(f"{path.name}.other").replace(path)
            time.sleep(0.002)


def table_text(outcomes: Iterable[Outcome]) -> str:
    """Kinds of cases by outcomes, with the sums; failures in capitals."""
    counts: dict[str, Counter[str]] = {}
    for each in outcomes:
        word = each.word.upper() if each.failed else each.word
        for kind in (each.about.split(" ")[0], "all"):
            counts.setdefault(kind, Counter())[word] += 1
    words = sorted({word for each in counts.values() for word in each})
    head = f"{'':10}" + "".join(f"{word:>12}" for word in [*words, "all"])
    rows = [
        f"{kind:10}" + "".join(f"{found[word]:>12,}" for word in words) + f"{found.total():>12,}"
        for kind, found in sorted(counts.items(), key=lambda each: each[0] == "all")
    ]
    return "\n".join([head, *rows])
