"""What a first run says before it compiles, so that nobody wonders why nothing happens."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from planner.compiled import is_missing

TOLD = "PLAN_COMPILING_TOLD"
"""The variable that is set once this was said, or is not to be said: processes that are begun do not repeat it."""
TEXT = "compiling machine code for this computer, once: about a minute (`plan compile` does it ahead)"

_looked: set[str] = set()


def tell_if_missing(kernel: Callable[..., Any]) -> None:
    """Say once that code is compiled, if that of a kernel could be kept from an earlier run and is not."""
    name = kernel.__name__
    if name in _looked:
        return
    _looked.add(name)
    if os.environ.get(TOLD) is None and is_missing(kernel):
        os.environ[TOLD] = "1"
        with suppress(OSError, ValueError, AttributeError):  # there may be nowhere to say it
            print(TEXT, file=sys.stderr, flush=True)
