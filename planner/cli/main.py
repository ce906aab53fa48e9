"""The command line: parse, call the pipeline, print, exit code."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

from planner import __version__
from planner.cli import (
    book,
    check,
    compare,
    compiling,
    day,
    init,
    now,
    options,
    power,
    report,
    run_days,
    savings,
    show,
    simulate,
    slurm,
    study,
    table,
)
from planner.cli.terminal import first_word, say
from planner.compiled import COMPILING_TOLD
from planner.errors import InputError, OutputError, PlannerError
from planner.printable import LONGEST_LINE, is_text, one_line

EXIT_CODES = {
    0: "done",
    1: "another error",
    2: "bad input: the line says where, what, and what to do",
    3: "the day is booked and nothing was changed (--rebook writes it anew all the same)",
    4: "an engine is missing or died",
    5: "a plan breaks a rule (a bug of the planner), or from plan audit: its files do not agree with it",
    6: "the output cannot be written, or another run holds it",
    7: "from plan report: a damaged or foreign folder was named and skipped, the rest is reported",
    8: "Slurm's commands are missing, fail or do not answer",
    9: "from plan slurm: Slurm has not taken a change, or its queue is not as it was left",
    129: "terminated by SIGHUP; locks and begun files are removed, or left to the next run after 3 s",
    130: "interrupted; nothing more was written, and the days of a run that were done stand",
    143: "terminated by SIGTERM, likewise",
}
"""What the exit code of a command means, for --help and the reference."""

COMPLETION = "_PLAN_COMPLETE"
"""What shells set that ask for words to complete."""

SURROUNDINGS = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ESTALE),
    *(errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.EACCES, errno.EPERM, errno.EROFS),
)
"""Errors of paths and disks that are no bug of ours, wherever they come up."""

INTERRUPTED = 130
"""What the parser makes of Ctrl-C."""

EXAMPLES = """\
\b
Examples:
  plan --day 2024-06-01                    plan a day of the sample site
  plan --day 2024-06-01 --scenario site    plan a day of scenarios/site.yaml
  plan --day 2024-06-01 --jobs queue.csv   the same with the jobs of a file
  plan now --snapshot queue.csv            plan again from this moment on
  plan run --from 2024-06-01 --to 2024-06-07
  plan book --day yesterday                settle a day as it happened
  plan compare air-summer hybrid-summer --day 2024-06-01
  plan report --month 2024-06 --by account what each account earned and cost
  plan power errors --from finished.csv    how well learned power would do
  plan check --day 2024-06-01              read every input, solve nothing
  plan audit reports/sample/2024-06-01     re-check a written plan
  plan slurm apply reports/site/2024-06-01 give its starts to Slurm (dry run)
  plan init mysite                         a new site to start from
"""

app = typer.Typer(
    add_completion=True,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=f"Exit codes: {'; '.join(f'{code} {text}' for code, text in EXIT_CODES.items())}.",
)


app.command("run")(run_days.run_range)
app.command("now")(now.now)
app.command("book")(book.book)
app.command("compare")(compare.compare)
app.command("savings")(savings.savings)
app.command("report")(report.report)
app.command("check")(check.check)
app.command("audit")(check.audit)
app.command("init")(init.init)
app.command("show")(show.show)
app.add_typer(table.app, name="table")
app.add_typer(power.app, name="power")
app.command("simulate")(simulate.simulate)
app.add_typer(study.app, name="study")
app.add_typer(slurm.app, name="slurm")
app.command("why")(slurm.why)
app.command("compile")(compiling.compile_kernels)


def _version(value: bool) -> None:
    if value:
        say(f"plan {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True, help=f"Plan an HPC site's day for profit.\n\n{EXAMPLES}")
def plan(
    context: typer.Context,
    date: options.DayOption = None,
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
    snapshot: options.SnapshotOption = None,
    nodes: options.NodesOption = None,
    bound_time: options.BoundTimeOption = options.BOUND_TIME,
    rebook: options.RebookOption = False,
    as_json: options.SummaryOption = False,
    quiet: options.QuietOption = False,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="The version.")] = False,
) -> None:
    if context.invoked_subcommand is not None:
        _refuse_options(context, context.invoked_subcommand)
        return
    if date is None:
        raise typer.BadParameter("say which day to plan, as in --day 2024-06-01", param_hint="--day")
    day.plan_one(context, date)


def _refuse_options(context: typer.Context, command: str) -> None:
    """Options before a subcommand would be lost without a word."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name == "COMMANDLINE":
            option = parameter.opts[0]
            raise InputError(f"{option} stands before {command} and would be lost; options go after the command")


def _require_text(arguments: Sequence[str]) -> None:
    """InputError for bytes that are no text: they could be neither shown nor written to the files of a run."""
    for what, text in [*((f"argument {k}", each) for k, each in enumerate(arguments, start=1)), *_here()]:
        if not is_text(text):
            raise InputError(f"{what}, {text!r}, is not UTF-8 text; use names that are")
        if "\x00" in text:
            raise InputError(f"{what}, {text!r}, holds a NUL character; leave it out")


def _here() -> list[tuple[str, str]]:
    try:
        return [("the folder that the program runs in", str(Path.cwd()))]
    except OSError as error:
        raise InputError(
            f"the folder that the program runs in is gone ({error.strerror}); change to another"
        ) from error


@cache
def _command(*, studies: bool = True) -> Any:
    """The commands as the parser has them, made once: that takes longer than most of what they do."""
    from typer.main import get_command

    if studies:
        study.load()
    return in_plain_words(get_command(app))


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    given = list(arguments)
    try:
        _require_text(given)
        command = _command(studies="study" in given or COMPLETION in os.environ)
        if {"-q", "--quiet"} & set(given):
            os.environ[COMPILING_TOLD] = "1"
        else:
            first_word.wait(_doing(command, given))
        code = command.main(args=given or ["--help"], prog_name="plan", standalone_mode=False, obj=given)
    except PlannerError as error:
        say(f"plan: {error}", err=True)
        return error.exit_code
    except MemoryError:
        say("plan: there is not enough memory for this; give fewer jobs, nodes or days, or a larger machine", err=True)
        return PlannerError.exit_code
    except OSError as error:
        if error.errno not in SURROUNDINGS:
            raise
        where = error.filename or "standard output"
        say(f"plan: {where}: {error.strerror}; check the path, its rights and its disk", err=True)
        return OutputError.exit_code
    except SystemExit as ended:
        # The parser's way to say that whoever read our output has gone away, as `head` does.
        if isinstance(ended.__context__, BrokenPipeError):
            return 0
        raise
    except Exception as error:
        # Usage errors of the parser carry their own exit code and text; anything else is a bug and shows itself whole.
        if not hasattr(error, "format_message") or not hasattr(error, "exit_code"):
            raise
        text = str(error.format_message())
        if type(error).__name__ == "NoArgsIsHelpError":
            say(text)
            return 0
        command = getattr(getattr(error, "ctx", None), "command_path", "plan")
        say(f"plan: {one_line(text.rstrip('.'), LONGEST_LINE - 30)}; see {command} --help", err=True)
        return int(error.exit_code)
    finally:
        first_word.end()
    if code == INTERRUPTED:
        say("plan: interrupted; nothing more was written", err=True)
    return code if isinstance(code, int) else 0


def _doing(command: Any, given: Sequence[str]) -> str:
    """What a command line asks for, in the first sentence of its help."""
    path = ["plan"]
    for word in given:
        below = getattr(command, "commands", {}).get(word)
        if below is None:
            break
        command = below
        path.append(word)
    words = " ".join(str(command.help or "").split("\n\n")[0].split())
    return f"{' '.join(path)}: {words[:1].lower()}{words[1:].rstrip('.')}"


_WORDS = {"int": "N", "integer": "N", "float": "NUMBER", "path": "PATH", "file": "FILE"}
"""What an option takes where it does not say so itself, by the parser's name of its type; else it is text."""

_RANGE = re.compile(r"(-?[\d.]+(?:e[+-]?\d+)?)<=x<=(-?[\d.]+(?:e[+-]?\d+)?)")
_AT_LEAST = re.compile(r"\bx>=(-?[\d.]+(?:e[+-]?\d+)?)")
_TYPE = re.compile(r" (?:<(?:list\[)?([a-z]+)[^>]*>|(INTEGER|FLOAT)(?: RANGE)?)$")


def in_plain_words(command: Any) -> Any:
    """A command of the parser, and all below it, with help that speaks of N rather than of ``<int range>``."""
    for parameter in command.params:
        is_option = parameter.param_type_name == "option"
        parameter.get_help_record = _plain(parameter.get_help_record, is_option=is_option)
    for below in getattr(command, "commands", {}).values():
        in_plain_words(below)
    return command


def _plain(
    record: Callable[[Any], tuple[str, str] | None], *, is_option: bool
) -> Callable[[Any], tuple[str, str] | None]:
    """The line of one option or argument; an argument's name says enough without its type."""

    def word(kind: re.Match[str]) -> str:
        return " " + _WORDS.get((kind[1] or kind[2]).lower(), "TEXT") if is_option else ""

    def answer(context: Any) -> tuple[str, str] | None:
        found = record(context)
        if found is None:
            return None
        names, text = found
        text = _RANGE.sub(lambda limits: f"{_amount(limits[1])} to {_amount(limits[2])}", text)
        return _TYPE.sub(word, names), _AT_LEAST.sub(lambda limit: f"at least {_amount(limit[1])}", text)

    return answer


def _amount(text: str) -> str:
    return f"{float(text):,.15g}"
