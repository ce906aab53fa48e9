"""Folders that take long to make, made once for all workers of a test run."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder of this name in which ``make`` was called, by whichever worker came first; read it, never change it.

    The others wait for that one. ``make`` is called inside the folder; where it fails the next worker tries again.
    """
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder = base / f"once-{name}"
    with (base / f"once-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            folder.mkdir()
            try:
                with contextlib.chdir(folder):
                    make(folder)
            except BaseException:
                shutil.rmtree(folder)
                raise
    return folder
