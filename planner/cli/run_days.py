"""``plan run``: day after day, each from what the last one left."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli import day, options, tab_key
from planner.cli.terminal import left_words, say, say_json
from planner.runs.check_request import parse_day
from planner.runs.progress import Work
from planner.units import distance

if TYPE_CHECKING:
    from planner.domain.day_summary import DaySummary

HEAD = f"{'day':<11}{'profit':>12}{'PUE':>7}{'use %':>7}{'started':>9}{'finished':>9}{'running':>9}{'waiting':>9}"

FromOption = Annotated[
    str, typer.Option("--from", metavar="YYYY-MM-DD", help="The first day, also today.", autocompletion=tab_key.days)
]
ToOption = Annotated[
    str, typer.Option("--to", metavar="YYYY-MM-DD", help="The last day, also tomorrow.", autocompletion=tab_key.days)
]
UntilEmptyOption = Annotated[
    bool, typer.Option("--until-empty", help="Go on after the last day, without new jobs, until none is left.")
]


def run_range(
    context: typer.Context,
    first: FromOption,
    last: ToOption,
    until_empty: UntilEmptyOption = False,
    scenario: options.ScenarioOption = None,
    method: options.MethodOption = None,
    time_limit: options.TimeLimitOption = options.TIME_LIMIT,
    seed: options.SeedOption = None,
    jobs: options.JobsOption = None,
    out: options.OutOption = Path("reports"),
    settings: options.SettingsOption = None,
    also: options.AlsoOption = None,
    workers: options.WorkersOption = 0,
    engine: options.EngineOption = None,
    iterations: options.IterationsOption = None,
    fresh: options.FreshOption = False,
    bound_time: options.BoundTimeOption = options.BOUND_TIME,
    run_bound_time: Annotated[
        str,
        typer.Option(
            metavar="TIME", help="Time for the bound of the whole run; 0, or no bound of the days, leaves it out."
        ),
    ] = options.RUN_BOUND_TIME,
    rebook: options.RebookOption = False,
    page: Annotated[bool, typer.Option(help="Whether every day gets a report.html; without, days are quicker.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summaries as JSON.")] = False,
    quiet: options.QuietOption = False,
) -> None:
    """Plan day after day: running work stays on its nodes, deferred jobs stay in the queue.

    A nightly `plan --day` does the same one day at a time. An interrupted run goes on where it stopped: days that are
    already there, planned from the same inputs, are kept.

    Example: plan run --from 2024-06-01 --to 2024-06-07 --scenario air-summer
    """
    options.require_days(first, last)
    run_bound_s = options.solve_time(run_bound_time, "--run-bound-time")
    chosen, params = day.opened(context)
    from_day, to_day = (parse_day(text, chosen.zone) for text in (first, last))

    from planner.cli.terminal import Progress
    from planner.runs.bounds_over_days import whole_run
    from planner.runs.run_days import run_days

    folder = out / chosen.name
    summaries: list[DaySummary] = []
    seen: dict[str, list[float]] = {"planned": [], "kept": []}
    began = time.monotonic()
    shows_rows = not (as_json or quiet)
    with _interrupts() as interrupts, Progress(f"{from_day}: reading the inputs", quiet=quiet) as progress:
        for each in run_days(
            chosen,
            progress.watching(params, interrupts.end),
            from_day,
            to_day,
            folder,
            until_empty=until_empty,
            fresh=fresh,
        ):
            summaries.append(each.summary)
            seen["kept" if each.planned is None else "planned"].append(time.monotonic() - began)
            began = time.monotonic()
            if shows_rows:
                with progress.aside():
                    row = day_text(each.summary, was_there=each.planned is None)
                    say(row if len(summaries) > 1 else f"{HEAD}\n{row}")
            progress.rename(done_text((to_day - from_day).days + 1, seen))
            day.remark_stand_in(each.summary)
            if not quiet and each.planned is not None:
                day.remark(each.planned.day)
    if shows_rows:
        say(all_text(summaries))
    whole = whole_run(
        chosen, from_day, to_day, folder, run_bound_s if params.bound_time_s > 0 else 0.0, summaries, fresh=fresh
    )
    if as_json:
        say_json({"days": [summary.as_dict() for summary in summaries], "run": whole.as_dict()})
    elif not quiet:
        if whole.bound_eur is not None:
            say(bound_text(whole.bound_eur, whole.gap_fraction))
        say(f"\n{folder}")


def day_text(summary: DaySummary, *, was_there: bool) -> str:
    """The line of one day."""
    totals, jobs = summary.totals, summary.jobs
    return (
        f"{summary.day!s:<11}{totals.profit_eur:>12,.2f}{totals.pue:>7.3f}"
        f"{100 * summary.utilisation_fraction:>7.1f}{jobs.started:>9,}{jobs.finished:>9,}"
        f"{jobs.running:>9,}{jobs.deferred:>9,}{'  kept' if was_there else ''}"
        f"{'' if summary.has_plan else '  no plan found'}"
    )


def all_text(summaries: Sequence[DaySummary]) -> str:
    """The sum of the days, and on how many of them there is no plan."""
    profit = sum(summary.totals.profit_eur for summary in summaries)
    it, cooling = sum(s.totals.it_kwh for s in summaries), sum(s.totals.cooling_kwh for s in summaries)
    finished = sum(summary.jobs.finished for summary in summaries)
    started = sum(summary.jobs.started for summary in summaries)
    last = summaries[-1].jobs
    lines = [
        f"{'all':<11}{profit:>12,.2f}{1 + cooling / it if it else 1:>7.3f}{'':>7}{started:>9,}{finished:>9,}"
        f"{last.running:>9,}{last.deferred:>9,}"
    ]
    without = sum(not summary.has_plan for summary in summaries)
    if without:
        lines.append(f"The engine found no plan on {without} of {len(summaries)} days: no job starts on those.")
    return "\n".join(lines)


def bound_text(bound_eur: float, gap: float | None) -> str:
    """What no plans of these days could have earned together, and how far these are from it."""
    far = "" if gap is None else distance(bound_eur, gap, lambda amount: f"{amount:,.2f}")
    said = f"; these are {far} below it" if far else ""
    return f"No plans of these days, with all jobs known ahead, could earn more than {bound_eur:,.2f}{said}."


def done_text(days: int, seen: Mapping[str, list[float]]) -> str:
    """How many days of a run are done, and how long the others take, by the seconds of those planned and kept."""
    done = sum(map(len, seen.values()))
    if done >= days:
        return f"{done} of {days} days done, and on until no job is left"
    left = left_words(Work({"planned": days}).pace(seen).left_s)
    return f"{done} of {days} days done{left and f', {left}'}"


class _Interrupts:
    """Remembers Ctrl-C: a search ends with the best so far, and the run must not go on to write it."""

    def __init__(self) -> None:
        self.came = False

    def note(self, number: int, frame: FrameType | None) -> None:
        """Note Ctrl-C."""
        self.came = True
        raise KeyboardInterrupt

    def end(self) -> None:
        """End the run if Ctrl-C came; the days written so far stand."""
        if self.came:
            raise KeyboardInterrupt


@contextmanager
def _interrupts() -> Iterator[_Interrupts]:
    noted = _Interrupts()
    try:
        before = signal.signal(signal.SIGINT, noted.note)
    except ValueError:  # not the main thread: whoever runs us there handles interrupts
        yield noted
        return
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, before)
