"""One stage for all faults: the states of its site are made once."""

from __future__ import annotations

import pytest

from tests.faults.commands import Stage


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """A tiny site that is put back to where a command starts from before each fault."""
    return Stage(tmp_path_factory.mktemp("faults"))
