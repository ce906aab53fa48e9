"""``plan study``: published experiments, run end to end, with their figures beside ours; a command for each study."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import Field, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from planner.cli.day import NoRemarksOption, solve_time
from planner.cli.operation import operation
from planner.cli.study_output import show_study
from planner.cli.terminal import TaskBar, say
from planner.errors import InputError
from planner.studies.cp_online import CpOnlineStudy
from planner.studies.curie23 import Curie23Study
from planner.studies.deadlines import DeadlineStudy
from planner.studies.dispatchers import DispatcherStudy
from planner.studies.metrics import MetricsStudy
from planner.studies.predictions import PredictionStudy
from planner.studies.study import OPTION, Study, StudyOption

app = typer.Typer(help="Published experiments, run end to end, with their figures beside ours.", no_args_is_help=True)

STUDIES: tuple[type[Study], ...] = (
    Curie23Study,
    CpOnlineStudy,
    DispatcherStudy,
    MetricsStudy,
    DeadlineStudy,
    PredictionStudy,
)

TYPES: dict[str, Any] = {
    "text": str,
    "number": int,
    "flag": bool,
    "time": str,
    "path": Path,
    "files": list[Path],
    "files if any": list[Path],
    "names": list[str],
    "numbers": list[str],
    "percents": list[str],
    "texts": list[str],
}
"""What the parser makes of each kind of option."""

METAVARS = {"names": "LIST", "numbers": "LIST", "percents": "LIST", "time": "TIME"}
PLAIN = ("text", "number", "flag", "path")
"""Kinds whose values are taken as they come."""

MarkdownOption = Annotated[bool, typer.Option("--markdown", help="Print the tables for a document.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print as JSON.")]
SHOWN = {"markdown": MarkdownOption, "as_json": JsonOption, "quiet": NoRemarksOption}
"""Options of all studies that say what is printed."""


@app.callback()
def study() -> None:
    """Published experiments, run end to end, with their figures beside ours."""


def command_of(kind: type[Study]) -> Callable[..., None]:
    """The command of a study: its fields are options, what it alone has first."""
    common = {each.name for each in fields(Study)}
    options = sorted((each for each in fields(kind) if OPTION in each.metadata), key=lambda each: each.name in common)

    def command(context: typer.Context, **given: Any) -> None:
        shown = {name: given.pop(name) for name in SHOWN}
        read = {each.name: _read(each, given[each.name]) for each in options if given[each.name] not in (None, [])}
        chosen = kind(**read, command=tuple(context.obj or ()))
        with TaskBar(kind.name, chosen.count(), quiet=shown["quiet"]) as bar:
            report = chosen.run(bar.advance)
        document = chosen.folder / f"{kind.name}.md"
        show_study(document, report.content, report.terminal(), as_json=shown["as_json"], markdown=shown["markdown"])
        if not (shown["as_json"] or shown["markdown"]):
            for note in report.notes:
                say(note)

    parameters = [inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    parameters += [_parameter(each) for each in options]
    for name, annotation in SHOWN.items():
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=False))
    command.__doc__ = kind.__doc__
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command


def _parameter(each: Field[Any]) -> inspect.Parameter:
    """An option as the parser wants it."""
    told: StudyOption = each.metadata[OPTION]
    metavar = told.metavar or METAVARS.get(told.kind)
    taken = TYPES[told.kind]
    if told.kind.startswith("files"):
        info: Any = typer.Argument(metavar=metavar, help=told.words, show_default=False)
    else:
        limits: dict[str, Any] = {}
        if told.kind == "number" and told.bounds is not None:
            limits = {"min": int(told.bounds.low)}
            limits |= {"max": int(told.bounds.high)} if told.bounds.high < math.inf else {}
        info = typer.Option(
            *_flags(each), metavar=metavar, help=told.words, show_default=_example(each) or True, **limits
        )
    default = each.default if told.kind in PLAIN else inspect.Parameter.empty if told.kind == "files" else None
    annotation = Annotated[taken | None if default is None else taken, info]
    return inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def _flags(each: Field[Any]) -> tuple[str, ...]:
    told: StudyOption = each.metadata[OPTION]
    return told.flags or (f"--{each.name.replace('_', '-')}",)


def _example(each: Field[Any]) -> str:
    """How the default is written, where the parser cannot say it."""
    kind = each.metadata[OPTION].kind
    if kind == "time":
        return f"{each.default:g}s"
    return ",".join(f"{number:g}" for number in each.default) if kind in ("numbers", "percents") else ""


def _read(each: Field[Any], value: Any) -> Any:
    """What the study takes for what was written."""
    told: StudyOption = each.metadata[OPTION]
    if told.kind in PLAIN:
        return value
    if told.kind == "time":
        return solve_time(value, _flags(each)[0])
    if told.kind == "names":
        return _named(value)
    if told.kind in ("numbers", "percents"):
        return _numbers(",".join(value), each)
    return tuple(value)


def _named(texts: list[str]) -> tuple[str, ...]:
    """Names by commas, each once."""
    return tuple(dict.fromkeys(name.strip() for name in ",".join(texts).split(",") if name.strip()))


def _numbers(text: str, each: Field[Any]) -> tuple[float, ...]:
    """Numbers by commas, each once and within their bounds."""
    told: StudyOption = each.metadata[OPTION]
    flag, example = _flags(each)[0], _example(each) or "1 or 1,3"
    try:
        found = [int(part) if told.kind == "numbers" else float(part) for part in _named([text])]
    except ValueError as error:
        raise InputError(f"{flag}: cannot read {text!r} as numbers; write {example}") from error
    if not found:
        raise InputError(f"{flag} names no number; write {example}")
    for number in found:
        if told.bounds is not None:
            told.bounds.require(flag, number)
    return tuple(dict.fromkeys(found))


for each in STUDIES:
    app.command(each.name)(command_of(each))
app.command("operation")(operation)
