"""Claims about constructed inputs: a clear refusal or a clean result, whatever the input; a slice of the campaign."""

from __future__ import annotations

import pytest

from planner.scenario.reference import schema_keys
from tests.fuzz.construct import obligations, template, without_a_case
from tests.fuzz.harness import run_case
from tests.fuzz.keys import accepted, key_values

PARTS = 4
SLICE = 6
"""Cases of each part without `pytest --all`, which takes one of each obligation; `python -m tests.fuzz` runs as many
as you like."""


def test_every_command_option_and_key_has_a_case() -> None:
    """A new one needs words or values in `options.py`, or for keys where the schema says too little in `keys.py`."""
    assert without_a_case() == []
    assert [key for key in schema_keys() if not key_values(key)] == []
    never = [key for key in schema_keys() if not any(accepted(template(), key, k) for k in range(len(key_values(key))))]
    assert never == [], "no scenario takes any of their values"


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("part", range(PARTS))
def test_constructed_inputs(part: int, is_whole: bool) -> None:
    """No traceback, no library's warning, no long or unprintable line, no unclean plan, in 60 s and 2 GB."""
    step = 1 if is_whole else len(obligations()) // (PARTS * SLICE)
    failed = []
    for number in range(part * step, len(obligations()), step * PARTS):
        outcome = run_case(number)
        if outcome.failed:
            failed.append(f"python -m tests.fuzz --replay {number}: {outcome.about}: {outcome.word}\n{outcome.detail}")
    assert not failed, "\n".join(failed)
