"""Reads a mutated input in this process: what was read, or one clear line."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from planner.errors import LONGEST, InputError

P = ParamSpec("P")
T = TypeVar("T")


def read_or_refused(read: Callable[P, T], *given: P.args, **named: P.kwargs) -> T | None:
    """What is read; None where it is refused in one short printable line. Anything else is an error of the test.

    Warnings of libraries are errors too: nobody who reads his table should see them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return read(*given, **named)
        except InputError as error:
            line = str(error)
    assert line.isprintable()
    assert len(line) <= LONGEST
    return None
