"""Claims about mutated inputs: a clear refusal or a clean plan, whatever the input; a seeded slice of the campaign."""

from __future__ import annotations

import pytest

from tests.fuzz.harness import run_case
from tests.fuzz.kinds import KINDS

WHOLE, SLICE = 30, 10
"""Cases of each kind, with `pytest --all` and without; `python -m tests.fuzz` runs as many as you like."""


@pytest.mark.parametrize("kind", KINDS)
def test_mutated_inputs(kind: str, is_whole: bool) -> None:
    """No traceback, no library's warning, no long or unprintable line, no unclean plan, in time and in memory."""
    failed = []
    for number in range(WHOLE if is_whole else SLICE):
        outcome = run_case(kind, number)
        if outcome.failed:
            failed.append(f"python -m tests.fuzz --replay {kind}:{number}: {outcome.word}\n{outcome.detail}")
    assert not failed, "\n".join(failed)
