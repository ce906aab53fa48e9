"""The one place that prints: text that a terminal can show, whatever names an input holds, and bars for people."""

from __future__ import annotations

import json
import math
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import typer

from planner.printable import one_line, printable, printable_json
from planner.units import clock, distance, is_share

if TYPE_CHECKING:
    from planner.domain.result import Trial
    from planner.methods import Params
    from planner.runs.progress import Pace


SOON_S = 1.0
"""After so long a command that has said nothing says what it does [s]."""


class _FirstWord:
    """What a command does, said on a terminal if it has said nothing else soon after its start."""

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None

    def wait(self, text: str) -> None:
        """Begin to wait; nothing where nobody looks."""
        self.end()
        if sys.stderr is not None and sys.stderr.isatty():
            self._timer = threading.Timer(SOON_S, _echo, [one_line(text)], {"err": True})
            self._timer.daemon = True
            self._timer.start()

    def end(self) -> None:
        """Something else is said, or the command has ended."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


first_word = _FirstWord()


def say(text: object = "", *, err: bool = False) -> None:
    """Print text; a line about something wrong, on stderr, has at most 300 characters."""
    show = one_line if err else printable
    _echo("\n".join(show(line) for line in str(text).split("\n")), err=err)


def say_json(content: object) -> None:
    """Print plain data as JSON; what is no number, as a mean over nothing, is null."""
    text = json.dumps(_without_nan(content), indent=2, ensure_ascii=False, allow_nan=False)
    _echo(printable_json(text), err=False)


def _without_nan(content: object) -> object:
    """The same with None for numbers that JSON does not have."""
    if isinstance(content, dict):
        return {name: _without_nan(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_without_nan(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def _echo(text: str, *, err: bool) -> None:
    first_word.end()
    stream = sys.stderr if err else sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        typer.echo(text.encode(encoding, "backslashreplace").decode(encoding), err=err)
    except OSError:
        if not err:  # an error that cannot be shown is left to the exit code
            raise


def listed(given: list[str] | None, default: str) -> list[str]:
    """Names that were given one by one or by commas."""
    texts = given or [default]
    return [name.strip() for text in texts for name in text.split(",") if name.strip()]


def aligned(rows: Sequence[Sequence[str]], words: Collection[int] = (0,)) -> list[str]:
    """Lines of a table: columns of words to the left, all others to the right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]

    def line(row: Sequence[str]) -> str:
        cells = zip(row, widths, strict=True)
        return "  ".join(c.ljust(width) if k in words else c.rjust(width) for k, (c, width) in enumerate(cells))

    return [line(row).rstrip() for row in rows]


def table_text(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows in columns by name: words to the left, numbers to the right."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[_cell(row.get(name, "")) for name in columns] for row in rows]
    words = {k for k, name in enumerate(columns) if all(isinstance(row.get(name, ""), str) for row in rows)}
    return "\n".join(aligned([columns, *cells], words))


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4f}" if abs(value) < 1000 else f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


class _Bar:
    """A bar on stderr for people; silent elsewhere."""

    def __init__(self, *, quiet: bool) -> None:
        self._shows = not quiet and sys.stderr.isatty()
        self._bar: Any = None

    def __enter__(self) -> Self:
        if self._shows:
            first_word.end()
            from rich.console import Console
            from rich.progress import Progress as RichProgress

            self._bar = RichProgress(*self._columns(), console=Console(stderr=True), transient=True)
            self._bar.start()
            self._begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _columns(self) -> tuple[Any, ...]:
        """What a line shows; none: what is usual."""
        return ()

    def _begin(self) -> None:
        """Put the first line on the bar."""


class TaskBar(_Bar):
    """Tasks done."""

    def __init__(self, title: str, total: int, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._title, self._total = title, total

    def _begin(self) -> None:
        self._task = self._bar.add_task(self._title, total=self._total)

    def advance(self, name: str) -> None:
        """Count a task that is done."""
        if self._bar is not None:
            from rich.markup import escape

            self._bar.update(self._task, advance=1, description=escape(f"{self._title}: {name} done"))


class DayBar(_Bar):
    """Days done of runs side by side, and how long the rest will take."""

    def __init__(self, title: str, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._title = title
        self.kept = 0

    def _columns(self) -> tuple[Any, ...]:
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn

        return TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[left]}")

    def _begin(self) -> None:
        self._task = self._bar.add_task(f"{self._title}: beginning", total=None, left="")

    def pace(self, pace: Pace) -> None:
        """Show how far it has come."""
        self.kept = pace.kept
        if self._bar is not None:
            there = f", {pace.kept:,} of them there already" if pace.kept else ""
            text = f"{self._title}: {pace.done:,} of {pace.total:,} days{there}"
            self._bar.update(
                self._task, completed=pace.done, total=pace.total, description=text, left=left_words(pace.left_s)
            )


def left_words(seconds: float | None) -> str:
    """How long something may still take, as people say it; nothing where nobody knows."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f"about {max(1, math.ceil(seconds / 5) * 5):d} s left" if seconds else ""
    return f"about {clock(60 * math.ceil(seconds / 60))} left"


class ReplayBar(_Bar):
    """A line for each run, with its finished jobs."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._tasks: dict[str, Any] = {}

    def update(self, title: str, done: int, total: int) -> None:
        """Show how many jobs of a run have finished."""
        if self._bar is None:
            return
        if title not in self._tasks:
            self._tasks[title] = self._bar.add_task(title, total=total)
        self._bar.update(self._tasks[title], completed=done)


class Progress(_Bar):
    """Shows what the best plan so far is worth by the goal, and how far below the bound that is once it is known."""

    def __init__(self, title: str, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._title = title
        self._best, self._bound = float("-inf"), float("nan")

    def _columns(self) -> tuple[Any, ...]:
        from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

        return SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()

    def _begin(self) -> None:
        self._task = self._bar.add_task(self._title)

    def watching(self, params: Params, still_wanted: Callable[[], None] | None = None) -> Params:
        """The same parameters with this bar told of what is done; ``still_wanted`` is asked before a day is written."""
        asked = still_wanted or params.still_wanted
        return replace(params, on_trial=self.trial, on_bound=self.bound, on_step=self.doing, still_wanted=asked)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Make room on the terminal for lines that stay."""
        if self._bar is not None:
            self._bar.stop()
        try:
            yield
        finally:
            if self._bar is not None:
                self._bar.start()

    def doing(self, what: str) -> None:
        """Say which step is under way, until there is a profit to show."""
        if self._bar is not None:
            self._bar.update(self._task, description=f"{self._title}: {what}")

    def rename(self, title: str) -> None:
        """Say what is done, and begin to count anew."""
        self._title, self._best, self._bound = title, float("-inf"), float("nan")
        if self._bar is not None:
            self._bar.update(self._task, description=title)

    def trial(self, trial: Trial) -> None:
        """Count one more candidate."""
        self._best = max(self._best, trial.profit_eur)
        if self._bar is not None:
            text = f"{self._title}: {trial.name}, best so far {self._best:,.2f}{self._near()}"
            self._bar.update(self._task, advance=1, description=text)

    def _near(self) -> str:
        """How near the best profit is to the limit, where there is one above 0."""
        if not self._bound > 0:
            return ""
        gap = max(0.0, 1 - self._best / self._bound)
        far = distance(self._bound, gap, lambda amount: f"{amount:,.2f}")
        return f", within {far} of the bound" if is_share(gap) else f", {far} below the bound"

    def bound(self, profit_eur: float) -> None:
        """Show a limit on the profit of any plan."""
        self._bound = profit_eur
