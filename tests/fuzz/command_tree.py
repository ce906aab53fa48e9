"""The commands of the program, as its parser has them: each that does something, with its options and arguments."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from planner.cli.main import _command


@cache
def commands() -> dict[str, Any]:
    """Every command that does something, by its words; the one without words plans a day."""
    return {"": _command(), **dict(_leaves(_command(), ()))}


def _leaves(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for word, below in getattr(command, "commands", {}).items():
        if hasattr(below, "commands"):
            yield from _leaves(below, (*words, word))
        else:
            yield " ".join((*words, word)), below
