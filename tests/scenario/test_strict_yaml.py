"""Claims about the strict YAML loader: none of the traps of YAML 1.1, and a line for every problem."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from planner.errors import FileFormatError, InputError
from planner.scenario.strict_yaml import TextSource, parse_yaml, read_yaml

SOURCE = TextSource("site.yaml", Path())


def load(text: str) -> object:
    return parse_yaml(text, SOURCE).plain()


def problem(text: str) -> str:
    with pytest.raises(FileFormatError) as caught:
        parse_yaml(text, SOURCE)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("time", ["22:00", "06:00", "6:30", "10:15:30"])
def test_unquoted_clock_time(time: str) -> None:
    """A clock time without quotes is an error that shows the quotes."""
    assert problem(f"a: 1\nfrom: {time}") == (f'site.yaml:2: {time} would be read as a number; quote it: "{time}"')


def test_quoted_clock_time() -> None:
    """A clock time in quotes is text, and a key that looks like one is too."""
    assert load('from: "22:00"\n22:00: 1') == {"from": "22:00", "22:00": 1}


@pytest.mark.parametrize("word", ["NO", "no", "yes", "Yes", "on", "OFF", "y", "n"])
def test_words_that_were_flags(word: str) -> None:
    """Only true and false are flags; the other words of YAML 1.1 are text, as keys and as values."""
    assert load(f"a: {word}") == {"a": word}
    assert load(f"{word}: 1") == {word: 1}


@pytest.mark.parametrize(("text", "value"), [("true", True), ("False", False), ("TRUE", True)])
def test_flags(text: str, value: bool) -> None:
    """true and false are flags in any case."""
    assert load(f"a: {text}") == {"a": value}


@pytest.mark.parametrize(
    ("text", "value"),
    [("1e6", 1e6), ("1E-3", 1e-3), ("-.5", -0.5), ("1_000", 1000), ("0", 0), ("0.15", 0.15), ("0x1F", 31)],
)
def test_numbers(text: str, value: float) -> None:
    """Numbers load as numbers, 1e6 among them, and whole ones stay whole."""
    loaded = load(f"a: {text}")
    assert loaded == {"a": value}
    assert isinstance(loaded, dict)
    assert type(loaded["a"]) is type(value)


def test_leading_zero() -> None:
    """010 is refused: YAML 1.1 reads it as 8, people as 10."""
    assert "010 is a number in another base" in problem("a: 010")


@pytest.mark.parametrize("text", ["1d", "9600/93312", "1.2.3", "15 m", "2024-6-1", "1e", "a-b"])
def test_plain_text(text: str) -> None:
    """Anything that is not quite a number or a date is text."""
    assert load(f"a: {text}") == {"a": text}


def test_null_and_blank() -> None:
    """A written null and a key with nothing after it both load as None, and can be told apart."""
    entries = parse_yaml("a: null\nb:\nc: ~", SOURCE).entries()
    assert entries is not None
    assert [(entry.value, entry.blank) for entry in entries.values()] == [
        (None, False),
        (None, True),
        (None, False),
    ]


def test_date() -> None:
    """A date without quotes is a date; one that does not exist is an error."""
    assert load("a: 2024-06-01") == {"a": dt.date(2024, 6, 1)}
    assert "2024-02-30 is not a date" in problem("a: 2024-02-30")


@pytest.mark.parametrize("text", ["2024-06-01T10:00:00Z", "2024-06-01 12:00:00+02:00", "2024-06-01 12:00 +02:00"])
def test_time_with_zone(text: str) -> None:
    """A time with its zone is a moment, the same whichever zone it was written in."""
    assert load(f"a: {text}") == {"a": dt.datetime(2024, 6, 1, 10, tzinfo=dt.UTC)}


def test_time_without_zone() -> None:
    """A time without a zone is refused, with the remedy."""
    message = problem("a: 2024-06-01 10:00:00")
    assert message.startswith("site.yaml:1: 2024-06-01 10:00:00 has no time zone; end it with Z")


@pytest.mark.parametrize("text", ["a: 1\nb: 2\na: 3", "x:\n  a: 1\n  'a': 2", "1: a\n'1': b"])
def test_duplicate_key(text: str) -> None:
    """A key given twice is an error at the second line, which names the first."""
    last = text.count("\n") + 1
    first = {3: 1, 2: 1}[last] if not text.startswith("x") else 2
    assert f"site.yaml:{last}: key" in problem(text)
    assert f"given twice, first on line {first}; remove one" in problem(text)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a:\n\tb: 1", 2, "a tab is used to indent; use spaces"),
        ("a: 1\n  b: 2", 2, "wrong indentation"),
        ("a:\n    b: 1\n   c: 2", 3, "the indentation does not match"),
        ("a: b: c", 1, "quote the value"),
        ("a: [1, 2", 1, "add the missing"),
        ("a: {b: 1", 1, "add the missing"),
        ("a: 'x", 1, "never closed"),
        ("a: @x", 1, "needs quotes"),
        ("a: 1\n---\nb: 2", 2, "keep one document"),
        ("a: *b", 1, "undefined alias"),
        ("a: &x [*x]", 1, "part of"),
        ("? [a]\n: 1", 1, "must be one word"),
        ("<<: {a: 1}", 1, "merge key"),
        ("a: !!python/name:os.system x", 1, "!!python/name:os.system"),
        ("a: !!set {b}", 1, "!!set"),
        ("a: !!int x", 1, "not a number"),
        ("a: 1\nb: \x07", 2, "#x0007"),
    ],
)
def test_syntax(text: str, line: int, words: str) -> None:
    """What is not readable is one line with file, line and remedy, never a stack of PyYAML's words."""
    message = problem(text)
    assert message.startswith(f"site.yaml:{line}: ")
    assert words in message


def test_nesting() -> None:
    """A text nested without end is an error, not a crash."""
    assert "nested too deeply" in problem("[" * 20_000)


def test_marks() -> None:
    """Every value knows its line; a mapping entry has the line of its key, a list item its own."""
    top = parse_yaml("a:\n  b: 1\n  c:\n    - x\n    - y\n", SOURCE).entries()
    assert top is not None
    inner = top["a"].entries()
    assert inner is not None
    assert top["a"].where == "site.yaml:1"
    assert inner["b"].where == "site.yaml:2"
    items = inner["c"].value
    assert isinstance(items, tuple)
    assert [item.line for item in items] == [4, 5]


def test_alias() -> None:
    """An alias is the value that it names."""
    assert load("a: &x {b: 1}\nc: *x") == {"a": {"b": 1}, "c": {"b": 1}}


def test_files(tmp_path: Path) -> None:
    """A file may begin with a byte order mark; missing, empty and binary files are dealt with by name."""
    marked, empty, binary = tmp_path / "bom.yaml", tmp_path / "empty.yaml", tmp_path / "bin.yaml"
    marked.write_bytes(b"\xef\xbb\xbfa: 1\n")
    empty.write_text("# nothing\n")
    binary.write_bytes(b"a: \xff\xfe")
    assert read_yaml(marked).plain() == {"a": 1}
    assert read_yaml(empty).plain() is None
    with pytest.raises(FileFormatError, match=r"bin\.yaml:1: not UTF-8"):
        read_yaml(binary)
    with pytest.raises(InputError, match=r"gone\.yaml: no such file"):
        read_yaml(tmp_path / "gone.yaml")


def test_unnumbered_source() -> None:
    """An option of the command line has no line number."""
    with pytest.raises(FileFormatError, match=r"^--set a=22:00: 22:00 would"):
        parse_yaml("22:00", TextSource("--set a=22:00", Path(), numbered=False))


# Bounds


def test_aliases_of_aliases_are_refused() -> None:
    """Nine lines that stand for a billion values are refused at once."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]" for k in range(1, 9)]
    with pytest.raises(FileFormatError, match="more than 20,000 values, 50 deep; write it shorter"):
        parse_yaml("\n".join(lines), SOURCE)


@pytest.mark.parametrize("text", ["[" * 60 + "]" * 60, "[" * 5000, "{a: " * 60 + "}" * 60])
def test_deep_nesting_is_refused(text: str) -> None:
    """Whether the parser or we give up first."""
    with pytest.raises(FileFormatError, match=r"50 deep|nested too deeply"):
        parse_yaml(text, SOURCE)


def test_a_text_too_long_is_refused() -> None:
    """Before the parser spends minutes on it."""
    with pytest.raises(FileFormatError, match="more than 200,000 characters"):
        parse_yaml("a: " + "x" * 300_000, SOURCE)


@pytest.mark.parametrize(("escape", "code"), [(r"\0", "0000"), (r"\e", "001b"), (r"\x9b", "009b"), (r"\ud800", "d800")])
def test_escapes_cannot_bring_in_what_no_file_may_hold(escape: str, code: str) -> None:
    """Neither in values nor in keys; tabs and line breaks are fine."""
    for text in (f'a: "x{escape}y"', f'"x{escape}y": 1'):
        with pytest.raises(FileFormatError, match=f"character #x{code} is not allowed"):
            parse_yaml(text, SOURCE)
    assert parse_yaml(r'"a\tb\nc"', SOURCE).value == "a\tb\nc"


def test_endless_digits_are_no_number() -> None:
    """Python itself refuses to read so many."""
    with pytest.raises(FileFormatError, match="is not a number"):
        parse_yaml("9" * 5000, SOURCE)
