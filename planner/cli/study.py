"""``plan study``: published experiments, run end to end, with their figures beside ours; a command for each study."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli import day
from planner.cli.day import NoRemarksOption, solve_time
from planner.cli.simulate import table_text
from planner.cli.terminal import TaskBar, say, say_json
from planner.errors import InputError
from planner.places import full_path

MOST_WORKERS = 2
SITES = ("curie", "sample")


def operation(
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="Cells whose names fit, such as 'curie/fr-2012/as-is/hold-*/requested'; may be repeated.",
        ),
    ] = None,
    sites: Annotated[str, typer.Option(metavar="LIST", help="By commas.")] = "curie,sample",
    every: Annotated[bool, typer.Option("--every", help="Every policy at every tariff and load: hours.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Two policies on a day of the sample site: seconds.")] = False,
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of traces and prices; default PLANNER_DATA.")
    ] = None,
    trace: Annotated[Path | None, typer.Option(metavar="FILE", help="Another SWF trace in place of Curie's.")] = None,
    trace_cores: Annotated[int, typer.Option(min=1, help="Cores of the traced machine, to scale jobs.")] = 93_312,
    nodes: Annotated[int, typer.Option(min=1, max=100_000, help="Nodes of 32 cores that stand in for it.")] = 300,
    first: Annotated[str, typer.Option("--from", metavar="YYYY-MM-DD", help="First day of the trace.")] = "2012-06-11",
    last: Annotated[str, typer.Option("--to", metavar="YYYY-MM-DD", help="Last day of the trace.")] = "2012-06-15",
    bound_time: Annotated[
        str, typer.Option(metavar="TIME", help="For each bound, at most; 0 leaves bounds out.")
    ] = "300s",
    workers: Annotated[int, typer.Option(min=1, max=MOST_WORKERS, help="Processes side by side.")] = 1,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start anew instead of going on.")] = False,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where results go, below OUT/studies/operation.")] = Path(
        "reports"
    ),
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables for a document.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    quiet: NoRemarksOption = False,
) -> None:
    """EASY and its kin, static day plans and holding on the same jobs, machine, weather and prices.

    Every replay is settled on what happened, over the same calendar days, with the clairvoyant bound beside it. An
    interrupted study goes on where it stopped. Sites: five days of CEA Curie, and a week of the sample site.

    Without any data: plan study operation --sites sample
    """
    from planner.runs.one_day import require_order
    from planner.studies.operation.cells import chosen, default_cells, every_cell, quick_cells
    from planner.studies.operation.run import OperationStudy
    from planner.studies.operation.show import terminal_rows
    from planner.studies.operation.sites import SAMPLE_DAYS, Days, Ground
    from planner.studies.operation.tables import group_title, groups_of

    wanted = tuple(name.strip() for name in sites.split(",") if name.strip())
    unknown = next((name for name in wanted if name not in SITES), None)
    if unknown is not None or not wanted:
        raise InputError(f"unknown site {unknown or ''!r} of the study; known: {', '.join(SITES)}")
    days = Days(day.parse_day(first), day.parse_day(last))
    require_order(days.first, days.last)
    folder = full_path(out) / "studies" / "operation"
    ground = Ground(
        tables=folder / "tables",
        data=data,
        trace=None if trace is None else full_path(trace),
        trace_cores=trace_cores,
        nodes=nodes,
        curie_days=days,
        sample_days=Days(SAMPLE_DAYS.first, SAMPLE_DAYS.first) if quick else SAMPLE_DAYS,
    )
    offered = quick_cells() if quick else every_cell(wanted) if every else default_cells(wanted)
    study = OperationStudy(chosen(offered, only or ()), ground, folder, _bound_time_s(bound_time), workers)
    with TaskBar("operation", study.piece_count(), quiet=quiet) as bar:
        rows = study.run(fresh=fresh, on_done=bar.advance)
    titled = {group_title(group[0]): terminal_rows(group) for group in groups_of(rows)}
    show_study(folder / "operation.md", rows, titled, as_json=as_json, markdown=markdown)


def _bound_time_s(text: str) -> float:
    return 0.0 if text.strip() == "0" else day.solve_time(text, "--bound-time")


if TYPE_CHECKING:
    from planner.studies.study import Study, StudyOption

app = typer.Typer(help="Published experiments, run end to end, with their figures beside ours.", no_args_is_help=True)

TYPES: dict[str, Any] = {
    "text": str,
    "number": int,
    "flag": bool,
    "path": Path,
    "time": str,
    "files": list[Path],
    "files if any": list[Path],
}
"""What the parser makes of each kind of option; of all others texts, as they can be given several times."""

PLAIN = ("text", "number", "flag", "path")
"""Kinds whose values are taken as they come."""

MarkdownOption = Annotated[bool, typer.Option("--markdown", help="Print the tables for a document.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print as JSON.")]
SHOWN = {"markdown": MarkdownOption, "as_json": JsonOption, "quiet": NoRemarksOption}
"""Options of all studies that say what is printed."""


@app.callback()
def study() -> None:
    """Published experiments, run end to end, with their figures beside ours."""


@cache
def load() -> None:
    """Make the commands of all studies, which takes as long as loading them: only whoever asks for a study waits."""
    from planner.studies.cp_online import CpOnlineStudy
    from planner.studies.curie23 import Curie23Study
    from planner.studies.deadlines import DeadlineStudy
    from planner.studies.dispatchers import DispatcherStudy
    from planner.studies.metrics import MetricsStudy
    from planner.studies.predictions import PredictionStudy

    papers = (CpOnlineStudy, DispatcherStudy, MetricsStudy, DeadlineStudy, PredictionStudy)
    for each in (Curie23Study, *papers):
        app.command(each.name)(command_of(each))
    app.command("operation")(operation)


def command_of(kind: type[Study]) -> Callable[..., None]:
    """The command of a study, with its options as the parser wants them."""
    from planner.studies.study import options_of

    options = options_of(kind)

    def command(context: typer.Context, **given: Any) -> None:
        markdown, as_json, quiet = (given.pop(name) for name in SHOWN)
        read = {each.name: _read(each, given[each.name]) for each in options if given[each.name] not in (None, [])}
        study = kind(**read, command=tuple(context.obj or ()))
        with TaskBar(kind.name, study.count(), quiet=quiet) as bar:
            report = study.run(bar.advance)
        document = study.folder / f"{kind.name}.md"
        show_study(document, report.content, report.terminal(), as_json=as_json, markdown=markdown)
        for note in () if as_json or markdown else report.notes:
            say(note)

    parameters = [inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    parameters += [_parameter(each) for each in options]
    for name, annotation in SHOWN.items():
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=False))
    command.__doc__ = kind.__doc__
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command


def _parameter(each: StudyOption) -> inspect.Parameter:
    """An option as the parser wants it."""
    metavar = each.metavar or ("TIME" if each.kind == "time" else None if each.kind in TYPES else "LIST")
    default: Any = each.default if each.kind in PLAIN else None
    more: dict[str, Any] = {"metavar": metavar, "help": each.words}
    if each.kind.startswith("files"):
        info: Any = typer.Argument(**more, show_default=False)
        default = inspect.Parameter.empty if each.kind == "files" else None
    else:
        if each.kind == "time":
            default = each.example
        elif each.kind in ("numbers", "percents") and each.default:
            more["show_default"] = each.example
        elif each.kind == "number" and each.bounds is not None:
            more |= {"min": int(each.bounds.low)}
            more |= {"max": int(each.bounds.high)} if each.bounds.high < math.inf else {}
        info = typer.Option(*each.flags, **more)
    taken: Any = TYPES.get(each.kind, list[str])
    annotation: Any = Annotated[taken if default is not None else taken | None, info]
    return inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def _read(each: StudyOption, value: Any) -> Any:
    """What the study takes for what was written."""
    if each.kind in PLAIN:
        return value
    if each.kind == "time":
        return solve_time(value, each.flags[0])
    if each.kind in ("list", "names", "numbers", "percents"):
        named = [name.strip() for name in ",".join(value).split(",") if name.strip()]
        if each.kind == "list":
            return tuple(named)
        return tuple(dict.fromkeys(named if each.kind == "names" else _numbers(each, named)))
    return tuple(value)


def _numbers(each: StudyOption, texts: list[str]) -> list[float]:
    """Numbers within their bounds."""
    flag = each.flags[0]
    try:
        found = [int(text) if each.kind == "numbers" else float(text) for text in texts]
    except ValueError as error:
        raise InputError(f"{flag}: cannot read {','.join(texts)!r} as numbers; write {each.example}") from error
    if not found:
        raise InputError(f"{flag} names no number; write {each.example}")
    for number in found:
        if each.bounds is not None:
            each.bounds.require(flag, number)
    return found


def show_study(
    document: Path,
    content: Any,
    titled: Mapping[str, Sequence[Mapping[str, object]]],
    *,
    as_json: bool,
    markdown: bool,
) -> None:
    """Print a study in the form asked for; for a terminal with the folder of its files, where its document is."""
    if as_json:
        say_json(content)
    elif markdown:
        say(document.read_text(encoding="utf-8"))
    else:
        for title, table in titled.items():
            say(f"{title}\n{table_text(table)}\n")
        say(document.parent)
