"""What commands print and write on a small site is as it was approved, to the byte."""

from __future__ import annotations

import pytest

from tests.as_approved.approve import APPROVED, lines_now


@pytest.mark.slow
def test_every_word_and_file_is_as_it_was_approved() -> None:
    """Whoever changes something on purpose looks at it, and then approves it: see tests/as_approved/approve.py."""
    now = list(lines_now())
    before = APPROVED.read_text(encoding="utf-8").splitlines()
    gone, new = (sorted(set(one) - set(other)) for one, other in ((before, now), (now, before)))
    words = "look at it, then: python -m tests.as_approved.approve --write"
    assert (gone, new) == ([], []), words
    assert now == before
