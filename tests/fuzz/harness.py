"""Runs one case in this process, and tells what came of it."""

from __future__ import annotations

import contextlib
import io
import random
import re
import shutil
import signal
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from unittest import mock

from planner.cli.main import run
from tests.fuzz.case import Case
from tests.fuzz.kinds import KINDS
from tests.fuzz.site import write_site

LONGEST_LINE = 300
MOST_SECONDS = 30
"""By the clock and by the processor: a busy machine is nobody's fault, and neither are several cores at work."""
MOST_WAIT_S = 300
"""By the clock alone: a case that takes longer waits for something."""
MOST_BYTES = 2 * 1024**3
GOOD = {0: "done", 2: "refused", 3: "no plan", 4: "engine", 5: "disagrees", 6: "output", 7: "skipped"}
"""What an exit code means where a case allows it; anything else is a failure."""

# Libraries may deprecate what they like: only what a user would see counts.
_UNSEEN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True)
class Outcome:
    """What came of a case: a word for the table, and for failures all that is known."""

    word: str
    failed: bool = False
    detail: str = ""


class OutOfTimeError(BaseException):
    """The case takes too long; not an Exception, so that nothing on the way takes it for its own."""


def run_case(kind: str, number: int, *, keep: Path | None = None) -> Outcome:
    """Make and run the case of that kind and number; ``keep`` gets the site of a failure."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        site = write_site(Path(folder) / "site")
        with contextlib.chdir(site):
            case = KINDS[kind](random.Random(f"{kind}:{number}"), site)
            outcome = judge(case, site)
        if outcome.failed and keep is not None:
            _keep(keep / f"{kind}-{number}", site, case, outcome)
    return outcome


def judge(case: Case, site: Path) -> Outcome:
    """Run the command of a case in its site, and audit every day that it planned."""
    began, seen = _clocks(), Seen()
    _reset_peak()
    try:
        with _watched(seen):
            code = _end_of(case.argv)
    except OutOfTimeError:
        return Outcome("time", True, f"more than {MOST_WAIT_S} s\n{traceback.format_exc()}")
    except Exception:
        return Outcome("traceback", True, traceback.format_exc())
    peak, took = _peak_bytes(), min(now - then for now, then in zip(_clocks(), began, strict=True))
    wrong = _wrong(case, code, seen)
    if wrong is None and peak > MOST_BYTES:
        wrong = Outcome("memory", True, f"{peak / 1e9:.1f} GB")
    if wrong is None and took > MOST_SECONDS:
        wrong = Outcome("time", True, f"{took:.0f} s")
    if wrong is None and code == 0 and case.clean:
        wrong = _audited(site)
    told = f"exit code {code}\n--- stdout\n{seen.out[:5000]}\n--- stderr\n{seen.err[:5000]}"
    return Outcome(GOOD[code]) if wrong is None else Outcome(wrong.word, True, f"{wrong.detail}\n{told}")


@dataclass
class Seen:
    """What a command wrote, and what libraries warned of."""

    out: str = ""
    err: str = ""
    warned: str = ""


def _wrong(case: Case, code: int, seen: Seen) -> Outcome | None:
    if code not in case.codes or code not in GOOD:
        return Outcome(f"code {code}", True)
    if seen.warned:
        return Outcome("warning", True, seen.warned)
    if "Traceback" in seen.err:
        return Outcome("traceback", True)
    longest = max(map(len, seen.err.split("\n")))
    if longest > LONGEST_LINE:
        return Outcome("long line", True, f"{longest} characters")
    control = _CONTROL.search(seen.out) or _CONTROL.search(seen.err)
    if control is not None:
        return Outcome("control character", True, repr(control.group()))
    if code != 0 and "plan: " not in seen.err and "skipped " not in seen.err:
        return Outcome("silent", True)
    return None


def _audited(site: Path) -> Outcome | None:
    """A failure when a day that was written is not clean."""
    for day in sorted(site.glob("**/run.json")):
        seen = Seen()
        try:
            with _watched(seen):
                code = _end_of(["audit", str(day.parent)])
        except Exception:
            return Outcome("audit", True, traceback.format_exc())
        if code != 0:
            return Outcome("audit", True, seen.err)
    return None


def _end_of(argv: Sequence[str]) -> int:
    try:
        return run(list(argv))
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1


@contextlib.contextmanager
def _watched(seen: Seen) -> Iterator[None]:
    """Catch what is written and warned of, with streams as strict as a terminal's; give up after a while."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n") for _ in range(2))
    with (
        warnings.catch_warnings(record=True) as caught,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        # mutated years are not kept between runs
        mock.patch("planner.inputs.weather.typical_year.kept_folder", return_value=None),
        _alarm(),
    ):
        warnings.simplefilter("always")
        try:
            yield
        finally:
            seen.warned = "\n".join(str(each) for each in caught if not issubclass(each.category, _UNSEEN))
            for name, stream in (("out", out), ("err", err)):
                stream.flush()
                setattr(seen, name, stream.buffer.getvalue().decode("utf-8"))  # type: ignore[attr-defined]


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise OutOfTimeError

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(MOST_WAIT_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _clocks() -> tuple[float, float]:
    return time.monotonic(), time.process_time()


def _reset_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak_bytes() -> int:
    """The most memory that the process held since the last reset."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) * 1024 if found else 0


def _keep(target: Path, site: Path, case: Case, outcome: Outcome) -> None:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(site, target, symlinks=True)
    text = f"{outcome.word}\nplan {' '.join(map(repr, case.argv))}\n\n{outcome.detail}\n"
    (target / "outcome.txt").write_text(text, encoding="utf-8", errors="backslashreplace")
