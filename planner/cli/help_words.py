"""Help in words that people know: what an option takes, and within which limits."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

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

    def told(context: Any) -> tuple[str, str] | None:
        found = record(context)
        if found is None:
            return None
        names, text = found
        text = _RANGE.sub(lambda limits: f"{_amount(limits[1])} to {_amount(limits[2])}", text)
        return _TYPE.sub(word, names), _AT_LEAST.sub(lambda limit: f"at least {_amount(limit[1])}", text)

    return told


def _amount(text: str) -> str:
    return f"{float(text):,.15g}"
