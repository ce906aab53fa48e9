"""What functions give that scripts call is as it was approved, to the byte."""

from __future__ import annotations

from tests.as_approved.approve import require_as_approved


def test_every_word_and_file_is_as_it_was_approved() -> None:
    """Whoever changes something on purpose looks at it, and then approves it: see tests/as_approved/approve.py."""
    require_as_approved("python")
