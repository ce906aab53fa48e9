"""Claims of the tutorials: followed from top to bottom in an empty folder, they print what they show."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.doc_commands import TUTORIALS, Typed, Written, follow, prints, steps

PROGRAMS = Path(sys.executable).parent


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("document", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_can_be_followed(document: Path, tmp_path: Path) -> None:
    """Every command ends well with the installed program, and prints what stands below it."""
    follow(document, tmp_path, PROGRAMS)


def test_every_tutorial_has_steps() -> None:
    """So that a fence which is written otherwise is not passed over."""
    assert len(TUTORIALS) == 4
    for document in TUTORIALS:
        text = document.read_text("utf-8")
        typed = [step for step in steps(document) if isinstance(step, Typed)]
        written = [step for step in steps(document) if isinstance(step, Written)]
        assert len(typed) >= 3
        assert (len(typed), len(written)) == (text.count("\n$ "), text.count(' title="'))


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("profit 3,852.54 EUR\n", "  profit      3,901.10 EUR\n", True),
        ("profit 3,852.54 EUR\n", "loss 3,852.54 EUR\n", False),
        ("first\n...\nlast\n", "first\n\nother\nlast\n", True),
        ("first\nlast\n", "first\nother\nlast\n", False),
        ("first\n", "first\nother\n", False),
        ("12 jobs in ...\n", "12 jobs in 3.4 s\n", True),
        ("12 jobs\n", "13 jobs\n", False),
        ("saved -1.5 EUR after 16 h 53 min\n", "saved +22.5 EUR after 9 h 2 min\n", True),
        ("", "", True),
        ("", "something\n", False),
    ],
)
def test_what_counts_as_the_same(shown: str, printed: str, same: bool) -> None:
    """Words and whole numbers must agree; other figures need not."""
    assert prints(shown, printed) == same


@pytest.mark.parametrize(
    ("old", "new"),
    [("plan init mysite", "plan initialise mysite"), ("mysite/jobs/example.csv\n", "mysite/jobs/other.csv\n")],
)
def test_a_slip_in_a_tutorial_is_noticed(old: str, new: str, tmp_path: Path) -> None:
    """A command that is not there, or output that is not so, ends the walk."""
    (first,) = [each for each in TUTORIALS if each.stem == "tutorial-first-site"]
    text = first.read_text("utf-8")
    assert old in text
    (tmp_path / "slip.md").write_text(text.replace(old, new, 1), encoding="utf-8")
    (tmp_path / "empty").mkdir()
    with pytest.raises(AssertionError, match=r"slip\.md: \$ plan init"):
        follow(tmp_path / "slip.md", tmp_path / "empty", PROGRAMS)
