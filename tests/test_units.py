"""Claims about durations as people say them."""

from __future__ import annotations

import pytest

from planner.units import clock


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.84, "0.8 s"),
        (59.97, "1 min 0 s"),
        (125.4, "2 min 5 s"),
        (3599.6, "1 h 0 min"),
        (3629.0, "1 h 0 min"),
        (11_445.0, "3 h 11 min"),
        (60_778.0, "16 h 53 min"),
    ],
)
def test_durations_are_rounded_and_not_cut(seconds: float, said: str) -> None:
    """To the last unit that is said, also where that makes a whole of the next one."""
    assert clock(seconds) == said
