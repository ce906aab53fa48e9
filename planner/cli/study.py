"""``plan study``: published experiments, run end to end, with their figures beside ours; a command for each study."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.options import JsonOption, NoRemarksOption, solve_time
from planner.cli.terminal import TaskBar, listed, say, say_json, table_text
from planner.errors import InputError

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
    from planner.studies.fidelity import LedgerStudy
    from planner.studies.metrics import MetricsStudy
    from planner.studies.operation import OperationStudy
    from planner.studies.predictions import PredictionStudy
    from planner.studies.workloads import WorkloadStudy

    papers = (CpOnlineStudy, DispatcherStudy, MetricsStudy, DeadlineStudy, PredictionStudy, WorkloadStudy)
    for each in (Curie23Study, *papers, OperationStudy, LedgerStudy):
        app.command(each.name)(command_of(each))
    app.command("all")(study_all)


def study_all(
    data: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of the logs; default PLANNER_DATA.")] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where results go, below OUT/studies.")] = Path("reports"),
    only: Annotated[list[str] | None, typer.Option(metavar="LIST", help="Of its calls, by commas.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A few jobs of each, below OUT/quick.")] = False,
) -> None:
    """All studies of the papers as the fidelity ledger has them, then the ledger; each goes on where it stopped.

    What needs a log or an engine that is not here is left out, and a line says so.
    """
    from planner.studies.all_studies import LABELS, AllStudies

    AllStudies(data, out, tuple(listed(only, "")) or LABELS, quick).run(say)


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
        elif each.bounds is not None:
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
        named = listed(value, "")
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
