"""The library that reads and writes Parquet, which is an extra: all else does without it."""

from __future__ import annotations

import importlib
from typing import Any

from planner.errors import InputError


def arrow() -> Any:
    """pyarrow with its Parquet part; InputError with the remedy where it is not installed."""
    try:
        importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise InputError(
            "Parquet needs pyarrow, which is not installed; "
            "use CSV, or install it with: pip install 'hpc-day-planner[parquet]'"
        ) from error
    return importlib.import_module("pyarrow")
