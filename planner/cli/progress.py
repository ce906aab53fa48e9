"""A progress bar on stderr for people; silent elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

from planner.domain.gap import distance, is_share
from planner.domain.result import Trial

if TYPE_CHECKING:
    from planner.methods import Params


class Progress:
    """Shows the best profit so far, and how far it is below the bound once that is known."""

    def __init__(self, title: str, *, quiet: bool) -> None:
        self._title = title
        self._bar: Any = None
        self._best, self._bound = float("-inf"), float("nan")
        self._shows = not quiet and sys.stderr.isatty()

    def __enter__(self) -> Progress:
        if self._shows:
            from rich.console import Console
            from rich.progress import Progress as Bar
            from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

            columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._title)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

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
            text = f"{self._title}: {trial.name}, best profit {self._best:,.2f}{self._near()}"
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
