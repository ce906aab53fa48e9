"""The one place that prints: whatever names and paths an input holds, a terminal gets text that it can show."""

from __future__ import annotations

import json
import math
import sys

import typer

from planner.printable import one_line, printable, printable_json


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
    stream = sys.stderr if err else sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    typer.echo(text.encode(encoding, "backslashreplace").decode(encoding), err=err)


def listed(given: list[str] | None, default: str) -> list[str]:
    """Names that were given one by one or by commas."""
    texts = given or [default]
    return [name.strip() for text in texts for name in text.split(",") if name.strip()]
