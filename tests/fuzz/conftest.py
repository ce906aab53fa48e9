"""Machine code is there before the first case."""

from __future__ import annotations

import pytest

from tests.fuzz.ready import compile_kernels


@pytest.fixture(autouse=True, scope="session")
def _compiled_kernels() -> None:
    compile_kernels()
