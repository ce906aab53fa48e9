"""Claims about text that is printed: whatever a name holds, a line stays a line, and a short one."""

from __future__ import annotations

import json

import pytest

from planner.errors import FileFormatError, InputError, PlannerError, ScenarioError
from planner.printable import is_text, one_line, printable, printable_json, shortened

ODD = "a\x1b[31m\x07\x00\x7f\x9b\u202e\u2066\u2028\ud800\nb"


def test_nothing_unseen_is_left() -> None:
    """Escapes, bells, marks that turn text around and halves of characters are written out; letters stay."""
    assert printable(ODD) == r"a\x1b[31m\x07\x00\x7f\x9b\u202e\u2066\u2028\ud800\nb"
    assert printable("Zoë, 5 °C — ok 😀") == "Zoë, 5 °C — ok 😀"
    assert printable(printable(ODD)) == printable(ODD)


def test_json_means_the_same() -> None:
    """JSON's own escapes are used, so that the values read back as they were."""
    text = json.dumps({"name": ODD, "more": [1]}, indent=2, ensure_ascii=False)
    shown = printable_json(text)
    assert json.loads(shown) == {"name": ODD, "more": [1]}
    assert all(line.isprintable() for line in shown.split("\n"))


def test_long_text_keeps_both_ends() -> None:
    """The start says where, the end what to do."""
    text = shortened("site.yaml:3: " + "x" * 10_000 + "; write it shorter", 100)
    assert len(text) == 100
    assert text.startswith("site.yaml:3: xxx")
    assert text.endswith("xxx; write it shorter")
    assert shortened("y" * 100, 100) == "y" * 100


@pytest.mark.parametrize("error", [PlannerError(ODD * 999), InputError(ODD * 999), FileFormatError(ODD, "y" * 9999)])
def test_errors_are_one_short_printable_line(error: PlannerError) -> None:
    """Whatever they are made of; the program's name still fits before them."""
    assert str(error).isprintable()
    assert len(f"plan: {error}") <= 300


def test_a_scenario_s_problems_are_bounded() -> None:
    """Twenty lines at most, each short, and how many more there are."""
    lines = str(ScenarioError("scenario s", [f"problem {k}\n{'z' * 999}" for k in range(50)])).split("\n")
    assert len(lines) == 21
    assert lines[-1] == "scenario s: and 30 more"
    assert max(map(len, lines)) <= 290


def test_text_that_cannot_be_written() -> None:
    """Bytes of odd file names are no text."""
    assert is_text("é")
    assert not is_text("\udcff")
    assert one_line("\udcff") == r"\udcff"
